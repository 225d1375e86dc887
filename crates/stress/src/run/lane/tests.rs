//! Lanes against pretend servers on a pretend clock.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::in_flight::{InFlight, STREAMS};
use super::*;
use crate::outcome::Latency;
use crate::plan::{Arrivals, Plan, Rate};
use crate::record::add_counts;
use crate::workload::Statement;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Two kinds in turn, nothing else.
struct Turns {
    kinds: Vec<String>,
}

impl Workload for Turns {
    fn name(&self) -> &str {
        "turns"
    }

    fn schema(&self) -> Vec<String> {
        Vec::new()
    }

    fn statements(&self) -> &[Statement] {
        &[]
    }

    fn kinds(&self) -> &[String] {
        &self.kinds
    }

    fn records(&self) -> u64 {
        1_000
    }

    fn load(&self, _: u64, operation: &mut Operation) {
        operation.begin(0, 0);
    }

    fn next(&self, index: u64, _: &mut Random, operation: &mut Operation) {
        operation.begin((index % 2) as usize, 0);
    }
}

fn work(is_load: bool) -> Work {
    let kinds = vec!["read".to_owned(), "write".to_owned()];
    Work { workload: Arc::new(Turns { kinds }), seed: 1, is_load }
}

/// What a pretend server does with a request.
enum Answer {
    At(u64),
    ErrorAt(u64),
    Never,
}

struct Simulation {
    lane: Lane,
    in_flight: InFlight,
    /// When, and on which stream, an answer comes, and whether it is a success.
    answers: BinaryHeap<Reverse<(u64, i16, bool)>>,
    timeout: u64,
    deadline: u64,
    most_in_flight: usize,
    ended: u64,
}

impl Simulation {
    /// Runs `pace` against a server; requests are given up after `timeout`, all ends at `deadline`.
    fn run(
        pace: Pace,
        cap: usize,
        timeout: u64,
        deadline: u64,
        server: impl FnMut(u64, u64) -> Answer,
    ) -> Simulation {
        let is_load = matches!(pace, Pace::Closed { limit: 1_000, .. });
        let mut simulation = Simulation {
            lane: Lane::new(work(is_load), pace, cap),
            in_flight: InFlight::default(),
            answers: BinaryHeap::new(),
            timeout,
            deadline,
            most_in_flight: 0,
            ended: 0,
        };
        simulation.go(server);
        simulation
    }

    fn go(&mut self, mut server: impl FnMut(u64, u64) -> Answer) {
        let mut now = 0;
        let mut next_tick = 0;
        loop {
            self.answer(now);
            while let Some(due) = self.lane.begin(now) {
                let sent = self.lane.sent(due, now);
                let stream = self.in_flight.enter(sent).expect("fewer requests than streams");
                match server(due.index, now) {
                    Answer::At(at) => self.answers.push(Reverse((at.max(now), stream, true))),
                    Answer::ErrorAt(at) => self.answers.push(Reverse((at.max(now), stream, false))),
                    Answer::Never => {}
                }
            }
            self.most_in_flight = self.most_in_flight.max(self.in_flight.iter().count());
            if now >= next_tick {
                let limit = (now + 1).saturating_sub(self.timeout);
                let Simulation { lane, in_flight, .. } = self;
                in_flight.give_up(limit, |sent| lane.timed_out(sent, now));
                next_tick = now + 20 * MS;
            }
            let is_done = self.lane.is_exhausted(now) && self.lane.in_flight() == 0;
            if is_done || now >= self.deadline {
                break;
            }
            let due = if self.lane.has_room() { self.lane.next_due() } else { None };
            let answer = self.answers.peek().map(|Reverse((at, ..))| *at);
            let next = [due, answer].into_iter().flatten().fold(next_tick.min(self.deadline), u64::min);
            now = next.max(now);
        }
        self.ended = now;
        self.lane.finish(now, self.in_flight.iter());
        assert!(self.lane.counts().iter().all(Counts::add_up), "{:?}", self.lane.counts());
    }

    fn answer(&mut self, now: u64) {
        while let Some(Reverse((at, stream, is_success))) = self.answers.peek().copied()
            && at <= now
        {
            self.answers.pop();
            match (self.in_flight.end(stream), is_success) {
                (Some(sent), true) => self.lane.answered(&sent, at),
                (Some(sent), false) => self.lane.failed(&sent, at, "0x1001 busy"),
                (None, _) => {}
            }
        }
    }

    fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.lane.counts().iter().for_each(|counts| add_counts(&mut all, counts));
        all
    }

    fn all(&mut self, of: fn(&crate::record::KindRecord) -> &Latency) -> Latency {
        let record = self.lane.take_record(Record::new(2));
        let mut all = Latency::default();
        record.kinds.iter().for_each(|kind| all.add(of(kind)));
        self.lane.take_record(record);
        all
    }

    fn seconds(&mut self, quantile: f64, of: fn(&crate::record::KindRecord) -> &Latency) -> f64 {
        self.all(of).0.value_at_quantile(quantile) as f64 / 1e9
    }
}

