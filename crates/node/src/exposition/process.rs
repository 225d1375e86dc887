//! This process by the names that every exporter gives a process. Read from `/proc`; what the system does not tell is left out.

use std::fs;

use super::text::{Kind, Page};

/// Clock ticks a second in `/proc`; the kernel's interface has it fixed at 100.
const TICKS: f64 = 100.0;

/// Bytes of a page in `/proc/self/stat`, on every machine that we ship for.
const PAGE_BYTES: f64 = 4096.0;

/// What of `/proc/self/stat` is of use.
#[derive(Debug, PartialEq)]
struct Stat {
    cpu_seconds: f64,
    threads: f64,
    resident_bytes: f64,
}

impl Stat {
    /// proc(5); the name in brackets may hold anything, so that fields count from the last bracket.
    fn parse(text: &str) -> Option<Stat> {
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Stat {
            cpu_seconds: (field(14)? + field(15)?) / TICKS,
            threads: field(20)?,
            resident_bytes: field(24)? * PAGE_BYTES,
        })
    }
}

/// Writes what is known.
pub fn write(page: &mut Page) {
    let stat = fs::read_to_string("/proc/self/stat").ok().and_then(|text| Stat::parse(&text));
    if let Some(stat) = stat {
        let help = "Processor time, user and system.";
        page.family("process_cpu_seconds_total", Kind::Counter, help).sample(&[], stat.cpu_seconds);
        page.gauge("process_resident_memory_bytes", "Resident memory.", stat.resident_bytes);
        page.gauge("process_threads", "Threads.", stat.threads);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        page.gauge("process_open_fds", "Open file descriptors.", open.count() as f64);
    }
}

#[cfg(test)]
mod tests {
    //! Text in the form of proc(5).
    use super::*;

    #[test]
    fn a_stat_is_understood() {
        let text = "4711 (basalt) (x) S 1 4711 4711 0 -1 1077936192 1432518 12 57 0 300 50 1 0 20 0 131 0 8131 96636 1000 1844";
        let stat = Stat { cpu_seconds: 3.5, threads: 131.0, resident_bytes: 4_096_000.0 };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("1 (a) S 1"), None);
    }
}
