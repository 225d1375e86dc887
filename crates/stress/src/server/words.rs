//! Sources by the words of a command line: `pid:1234`, `prometheus:http://host:9180/metrics`,
//! `gc:/var/log/cassandra/gc.log`.

use std::path::PathBuf;
use std::str::FromStr;

use super::Source;
use super::gc_log::GcLog;
use super::http::Url;
use super::process::Process;
use super::prometheus::Prometheus;

/// A source, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceWord {
    /// A process of this machine.
    Pid(u32),
    /// A page of metrics.
    Prometheus(Url),
    /// A JVM's log of its garbage collections.
    GcLog(PathBuf),
}

impl FromStr for SourceWord {
    type Err = String;

    fn from_str(text: &str) -> Result<SourceWord, String> {
        match text.split_once(':') {
            Some(("pid", pid)) => {
                pid.parse().map(SourceWord::Pid).map_err(|_| format!("{pid:?} is no process id"))
            }
            Some(("prometheus", url)) => Url::parse(url).map(SourceWord::Prometheus),
            Some(("gc", path)) if !path.is_empty() => Ok(SourceWord::GcLog(PathBuf::from(path))),
            _ => Err(format!(
                "{text:?} is no source: pid:NUMBER, prometheus:http://HOST:PORT/metrics or gc:FILE"
            )),
        }
    }
}

/// The sources of some words.
pub fn sources(words: &[SourceWord]) -> Vec<Box<dyn Source>> {
    let source = |word: &SourceWord| -> Box<dyn Source> {
        match word.clone() {
            SourceWord::Pid(pid) => Box::new(Process::new(pid)),
            SourceWord::Prometheus(url) => Box::new(Prometheus::new(url, Vec::new())),
            SourceWord::GcLog(path) => Box::new(GcLog::new(path)),
        }
    };
    words.iter().map(source).collect()
}

#[cfg(test)]
mod tests {
    //! Words, and words that are none.
    use super::*;

    #[test]
    fn sources_are_read_as_written() {
        assert_eq!("pid:12".parse(), Ok(SourceWord::Pid(12)));
        assert_eq!("gc:/x:y".parse(), Ok(SourceWord::GcLog("/x:y".into())));
        assert!("prometheus:http://h:1".parse::<SourceWord>().is_ok());
        for wrong in ["", "pid:", "pid:x", "gc:", "other:1", "prometheus:h"] {
            assert!(wrong.parse::<SourceWord>().is_err(), "{wrong}");
        }
    }
}