fn open(rate: u64, nanos: u64) -> Pace {
    let plan = Plan::new(&Arrivals::CONSTANT, Rate::per_second(rate), nanos, 1).unwrap();
    Pace::open(plan.times(), 0, 1)
}

/// A server that answers in a millisecond, but for the time it is frozen.
fn frozen(from: u64, to: u64) -> impl FnMut(u64, u64) -> Answer {
    move |_, sent| {
        let at = sent + MS;
        Answer::At(if (from..to).contains(&at) { to + MS } else { at })
    }
}

#[test]
fn a_freeze_in_the_middle_is_in_the_response_times_however_few_may_wait() {
    // Planned, 1500 of 10,000 requests fall into three seconds: p90 1 s, p95 2 s, p99 2.8 s.
    for cap in [16, 30_000] {
        let mut run = Simulation::run(
            open(500, 20 * SECOND),
            cap,
            60 * SECOND,
            30 * SECOND,
            frozen(8 * SECOND, 11 * SECOND),
        );
        assert_eq!(run.counts().answered, 10_000);
        for (quantile, low, high) in [(0.90, 0.9, 1.1), (0.95, 1.9, 2.1), (0.99, 2.7, 3.0)] {
            let response = run.seconds(quantile, |kind| &kind.response);
            assert!((low..high).contains(&response), "cap {cap}: p{quantile} {response}");
        }
        // The sixteen that waited are one in six hundred; the rest was served fast, late.
        let service = run.seconds(0.99, |kind| &kind.service);
        assert_eq!(service < 0.1, cap == 16, "cap {cap}: {service}");
        assert_eq!(run.lane.reached().contains(&Bound::InFlight), cap == 16);
        // It was not the client's fault.
        let lag = run.lane.take_record(Record::new(2)).lag;
        assert!(lag.0.max() < MS, "{}", lag.0.max());
    }
}

#[test]
fn a_freeze_across_the_end_counts_what_was_planned() {
    // From 17.5 s to 23.5 s of 20 s: one request in eight, the oldest of them 6 s.
    let freeze = || frozen(17_500 * MS, 23_500 * MS);
    let mut run = Simulation::run(open(500, 20 * SECOND), 16, 60 * SECOND, 30 * SECOND, freeze());
    let response = run.seconds(0.99, |kind| &kind.response);
    assert!((5.6..6.1).contains(&response), "{response}");
    assert_eq!(run.counts().answered, 10_000);
    // The same, and nobody waits for the end of the freeze: what was in flight and what was never
    // sent is as old as it is.
    for cap in [16, 30_000] {
        let mut run = Simulation::run(open(500, 20 * SECOND), cap, 60 * SECOND, 22 * SECOND, freeze());
        let counts = run.counts();
        assert_eq!((counts.planned, counts.answered), (10_000, 8_750), "{counts:?}");
        assert_eq!(counts.in_flight, if cap == 16 { 16 } else { 1_250 });
        assert_eq!(counts.unsent, 1_250 - counts.in_flight);
        assert_eq!(run.ended, 22 * SECOND);
        let response = run.seconds(0.99, |kind| &kind.response);
        assert!((4.1..4.5).contains(&response), "cap {cap}: {response}");
        assert_eq!(
            run.all(|kind| &kind.response).0.len(),
            10_000,
            "each planned request has a response time"
        );
    }
}

#[test]
fn ten_times_overload_ends_on_time_in_bounded_memory_and_adds_up() {
    // A server of one core that needs 1 ms for a request, asked for 10,000 a second.
    let mut free_at = 0;
    let server = move |_, sent: u64| {
        free_at = sent.max(free_at) + MS;
        Answer::At(free_at)
    };
    let mut run = Simulation::run(open(10_000, 10 * SECOND), 256, 60 * SECOND, 12 * SECOND, server);
    let counts = run.counts();
    assert_eq!(run.ended, 12 * SECOND);
    assert_eq!(counts.planned, 100_000);
    assert!((11_990..=12_000).contains(&counts.answered), "{counts:?}");
    assert_eq!(run.most_in_flight, 256);
    assert_eq!(counts.in_flight, 256);
    assert_eq!(run.lane.reached(), [Bound::InFlight]);
    let response = run.all(|kind| &kind.response);
    assert_eq!(response.0.len(), 100_000);
    // Half of the plan was due more than 7 s before the end; none of it was answered.
    let median = response.0.value_at_quantile(0.5) as f64 / 1e9;
    assert!((6.0..8.0).contains(&median), "{median}");
}

