//! Sources by the words of a command line: `pid:1234`, `prometheus:http://host:9180/metrics`,
//! `gc:/var/log/cassandra/gc.log`, `system_views`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use super::Source;
use super::gc_log::GcLog;
use super::http::Url;
use super::process::Process;
use super::prometheus::Prometheus;
use super::system_views::{Asker, SystemViews};
use crate::client::Options;

/// A source, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceWord {
    /// A process of this machine.
    Pid(u32),
    /// A page of metrics.
    Prometheus(Url),
    /// A JVM's log of its garbage collections.
    GcLog(PathBuf),
    /// Cassandra's tables about itself, of the first node.
    SystemViews,
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
            None if text == "system_views" => Ok(SourceWord::SystemViews),
            _ => Err(format!(
                "{text:?} is no source: pid:NUMBER, prometheus:http://HOST:PORT/metrics, gc:FILE or system_views"
            )),
        }
    }
}

/// The sources of some words; `node` is whom to ask in CQL, and `options` how.
pub fn sources(words: &[SourceWord], node: SocketAddr, options: &Options) -> Vec<Box<dyn Source>> {
    let source = |word: &SourceWord| -> Box<dyn Source> {
        match word.clone() {
            SourceWord::Pid(pid) => Box::new(Process::new(pid)),
            SourceWord::Prometheus(url) => Box::new(Prometheus::new(url, Vec::new())),
            SourceWord::GcLog(path) => Box::new(GcLog::new(path)),
            SourceWord::SystemViews => {
                Box::new(SystemViews::new(Asker::new(node, options.clone()), node.to_string()))
            }
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
        assert_eq!("system_views".parse(), Ok(SourceWord::SystemViews));
        for wrong in ["", "pid:", "pid:x", "gc:", "other:1", "prometheus:h"] {
            assert!(wrong.parse::<SourceWord>().is_err(), "{wrong}");
        }
    }
}
