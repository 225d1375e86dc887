//! Puts together what the workers hand in: intervals in order and without gaps, totals, the log.
//! Knows neither plan nor connections.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender};

use super::Observer;
use super::usage::Usage;
use super::worker::{Ended, Message};
use crate::hiccup::Meters;
use crate::hlog::Log;
use crate::outcome::{Counts, Event, Interval, Latency, Packed};
use crate::record::{Record, add_counts};
use crate::verify::Acknowledged;

/// Events kept.
const EVENTS_MAX: usize = 1_000;

/// Everything that was collected.
pub struct Collected {
    /// Of the whole run.
    pub totals: Record,
    /// By kind.
    pub counts: Vec<Counts>,
    /// In order.
    pub intervals: Vec<Interval>,
    /// In order.
    pub events: Vec<Event>,
    /// Delays beside the workers and apart from them.
    pub hiccups: (Latency, Latency),
    /// Of each worker.
    pub usage: Vec<Usage>,
    /// When the last worker ended, nanoseconds from the start.
    pub ended: u64,
    /// Whether it was told to stop before it was done.
    pub is_cut_short: bool,
    /// Why the run does not show what was asked.
    pub invalid: Vec<String>,
    /// What `--verify` will look for.
    pub acknowledged: Acknowledged,
}

/// A collector at work.
pub struct Collector<'a> {
    interval_nanos: u64,
    kinds: usize,
    /// Where workers find records to be used again.
    spares: Vec<SyncSender<Box<Record>>>,
    /// Intervals that some worker has handed in and not all have.
    open: BTreeMap<u64, Record>,
    /// By worker: it will hand in nothing more before this interval.
    done_before: Vec<u64>,
    counts: Vec<Vec<Counts>>,
    next: u64,
    collected: Collected,
    log: Option<Log<'a>>,
    meters: &'a Meters,
    observer: &'a mut dyn Observer,
}

impl<'a> Collector<'a> {
    /// One for as many workers as there are `spares`.
    pub fn new(
        interval_nanos: u64,
        kinds: usize,
        spares: Vec<SyncSender<Box<Record>>>,
        log: Option<Log<'a>>,
        meters: &'a Meters,
        observer: &'a mut dyn Observer,
    ) -> Collector<'a> {
        let workers = spares.len();
        let collected = Collected {
            totals: Record::new(kinds),
            counts: vec![Counts::default(); kinds],
            intervals: Vec::new(),
            events: Vec::new(),
            hiccups: (Latency::default(), Latency::default()),
            usage: Vec::new(),
            ended: 0,
            is_cut_short: false,
            invalid: Vec::new(),
            acknowledged: Acknowledged::default(),
        };
        Collector {
            interval_nanos,
            kinds,
            spares,
            open: BTreeMap::new(),
            done_before: vec![0; workers],
            counts: vec![vec![Counts::default(); kinds]; workers],
            next: 0,
            collected,
            log,
            meters,
            observer,
        }
    }

    /// Collects until every worker has ended.
    pub fn collect(mut self, messages: &Receiver<Message>) -> Collected {
        let mut running = self.done_before.len();
        while running > 0 {
            // Workers that are gone without a word have died; what they handed in stands.
            let Ok(message) = messages.recv() else {
                self.note_invalid("a worker died");
                break;
            };
            match message {
                Message::Interval { worker, number, record, counts } => {
                    self.interval(worker, number, record, counts);
                }
                Message::Event { at, text } => {
                    if self.collected.events.len() < EVENTS_MAX {
                        self.collected.events.push(Event { at_nanos: at, text });
                    }
                }
                Message::Ended(ended) => {
                    running -= 1;
                    self.done_before[ended.worker] = u64::MAX;
                    self.ended(*ended);
                }
            }
            self.close();
        }
        self.finish()
    }

    fn ended(&mut self, ended: Ended) {
        self.collected.ended = self.collected.ended.max(ended.at);
        self.collected.usage.push(ended.usage);
        self.collected.acknowledged.merge(ended.acknowledged);
        ended.reached.iter().for_each(|bound| self.note_invalid(bound.told()));
        self.collected.is_cut_short |= ended.is_cut_short;
        if let Some(failure) = ended.failure {
            self.note_invalid(&format!("a worker failed: {failure}"));
        }
    }

    fn note_invalid(&mut self, why: &str) {
        if !self.collected.invalid.iter().any(|known| known == why) {
            self.collected.invalid.push(why.to_owned());
        }
    }

    fn interval(&mut self, worker: usize, number: u64, mut record: Box<Record>, counts: Vec<Counts>) {
        let kinds = self.kinds;
        self.open.entry(number).or_insert_with(|| Record::new(kinds)).add(&record);
        self.counts[worker] = counts;
        self.done_before[worker] = number + 1;
        record.clear();
        // A worker that has ended needs none.
        drop(self.spares[worker].try_send(record));
    }

    /// Closes every interval that all workers have handed in.
    fn close(&mut self) {
        let done_before = self.done_before.iter().copied().min().unwrap_or(0);
        let last = self.open.last_key_value().map_or(0, |(number, _)| number + 1);
        while self.next < done_before.min(last) {
            let record = self.open.remove(&self.next).unwrap_or_else(|| Record::new(self.kinds));
            self.close_one(&record);
            self.next += 1;
        }
    }

    fn close_one(&mut self, record: &Record) {
        let (hiccups, control) = self.meters.take();
        let start_nanos = self.next * self.interval_nanos;
        let mut response = Latency::default();
        let mut service = Latency::default();
        let mut failed = 0;
        for kind in &record.kinds {
            response.add(&kind.response);
            service.add(&kind.service);
            failed += kind.failed.0.len();
        }
        let interval = Interval {
            start_nanos,
            nanos: self.interval_nanos,
            response: Packed::from(&response),
            service: Packed::from(&service),
            failed,
            hiccup_max_nanos: hiccups.0.max(),
        };
        if let Some(log) = &mut self.log
            && let Err(error) = log.interval(start_nanos, self.interval_nanos, record, &hiccups, &control)
        {
            self.log = None;
            self.note_invalid(&format!("the log of histograms could not be written: {error}"));
        }
        self.collected.totals.add(record);
        self.collected.hiccups.0.add(&hiccups);
        self.collected.hiccups.1.add(&control);
        let mut counts = Counts::default();
        self.counts.iter().flatten().for_each(|kind| add_counts(&mut counts, kind));
        self.observer.interval(&Seen { interval: &interval, response: &response, service: &service, counts });
        self.collected.intervals.push(interval);
    }

    fn finish(mut self) -> Collected {
        for worker in &self.counts {
            for (mine, theirs) in self.collected.counts.iter_mut().zip(worker) {
                add_counts(mine, theirs);
            }
        }
        self.collected
    }
}

/// What an observer is shown of an interval.
pub struct Seen<'a> {
    /// As the document has it.
    pub interval: &'a Interval,
    /// Response times in it, of all kinds.
    pub response: &'a Latency,
    /// Service times in it.
    pub service: &'a Latency,
    /// Counts since the start.
    pub counts: Counts,
}