#[test]
fn dropped_and_refused_requests_leave_the_times_of_the_others_alone() {
    let good = |sent: u64, index: u64| Answer::At(sent + MS + index % 7 * 100_000);
    let every = Simulation::run(open(500, 10 * SECOND), 30_000, SECOND, 15 * SECOND, |index, sent| {
        if index % 4 < 2 { good(sent, index) } else { Answer::At(sent + MS) }
    });
    let mut expected = Latency::default();
    (0..5_000_u64).filter(|index| index % 4 < 2).for_each(|index| expected.record(MS + index % 7 * 100_000));
    assert_eq!(every.counts().answered, 5_000);
    let mut dropped = Simulation::run(open(500, 10 * SECOND), 30_000, SECOND, 15 * SECOND, |index, sent| {
        if index % 4 < 2 { good(sent, index) } else { Answer::Never }
    });
    let mut refused = Simulation::run(open(500, 10 * SECOND), 30_000, SECOND, 15 * SECOND, |index, sent| {
        if index % 4 < 2 { good(sent, index) } else { Answer::ErrorAt(sent + 50 * MS) }
    });
    assert_eq!(dropped.counts().timed_out, 2_500);
    assert_eq!(refused.counts().failed, 2_500);
    for run in [&mut dropped, &mut refused] {
        assert_eq!(run.counts().answered, 2_500);
        assert_eq!(run.all(|kind| &kind.response), expected);
        assert_eq!(run.all(|kind| &kind.failed).0.len(), 2_500);
    }
    let times = dropped.all(|kind| &kind.failed);
    assert!(
        times.0.min() >= SECOND - MS && times.0.max() < SECOND + 50 * MS,
        "given up when the time is over"
    );
    let record = refused.lane.take_record(Record::new(2));
    let errors: u64 = record.kinds.iter().filter_map(|kind| kind.errors.get("0x1001 busy")).sum();
    assert_eq!(errors, 2_500);
}

#[test]
fn a_late_answer_to_what_was_given_up_is_dropped_and_frees_its_stream() {
    let mut run = Simulation::run(open(100, 10 * SECOND), 30_000, SECOND, 20 * SECOND, |index, sent| {
        Answer::At(sent + if index % 2 == 0 { MS } else { 3 * SECOND })
    });
    let counts = run.counts();
    assert_eq!((counts.answered, counts.timed_out), (500, 500));
    assert_eq!(run.all(|kind| &kind.response).0.len(), 500);
    // Three seconds of streams, not ten.
    let streams = (0..STREAMS as i16).filter(|stream| run.in_flight.end(*stream).is_some()).count();
    assert_eq!(streams, 0);
    let again = Sent { index: 0, kind: 0, due: 0, sent: 0, written: None };
    assert!(run.in_flight.enter(again).unwrap() < 200);
}

#[test]
fn lanes_share_a_plan_without_gaps() {
    let plan = Plan::new(&"poisson".parse().unwrap(), Rate::per_second(3_000), SECOND, 5).unwrap();
    let mut begun: Vec<u64> = Vec::new();
    for worker in 0..3 {
        let mut lane = Lane::new(work(false), Pace::open(plan.times(), worker, 3), 30_000);
        while let Some(due) = lane.begin(2 * SECOND) {
            lane.sent(due, 2 * SECOND);
            begun.push(due.index);
        }
        assert!(lane.is_exhausted(0));
    }
    begun.sort_unstable();
    assert_eq!(begun, (0..plan.count()).collect::<Vec<u64>>());
}

#[test]
fn users_of_a_closed_loop_wait_for_their_answers() {
    let closed = |limit, until| Pace::Closed { next: Arc::default(), limit, idle: 8, until };
    let mut run = Simulation::run(closed(u64::MAX, 10 * SECOND), 8, 60 * SECOND, 20 * SECOND, |_, sent| {
        Answer::At(sent + 10 * MS)
    });
    assert_eq!(run.counts().answered, 8 * 1_000);
    assert_eq!(run.most_in_flight, 8);
    assert_eq!(run.lane.reached(), []);
    assert_eq!(run.all(|kind| &kind.response), run.all(|kind| &kind.service));
    // A load ends with its records, however long that takes.
    let load = Simulation::run(closed(1_000, u64::MAX), 8, 60 * SECOND, u64::MAX, |_, sent| {
        Answer::At(sent + 10 * MS)
    });
    assert_eq!((load.counts().planned, load.counts().answered), (1_000, 1_000));
}

#[test]
fn a_client_that_stood_still_has_itself_to_blame() {
    let mut lane = Lane::new(work(false), open(1_000, SECOND), 30_000);
    let due = lane.begin(0).unwrap();
    lane.sent(due, 0);
    while let Some(due) = lane.begin(SECOND) {
        lane.sent(due, SECOND);
    }
    let lag = lane.take_record(Record::new(2)).lag;
    assert_eq!(lag.0.len(), 1_000);
    assert!(lag.0.value_at_quantile(0.5) > 490 * MS);
}
