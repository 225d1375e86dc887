//! What a thread has used of the processors, as Linux's scheduler counts it. Knows no request.

use std::fs;

/// What a thread has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time it ran, user and system, nanoseconds.
    pub cpu_nanos: u64,
    /// Time it could have run and did not, nanoseconds.
    pub run_queue_nanos: u64,
}

impl Usage {
    /// Of this thread since it began; nothing where the kernel does not say.
    pub fn of_this_thread() -> Usage {
        fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|text| parse(&text))
            .unwrap_or_default()
    }

    /// What was used since then.
    pub fn since(self, then: Usage) -> Usage {
        Usage {
            cpu_nanos: self.cpu_nanos.saturating_sub(then.cpu_nanos),
            run_queue_nanos: self.run_queue_nanos.saturating_sub(then.run_queue_nanos),
        }
    }
}

fn parse(text: &str) -> Option<Usage> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(Usage { cpu_nanos: numbers.next()?.ok()?, run_queue_nanos: numbers.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    //! A line as Linux shows it.
    use super::*;

    #[test]
    fn a_line_of_schedstat_is_understood() {
        assert_eq!(parse("1200 34 5\n"), Some(Usage { cpu_nanos: 1_200, run_queue_nanos: 34 }));
        assert_eq!(parse(""), None);
    }
}
