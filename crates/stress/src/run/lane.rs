//! One worker's share of a run: which request comes next, when, and what became of each. Sends
//! nothing itself and reads no clock: moments are handed in, nanoseconds from the start of the run.
//!
//! There is no queue: what is due and not sent yet is still in the plan, so that a run far beyond
//! what the server takes needs no more memory than one within it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::in_flight::Sent;
use crate::outcome::Counts;
use crate::plan::{Due, Times};
use crate::random::Random;
use crate::record::Record;
use crate::verify::Acknowledged;
use crate::workload::{Operation, Workload};

/// What is asked for.
#[derive(Clone)]
pub struct Work {
    /// Makes the requests.
    pub workload: Arc<dyn Workload>,
    /// Makes them the same each time.
    pub seed: u64,
    /// The records themselves, or what is done with them.
    pub is_load: bool,
}

impl Work {
    /// Makes request `index`.
    pub fn make(&self, index: u64, operation: &mut Operation) {
        operation.clear();
        if self.is_load {
            self.workload.load(index, operation);
        } else {
            self.workload.next(index, &mut Random::at(self.seed, index), operation);
        }
    }
}

/// When requests are sent.
pub enum Pace {
    /// Those of the plan whose index leaves `worker` when divided by `workers`.
    Open {
        /// The whole plan.
        times: Times,
        /// This worker.
        worker: u64,
        /// All workers.
        workers: u64,
        /// Taken from the plan, not sent yet.
        next: Option<Due>,
    },
    /// By users, each of whom waits for an answer before asking again.
    Closed {
        /// The next request, of all workers.
        next: Arc<AtomicU64>,
        /// How many requests there are.
        limit: u64,
        /// Users of this worker who wait for nothing.
        idle: usize,
        /// When they stop.
        until: u64,
    },
}

impl Pace {
    /// A worker's share of a plan.
    pub fn open(times: Times, worker: u64, workers: u64) -> Pace {
        let mut pace = Pace::Open { times, worker, workers, next: None };
        pace.advance();
        pace
    }

    fn advance(&mut self) {
        if let Pace::Open { times, worker, workers, next } = self {
            *next = times.find(|due| due.index % *workers == *worker);
        }
    }
}

/// What keeps requests that are due from being sent although the server is there: no population of
/// users has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// As many are in flight as may be.
    InFlight,
    /// Every stream of every connection waits for an answer.
    Streams,
    /// The server does not read what has been written for it.
    Output,
}

impl Bound {
    /// For the report.
    pub fn told(self) -> &'static str {
        match self {
            Bound::InFlight => "in-flight cap: more requests waited for answers than may be in flight",
            Bound::Streams => {
                "streams: every stream of the connections waited for an answer; more --connections have more"
            }
            Bound::Output => {
                "output limit: the server did not read what was sent to it, and what was due after that waited"
            }
        }
    }
}

/// One worker's share.
pub struct Lane {
    work: Work,
    pace: Pace,
    /// Most requests in flight.
    cap: usize,
    in_flight: usize,
    /// By kind.
    counts: Vec<Counts>,
    record: Record,
    operation: Operation,
    /// Whether something but the client keeps requests that are due from being sent.
    is_held: bool,
    /// Until when something did.
    held_until: u64,
    /// What kept requests from being sent.
    reached: Vec<Bound>,
    /// What is remembered for `--verify`.
    acknowledged: Acknowledged,
}

impl Lane {
    /// A share of `work` at `pace`, with at most `cap` requests in flight.
    pub fn new(work: Work, pace: Pace, cap: usize) -> Lane {
        let kinds = work.workload.kinds().len();
        Lane {
            work,
            pace,
            cap,
            in_flight: 0,
            counts: vec![Counts::default(); kinds],
            record: Record::new(kinds),
            operation: Operation::default(),
            is_held: false,
            held_until: 0,
            reached: Vec::new(),
            acknowledged: Acknowledged::default(),
        }
    }

    /// When the next request can be sent, as far as time decides; `None` when none is left, or each
    /// user waits for an answer.
    pub fn next_due(&self) -> Option<u64> {
        match &self.pace {
            Pace::Open { next, .. } => next.map(|due| due.nanos),
            Pace::Closed { next, limit, idle, .. } => {
                (*idle > 0 && next.load(Ordering::Relaxed) < *limit).then_some(0)
            }
        }
    }

    /// Whether nothing is left to send at `now` or later.
    pub fn is_exhausted(&self, now: u64) -> bool {
        match &self.pace {
            Pace::Open { next, .. } => next.is_none(),
            Pace::Closed { next, limit, until, .. } => {
                now >= *until || next.load(Ordering::Relaxed) >= *limit
            }
        }
    }

