//! The document of a run: everything a report, a comparison or a search needs, and the only thing
//! they see. Written as JSON beside the `.hlog`; times are nanoseconds since the run's start unless
//! a name says otherwise. Knows nothing of how it was measured.

mod file;
mod latency;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use file::{FileError, read, write};
pub use latency::{LONGEST_NANOS, Latency, Packed};

/// The version of this document's layout.
pub const FORMAT: u32 = 1;

/// What became of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The whole command line.
    pub command: Vec<String>,
    /// Where it ran and against what.
    pub setting: Setting,
    /// The workload's name.
    pub workload: String,
    /// Makes the run reproducible.
    pub seed: u64,
    /// When requests were meant to start.
    pub load: Load,
    /// Sums over all kinds.
    pub counts: Counts,
    /// From the first due moment to the last answer or the end of waiting for it.
    pub elapsed_nanos: u64,
    /// By kind of operation, in the workload's order.
    pub kinds: Vec<KindOutcome>,
    /// One a second (or `--interval`), in order, without gaps.
    pub intervals: Vec<Interval>,
    /// What the client knows of itself.
    pub client: Client,
    /// Samples of the server, when there are any.
    pub server: Option<crate::server::Samples>,
    /// What happened when: kills, freezes, stalls, the user's `--mark`s.
    pub events: Vec<Event>,
    /// What `--verify` found.
    pub verified: Option<Verified>,
    /// Why the run does not show what was asked, empty when it does: `in-flight cap`, `connection lost`.
    pub invalid: Vec<String>,
    /// What a reader must know besides: nodes that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Where a run took place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Setting {
    /// Wall clock of the start, microseconds since 1970.
    pub started_micros: i64,
    /// This program's version.
    pub version: String,
    /// Kernel, processor, cores, governor, memory, by name.
    pub host: BTreeMap<String, String>,
    /// Addresses connected to.
    pub targets: Vec<String>,
    /// `release_version` and what else the server tells of itself, by name.
    pub server: BTreeMap<String, String>,
    /// Protocol version, compression, connections, consistency, by name.
    pub client: BTreeMap<String, String>,
}

/// When requests were meant to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// By a plan that does not depend on the server.
    Open {
        /// `constant`, `poisson`, ...; as typed.
        arrivals: String,
        /// Mean requests a second of the plan.
        rate: f64,
        /// Length of the plan.
        nanos: u64,
    },
    /// Each of some users sends its next request when the last is answered: service time only.
    Closed {
        /// The users.
        threads: u32,
        /// Length of the run.
        nanos: u64,
    },
}

/// `planned = sent + unsent`, `sent = answered + failed + timed_out + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests of the plan.
    pub planned: u64,
    /// Requests handed to a socket.
    pub sent: u64,
    /// Requests that were due and never sent; in the response times at their age.
    pub unsent: u64,
    /// Requests answered as asked.
    pub answered: u64,
    /// Requests answered with an error.
    pub failed: u64,
    /// Requests given up after `--timeout`; an answer that comes later is dropped.
    pub timed_out: u64,
    /// Requests without an answer when the run ended; in the response times at their age.
    pub in_flight: u64,
}

/// One kind of operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KindOutcome {
    /// Its name.
    pub name: String,
    /// Its counts.
    pub counts: Counts,
    /// Successes, and what was censored, from the due moment.
    pub response: Latency,
    /// Successes from when they were sent.
    pub service: Latency,
    /// From the due moment to when they were sent.
    pub wait: Latency,
    /// Failures and time-outs from the due moment.
    pub failed: Latency,
    /// How many failures of each text.
    pub errors: BTreeMap<String, u64>,
}

/// One interval of the run, all kinds together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Its begin.
    pub start_nanos: u64,
    /// Its length.
    pub nanos: u64,
    /// Response times of the requests answered (or censored) in it.
    pub response: Packed,
    /// Their service times.
    pub service: Packed,
    /// Failures in it.
    pub failed: u64,
    /// The largest delay that an idle thread saw in it.
    pub hiccup_max_nanos: u64,
}

/// What the client knows of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Client {
    /// Delays seen by a thread that sleeps a millisecond at a time, on each worker's core.
    pub hiccups: Latency,
    /// The same of a thread that shares no core with a worker, where there is such a core.
    pub control_hiccups: Latency,
    /// From the due moment (open) or decision (closed) to when the request was handed to the socket.
    pub send_lag: Latency,
    /// Processor time, user and system.
    pub cpu_nanos: u64,
    /// Time that its threads could have run and did not.
    pub run_queue_nanos: u64,
    /// Threads that send and receive.
    pub workers: u32,
    /// Was it the client?
    pub verdict: Verdict,
    /// Why, in one line.
    pub reason: String,
}

/// Was it the client?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No.
    Ok,
    /// Perhaps: its own delays are more than a tenth of what was measured.
    Suspect,
    /// Yes: it could not send as planned.
    Limited,
}

/// Something worth a mark on the time line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at_nanos: u64,
    /// What.
    pub text: String,
}

/// What reading every acknowledged write back found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Records looked at.
    pub read: u64,
    /// Records of which an acknowledged write is not there at all.
    pub lost: u64,
    /// Records that show an older write than the last acknowledged.
    pub stale: u64,
    /// Records whose checksum is not theirs.
    pub wrong: u64,
    /// Records that could not be read.
    pub unread: u64,
    /// Only one in so many of the written records was looked at, because there were too many.
    pub one_in: u64,
}

impl Outcome {
    /// Response times of all kinds together.
    pub fn response(&self) -> Latency {
        self.together(|kind| &kind.response)
    }

    /// Service times of all kinds together.
    pub fn service(&self) -> Latency {
        self.together(|kind| &kind.service)
    }

    /// Requests answered as asked, a second.
    pub fn rate(&self) -> f64 {
        self.counts.answered as f64 / (self.elapsed_nanos as f64 / 1e9).max(1e-9)
    }

    /// Whether requests came by a plan, so that response times exist.
    pub fn is_open(&self) -> bool {
        matches!(self.load, Load::Open { .. })
    }

    fn together(&self, of: impl Fn(&KindOutcome) -> &Latency) -> Latency {
        let mut all = Latency::default();
        for kind in &self.kinds {
            all.add(of(kind));
        }
        all
    }
}

impl Counts {
    /// Requests in the response times at their age, because no answer came.
    pub fn censored(&self) -> u64 {
        self.unsent + self.in_flight
    }

    /// Whether every planned request is accounted for.
    pub fn add_up(&self) -> bool {
        self.planned == self.sent.saturating_add(self.unsent)
            && self.sent
                == [self.answered, self.failed, self.timed_out, self.in_flight]
                    .into_iter()
                    .fold(0, u64::saturating_add)
    }
}
