//! A process of this machine, as Linux tells of it: processor, switches, memory, threads, faults,
//! bytes to and from the disk; and the machine's pressure (PSI).

use std::path::PathBuf;

use super::{Recorder, Source, Unit};

/// Clock ticks a second in `/proc`; the kernel's interface has it fixed at 100.
const TICKS: f64 = 100.0;

/// Bytes of a page in `/proc/<pid>/statm`, on every machine that we ship for.
const PAGE_BYTES: f64 = 4096.0;

/// A process.
pub struct Process {
    pid: u32,
    root: PathBuf,
    name: String,
}

impl Process {
    /// The process with this id.
    pub fn new(pid: u32) -> Process {
        Process::below(PathBuf::from("/proc"), pid)
    }

    fn below(root: PathBuf, pid: u32) -> Process {
        let comm = std::fs::read_to_string(root.join(pid.to_string()).join("comm")).unwrap_or_default();
        Process { pid, root, name: comm.trim().to_owned() }
    }

    fn read(&self, file: &str) -> Result<String, String> {
        let path = self.root.join(self.pid.to_string()).join(file);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Source for Process {
    fn name(&self) -> String {
        format!("process {} ({})", self.pid, self.name)
    }

    fn sample(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        let stat = Stat::parse(&self.read("stat")?).ok_or("its stat is not as Linux writes it")?;
        recorder.rate("processor, user", Unit::Cores, stat.user_ticks, 1.0 / TICKS);
        recorder.rate("processor, system", Unit::Cores, stat.system_ticks, 1.0 / TICKS);
        recorder.gauge("resident memory", Unit::Bytes, stat.resident_pages * PAGE_BYTES);
        recorder.gauge("threads", Unit::Count, stat.threads);
        recorder.rate("page faults, minor", Unit::PerSecond, stat.minor_faults, 1.0);
        recorder.rate("page faults, major", Unit::PerSecond, stat.major_faults, 1.0);
        // Switches are counted a thread; those of threads that ended are lost to us.
        let (voluntary, forced) = self.switches()?;
        recorder.rate("context switches, voluntary", Unit::PerSecond, voluntary, 1.0);
        recorder.rate("context switches, forced", Unit::PerSecond, forced, 1.0);
        // Of other users' processes these are not told; the gap says so.
        let io = self.read("io")?;
        for (key, name) in [("read_bytes", "disk, read"), ("write_bytes", "disk, written")] {
            if let Some(bytes) = field(&io, key) {
                recorder.rate(name, Unit::BytesPerSecond, bytes, 1.0);
            }
        }
        self.pressure(recorder);
        Ok(())
    }
}

impl Process {
    fn switches(&self) -> Result<(f64, f64), String> {
        let tasks = self.root.join(self.pid.to_string()).join("task");
        let threads = std::fs::read_dir(&tasks).map_err(|error| format!("{}: {error}", tasks.display()))?;
        let mut sums = (0.0, 0.0);
        for thread in threads.flatten() {
            // A thread may end between the listing and the look.
            let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
            sums.0 += field(&status, "voluntary_ctxt_switches").unwrap_or(0.0);
            sums.1 += field(&status, "nonvoluntary_ctxt_switches").unwrap_or(0.0);
        }
        Ok(sums)
    }

    /// The part of time in which some thread of the machine waited. A kernel without PSI has none.
    fn pressure(&self, recorder: &mut Recorder) {
        for what in ["cpu", "io", "memory"] {
            let Ok(text) = std::fs::read_to_string(self.root.join("pressure").join(what)) else { continue };
            if let Some(micros) = stalled_micros(&text) {
                recorder.rate(
                    &format!("pressure, {what} (whole machine)"),
                    Unit::Percent,
                    micros,
                    1e-6 * 100.0,
                );
            }
        }
    }
}

/// What of `/proc/<pid>/stat` is of use.
#[derive(Debug, PartialEq)]
struct Stat {
    minor_faults: f64,
    major_faults: f64,
    user_ticks: f64,
    system_ticks: f64,
    threads: f64,
    resident_pages: f64,
}

impl Stat {
    /// proc(5); the name in brackets may hold anything, so that fields count from the last bracket.
    fn parse(text: &str) -> Option<Stat> {
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Stat {
            minor_faults: field(10)?,
            major_faults: field(12)?,
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            threads: field(20)?,
            resident_pages: field(24)?,
        })
    }
}

/// The number after `key:`.
fn field(text: &str, key: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.trim().parse().ok())
}

/// `total=` of the line `some`.
fn stalled_micros(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split(' ').find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    //! What Linux 6.18 said of a Cassandra 5.0 under load, and this very process.
    use super::*;

    const STAT: &str = "19306 (java) S 1 19306 19306 0 -1 4194304 363630 114 52 1 9190 2382 0 0 35 15 108 0 107620 3914035200 \
                        393385 18446744073709551615 94124073009152 94124073010037 140724778298512 0 0 0 0 3 16800972 0 0 0 \
                        17 1 0 0 0 0 0 94124073020736 94124073021464 94124982149120 140724778307550 140724778310191 \
                        140724778310191 140724778311628 0";

    #[test]
    fn a_stat_is_understood() {
        let stat = Stat::parse(STAT).unwrap();
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.threads), (9_190.0, 2_382.0, 108.0));
        assert_eq!((stat.minor_faults, stat.major_faults, stat.resident_pages), (363_630.0, 52.0, 393_385.0));
        let odd = Stat::parse(&STAT.replace("(java)", "(java) (x)")).unwrap();
        assert_eq!(odd.threads, 108.0);
        for broken in ["", "1 (a", "1 (a) S 1", &STAT[..80]] {
            assert_eq!(Stat::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn counters_are_understood() {
        let io = "rchar: 26379863\nwchar: 5679923\nsyscr: 21267\nsyscw: 21123\nread_bytes: 11722752\nwrite_bytes: 36081664\n\
                  cancelled_write_bytes: 606208\n";
        assert_eq!(
            (field(io, "read_bytes"), field(io, "write_bytes")),
            (Some(11_722_752.0), Some(36_081_664.0))
        );
        let some = "some avg10=94.35 avg60=93.92 avg300=89.81 total=1205854290\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(stalled_micros(some), Some(1_205_854_290.0));
        assert_eq!(stalled_micros("total=1"), None);
    }

    #[test]
    fn this_process_has_threads_and_memory() {
        let mut recorder = Recorder::default();
        let mut process = Process::new(std::process::id());
        process.sample(&mut recorder).unwrap();
        recorder.set_now(1_000_000_000);
        process.sample(&mut recorder).unwrap();
        let samples = recorder.into_samples();
        let named = |name: &str| samples.series.iter().find(|series| series.name == name);
        assert!(named("threads").is_some_and(|series| series.points[0].1 >= 1.0));
        assert!(named("resident memory").is_some_and(|series| series.points[0].1 > 1e5));
        assert!(named("context switches, voluntary").is_some());
        assert!(Process::new(u32::MAX).sample(&mut Recorder::default()).is_err());
    }
}