    /// The next request that is due at `now` and may be sent, with when it was due.
    pub fn begin(&mut self, now: u64) -> Option<Due> {
        if self.is_exhausted(now) || self.next_due().is_none_or(|due| due > now) {
            return None;
        }
        if self.in_flight >= self.cap {
            self.hold(Some(Bound::InFlight));
            return None;
        }
        let due = match &mut self.pace {
            Pace::Open { next, .. } => next.take()?,
            Pace::Closed { next, limit, idle, .. } => {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= *limit {
                    return None;
                }
                *idle -= 1;
                Due { index, nanos: now }
            }
        };
        self.pace.advance();
        self.in_flight += 1;
        self.work.make(due.index, &mut self.operation);
        Some(due)
    }

    /// What [`Lane::begin`] made.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Makes a request again that has been begun before.
    pub fn make_again(&mut self, index: u64) -> &Operation {
        self.work.make(index, &mut self.operation);
        &self.operation
    }

    /// The request was handed to a socket at `sent`.
    pub fn sent(&mut self, due: Due, sent: u64) -> Sent {
        let kind = self.operation.kind;
        if self.is_held {
            self.is_held = false;
            self.held_until = sent;
        }
        self.record.lag.record(sent.saturating_sub(due.nanos.max(self.held_until)));
        self.counts[kind].planned += 1;
        self.counts[kind].sent += 1;
        Sent { index: due.index, kind, due: due.nanos, sent, written: self.operation.written }
    }

    /// No connection takes a request now, because of this bound or because there is none: the wait is not
    /// that of a client that is slow.
    pub fn hold(&mut self, bound: Option<Bound>) {
        self.is_held = true;
        self.reached.extend(bound.filter(|bound| !self.reached.contains(bound)));
    }

    /// A request was answered as asked.
    pub fn answered(&mut self, sent: &Sent, now: u64) {
        let record = &mut self.record.kinds[sent.kind];
        record.response.record(now.saturating_sub(sent.due));
        record.service.record(now.saturating_sub(sent.sent));
        record.wait.record(sent.sent.saturating_sub(sent.due));
        self.counts[sent.kind].answered += 1;
        if let Some(written) = sent.written {
            self.acknowledged.acknowledged(written);
        }
        self.ended();
    }

    /// A request was refused, or its connection ended.
    pub fn failed(&mut self, sent: &Sent, now: u64, text: &str) {
        let record = &mut self.record.kinds[sent.kind];
        record.failed.record(now.saturating_sub(sent.due));
        record.count_error(text, 1);
        self.counts[sent.kind].failed += 1;
        self.uncertain(sent);
        self.ended();
    }

    /// A request was given up.
    pub fn timed_out(&mut self, sent: &Sent, now: u64) {
        self.record.kinds[sent.kind].failed.record(now.saturating_sub(sent.due));
        self.counts[sent.kind].timed_out += 1;
        self.uncertain(sent);
        self.ended();
    }

    /// It may be done or not.
    fn uncertain(&mut self, sent: &Sent) {
        if let Some(written) = sent.written {
            self.acknowledged.uncertain(written);
        }
    }

    fn ended(&mut self) {
        self.in_flight -= 1;
        if let Pace::Closed { idle, .. } = &mut self.pace {
            *idle += 1;
        }
    }

    /// The run ends: what was not answered and what was due and never sent is as old as it is, at
    /// least, and counts as that. Nothing that was due later is counted.
    pub fn finish<'a>(&mut self, now: u64, in_flight: impl Iterator<Item = &'a Sent>) {
        for sent in in_flight {
            self.record.kinds[sent.kind].response.record(now.saturating_sub(sent.due));
            self.counts[sent.kind].in_flight += 1;
            self.uncertain(sent);
        }
        while let Pace::Open { next: Some(due), .. } = &self.pace
            && due.nanos <= now
        {
            let due = *due;
            self.work.make(due.index, &mut self.operation);
            let kind = self.operation.kind;
            self.record.kinds[kind].response.record(now - due.nanos);
            self.counts[kind].planned += 1;
            self.counts[kind].unsent += 1;
            self.pace.advance();
        }
    }

    /// What was recorded since the last call; `fresh` takes its place.
    pub fn take_record(&mut self, fresh: Record) -> Record {
        std::mem::replace(&mut self.record, fresh)
    }

    /// What `--verify` will look for.
    pub fn take_acknowledged(&mut self) -> Acknowledged {
        std::mem::take(&mut self.acknowledged)
    }

    /// Counts so far, by kind.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether a further request may be in flight.
    pub fn has_room(&self) -> bool {
        self.in_flight < self.cap
    }

    /// What kept requests from being sent, if anything did.
    pub fn reached(&self) -> &[Bound] {
        &self.reached
    }
}

#[cfg(test)]
mod tests;
