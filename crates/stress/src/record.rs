//! What a worker records in one interval: times by kind of operation, failures apart. Knows nothing
//! of files or reports.

use std::collections::BTreeMap;

use crate::outcome::{Counts, Latency};

/// Different texts of failures that are told apart; the rest is counted together.
const ERROR_TEXTS_MAX: usize = 64;

/// Where failures go whose texts are too many.
const OTHER_ERRORS: &str = "other errors";

/// Times of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct KindRecord {
    /// Successes, and what was censored, from the due moment.
    pub response: Latency,
    /// Successes from when they were sent.
    pub service: Latency,
    /// Successes: from the due moment to when they were sent.
    pub wait: Latency,
    /// Failures and time-outs from the due moment.
    pub failed: Latency,
    /// How many failures of each text.
    pub errors: BTreeMap<String, u64>,
}

impl KindRecord {
    /// Counts a failure.
    pub fn count_error(&mut self, text: &str, times: u64) {
        if let Some(count) = self.errors.get_mut(text) {
            *count += times;
        } else if self.errors.len() < ERROR_TEXTS_MAX {
            self.errors.insert(text.to_owned(), times);
        } else {
            *self.errors.entry(OTHER_ERRORS.to_owned()).or_default() += times;
        }
    }

    fn latencies(&mut self) -> [&mut Latency; 4] {
        [&mut self.response, &mut self.service, &mut self.wait, &mut self.failed]
    }

    /// Adds another's.
    pub fn add(&mut self, other: &KindRecord) {
        let theirs = [&other.response, &other.service, &other.wait, &other.failed];
        for (mine, theirs) in self.latencies().into_iter().zip(theirs) {
            // Adding goes over a quarter of a megabyte.
            if !theirs.0.is_empty() {
                mine.add(theirs);
            }
        }
        for (text, times) in &other.errors {
            self.count_error(text, *times);
        }
    }

    fn clear(&mut self) {
        for latency in self.latencies() {
            if !latency.0.is_empty() {
                latency.0.reset();
            }
        }
        self.errors.clear();
    }
}

/// Times of all kinds.
#[derive(Clone, Debug)]
pub struct Record {
    /// By kind, in the workload's order.
    pub kinds: Vec<KindRecord>,
    /// From when a request could be sent to when it was: the client's own delay.
    pub lag: Latency,
}

impl Record {
    /// An empty one.
    pub fn new(kinds: usize) -> Record {
        Record { kinds: vec![KindRecord::default(); kinds], lag: Latency::default() }
    }

    /// Adds another's, of the same workload.
    pub fn add(&mut self, other: &Record) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.add(theirs);
        }
        if !other.lag.0.is_empty() {
            self.lag.add(&other.lag);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.kinds.iter_mut().for_each(KindRecord::clear);
        self.lag.0.reset();
    }
}

/// Adds another's counts.
pub fn add_counts(mine: &mut Counts, theirs: &Counts) {
    mine.planned += theirs.planned;
    mine.sent += theirs.sent;
    mine.unsent += theirs.unsent;
    mine.answered += theirs.answered;
    mine.failed += theirs.failed;
    mine.timed_out += theirs.timed_out;
    mine.in_flight += theirs.in_flight;
}
