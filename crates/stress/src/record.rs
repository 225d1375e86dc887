//! Latencies of a run: response time (from when a request was due) beside service time (from when
//! it was sent), per kind of operation.

use hdrhistogram::Histogram;

use crate::workload::Kind;

/// The longest latency told apart: an hour, in nanoseconds.
const LONGEST_NANOS: u64 = 3_600_000_000_000;

/// Response and service times of one kind of operation.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// From when the request was due.
    pub response: Histogram<u64>,
    /// From when it was sent.
    pub service: Histogram<u64>,
    /// Requests the server refused; not in the histograms.
    pub errors: u64,
}

impl Latencies {
    fn new() -> Latencies {
        let histogram = || {
            Histogram::new_with_bounds(1, LONGEST_NANOS, 3)
                .expect("the bounds are constants hdrhistogram accepts")
        };
        Latencies { response: histogram(), service: histogram(), errors: 0 }
    }

    /// Adds another's.
    pub fn merge(&mut self, other: &Latencies) {
        for (mine, theirs) in [(&mut self.response, &other.response), (&mut self.service, &other.service)] {
            mine.add(theirs).expect("all histograms have the same bounds");
        }
        self.errors += other.errors;
    }
}

/// What one thread recorded.
#[derive(Clone, Debug)]
pub struct Record {
    latencies: [Latencies; Kind::ALL.len()],
}

impl Default for Record {
    fn default() -> Record {
        Record { latencies: std::array::from_fn(|_| Latencies::new()) }
    }
}

impl Record {
    /// Records an answer, or the age of a request that never got one.
    pub fn add(&mut self, kind: Kind, response_nanos: u64, service_nanos: u64) {
        let latencies = self.of_mut(kind);
        latencies.response.saturating_record(response_nanos.max(1));
        latencies.service.saturating_record(service_nanos.max(1));
    }

    /// Counts a refusal.
    pub fn add_error(&mut self, kind: Kind) {
        self.of_mut(kind).errors += 1;
    }

    /// Adds another thread's.
    pub fn merge(&mut self, other: &Record) {
        for (mine, theirs) in self.latencies.iter_mut().zip(&other.latencies) {
            mine.merge(theirs);
        }
    }

    /// Those of one kind.
    pub fn of(&self, kind: Kind) -> &Latencies {
        &self.latencies[kind as usize]
    }

    /// Those of all kinds together.
    pub fn total(&self) -> Latencies {
        let mut total = Latencies::new();
        for latencies in &self.latencies {
            total.merge(latencies);
        }
        total
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Latencies {
        &mut self.latencies[kind as usize]
    }
}
