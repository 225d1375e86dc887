//! How long users wait: response time (from the arrival of a request's bytes to the last byte of its
//! answer written) beside service time (from beginning the request to its result), in HDR
//! histograms, per kind of request. Each reactor records into its own; reading adds them up.

use std::sync::Arc;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

/// Kinds of requests that are timed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum RequestKind {
    /// QUERY.
    Query = 0,
    /// PREPARE.
    Prepare = 1,
    /// EXECUTE.
    Execute = 2,
    /// BATCH.
    Batch = 3,
    /// OPTIONS, STARTUP, REGISTER and the like.
    Other = 4,
}

impl RequestKind {
    /// Every kind.
    pub const ALL: [RequestKind; 5] = [
        RequestKind::Query,
        RequestKind::Prepare,
        RequestKind::Execute,
        RequestKind::Batch,
        RequestKind::Other,
    ];

    /// Its name, in `system_views.request_latency` and on the page for Prometheus.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Query => "query",
            RequestKind::Prepare => "prepare",
            RequestKind::Execute => "execute",
            RequestKind::Batch => "batch",
            RequestKind::Other => "other",
        }
    }
}

/// Significant digits kept.
const DIGITS: u8 = 3;

struct Times {
    response_us: Histogram<u64>,
    service_us: Histogram<u64>,
    errors: u64,
}

impl Times {
    fn new() -> Times {
        // Three digits are within what a histogram can be made with; it grows as values come.
        let empty = || Histogram::new(DIGITS).expect("three digits are a legal precision");
        Times { response_us: empty(), service_us: empty(), errors: 0 }
    }
}

/// Longer times count as this: an hour.
const LONGEST_US: u64 = 3_600_000_000;

fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    // It grows up to any value, so recording cannot fail; if it did, a saturated value is kept.
    let micros = (nanos / 1_000).min(LONGEST_US);
    if histogram.record(micros).is_err() {
        histogram.saturating_record(micros);
    }
}

/// Times of one reactor. Its lock is its own reactor's nearly always.
pub struct Recorder {
    times: Mutex<[Times; 5]>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder { times: Mutex::new(std::array::from_fn(|_| Times::new())) }
    }
}

impl Recorder {
    /// A request's work ended.
    pub fn served(&self, kind: RequestKind, nanos: u64, is_error: bool) {
        let times = &mut self.times.lock()[kind as usize];
        record(&mut times.service_us, nanos);
        times.errors += u64::from(is_error);
    }

    /// Answers were written to the last byte: when each one's bytes had arrived, and when that was.
    pub fn answered(&self, arrivals: impl Iterator<Item = (RequestKind, u64)>, now_nanos: u64) {
        let mut times = self.times.lock();
        for (kind, arrived_nanos) in arrivals {
            let nanos = now_nanos.saturating_sub(arrived_nanos);
            record(&mut times[kind as usize].response_us, nanos);
        }
    }
}

/// One a reactor.
pub type Recorders = Arc<[Arc<Recorder>]>;

/// Recorders of nothing yet.
pub fn recorders(reactors: usize) -> Recorders {
    (0..reactors).map(|_| Arc::default()).collect()
}

/// Times of one kind of request over all reactors, microseconds.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which kind.
    pub kind: RequestKind,
    /// From the bytes' arrival to the last byte of the answer written.
    pub response_us: Histogram<u64>,
    /// From beginning to result.
    pub service_us: Histogram<u64>,
    /// Errors answered.
    pub errors: u64,
}

/// Adds up what reactors recorded.
pub fn summarize(recorders: &[Arc<Recorder>]) -> Vec<Summary> {
    let mut sums: Vec<Summary> = RequestKind::ALL
        .iter()
        .map(|kind| {
            let times = Times::new();
            Summary { kind: *kind, response_us: times.response_us, service_us: times.service_us, errors: 0 }
        })
        .collect();
    for recorder in recorders {
        let times = recorder.times.lock();
        for (sum, times) in sums.iter_mut().zip(times.iter()) {
            // Histograms of one precision that may grow can always be added.
            sum.response_us.add(&times.response_us).expect("same precision, and it grows");
            sum.service_us.add(&times.service_us).expect("same precision, and it grows");
            sum.errors += times.errors;
        }
    }
    sums
}

#[cfg(test)]
mod tests;
