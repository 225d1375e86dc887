//! A pretend server on a pretend clock, for tests, examples and the demonstration of a report: the
//! same [`Outcome`] that a run makes, from a queue whose answer is known. Touches no network and no
//! time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::outcome::{
    Client, Counts, Event, FORMAT, Interval, KindOutcome, Latency, Load, Outcome, Packed, Setting, Verdict,
};
use crate::random::Random;

/// Length of an interval, nanoseconds.
const INTERVAL_NANOS: u64 = 1_000_000_000;

/// How long after the plan answers are waited for.
const PATIENCE_NANOS: u64 = 1_000_000_000;

/// A server with some cores, and a client with some slots that each wait for their answer.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Makes it reproducible.
    pub seed: u64,
    /// What is asked of it.
    pub load: Pace,
    /// Length of the plan, nanoseconds.
    pub nanos: u64,
    /// Requests the client may have under way.
    pub slots: usize,
    /// Requests the server works at together.
    pub cores: usize,
    /// Time a request takes by itself.
    pub work: Work,
    /// When the server stands still, and for how long, nanoseconds.
    pub freezes: Vec<(u64, u64)>,
}

/// What is asked of a simulated server.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// So many requests a second, evenly.
    Constant(f64),
    /// So many a second, by chance.
    Poisson(f64),
    /// As many users, each waiting for its answer.
    Users(u32),
}

/// How long a simulated server works at a request, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Exponential, with this mean.
    Exponential(f64),
    /// Log-normal, with this median and this standard deviation of the logarithm.
    LogNormal(f64, f64),
}

/// What one run adds up.
struct Ledger {
    counts: Counts,
    kinds: Vec<KindOutcome>,
    intervals: Vec<(Latency, Latency)>,
    ended: u64,
}

impl Simulated {
    /// A small healthy server at `rate` requests a second for some seconds.
    pub fn healthy(seed: u64, rate: f64, seconds: u64) -> Simulated {
        Simulated {
            seed,
            load: Pace::Poisson(rate),
            nanos: seconds * 1_000_000_000,
            slots: 512,
            cores: 4,
            work: Work::LogNormal(400_000.0, 0.5),
            freezes: Vec::new(),
        }
    }

    /// Runs it.
    pub fn run(&self) -> Outcome {
        let mut random = Random::new(self.seed);
        let mut slots: BinaryHeap<Reverse<u64>> = (0..self.users()).map(|_| Reverse(0)).collect();
        let mut cores: BinaryHeap<Reverse<u64>> = (0..self.cores.max(1)).map(|_| Reverse(0)).collect();
        let count = self.nanos.div_ceil(INTERVAL_NANOS).max(1);
        let mut ledger = Ledger::new(count as usize);
        let mut due = 0.0_f64;
        loop {
            let Reverse(free) = slots.pop().unwrap_or(Reverse(0));
            let planned = match self.load {
                Pace::Constant(rate) => {
                    let now = due;
                    due += 1e9 / rate;
                    now
                }
                Pace::Poisson(rate) => {
                    due += -(1.0 - random.unit()).ln() * 1e9 / rate;
                    due
                }
                Pace::Users(_) => free as f64,
            } as u64;
            if planned >= self.nanos {
                break;
            }
            let sent = planned.max(free);
            let kind = usize::from(random.below(2) == 1);
            if sent >= self.nanos {
                ledger.unsent(kind, self.nanos - planned);
                slots.push(Reverse(free));
                continue;
            }
            let Reverse(idle) = cores.pop().unwrap_or(Reverse(0));
            let done = self.done_at(sent.max(idle), self.work.draw(&mut random));
            cores.push(Reverse(done));
            slots.push(Reverse(done));
            ledger.sent(kind, planned, sent, done, self.nanos);
        }
        self.outcome(ledger)
    }

    fn users(&self) -> usize {
        match self.load {
            Pace::Users(users) => users as usize,
            _ => self.slots.max(1),
        }
    }

    /// When work of `nanos` that begins at `from` is done, with the times of standing still.
    fn done_at(&self, from: u64, nanos: u64) -> u64 {
        let mut done = from + nanos;
        for &(at, length) in &self.freezes {
            if from < at + length && done > at {
                done += at + length - from.max(at);
            }
        }
        done
    }

    fn outcome(&self, ledger: Ledger) -> Outcome {
        let load = match self.load {
            Pace::Constant(rate) => Load::Open { arrivals: "constant".into(), rate, nanos: self.nanos },
            Pace::Poisson(rate) => Load::Open { arrivals: "poisson".into(), rate, nanos: self.nanos },
            Pace::Users(threads) => Load::Closed { threads, nanos: self.nanos },
        };
        let event = |&(at, length): &(u64, u64)| Event {
            at_nanos: at,
            text: format!("the server stood still for {:.1} s", length as f64 / 1e9),
        };
        Outcome {
            format: FORMAT,
            command: ["basalt", "stress", "run", "simulated"].map(str::to_owned).to_vec(),
            setting: setting(),
            workload: "simulated".to_owned(),
            seed: self.seed,
            load,
            counts: ledger.counts,
            elapsed_nanos: ledger.ended.max(1),
            kinds: ledger.kinds,
            intervals: intervals(ledger.intervals),
            client: client(self.seed),
            server: None,
            events: self.freezes.iter().map(event).collect(),
            verified: None,
            invalid: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Work {
    fn draw(self, random: &mut Random) -> u64 {
        match self {
            Work::Exponential(mean) => (-(1.0 - random.unit()).ln() * mean) as u64,
            Work::LogNormal(median, sigma) => (median * (sigma * normal(random)).exp()) as u64,
        }
    }
}

impl Ledger {
    fn new(intervals: usize) -> Ledger {
        let kind = |name: &str| KindOutcome {
            name: name.to_owned(),
            counts: Counts::default(),
            response: Latency::default(),
            service: Latency::default(),
            wait: Latency::default(),
            failed: Latency::default(),
            errors: BTreeMap::new(),
        };
        Ledger {
            counts: Counts::default(),
            kinds: vec![kind("read"), kind("insert")],
            intervals: vec![(Latency::default(), Latency::default()); intervals],
            ended: 0,
        }
    }

    fn unsent(&mut self, kind: usize, age: u64) {
        for counts in [&mut self.counts, &mut self.kinds[kind].counts] {
            counts.planned += 1;
            counts.unsent += 1;
        }
        self.record(kind, age, None, u64::MAX);
    }

    fn sent(&mut self, kind: usize, planned: u64, sent: u64, done: u64, end: u64) {
        let answered = done <= end + PATIENCE_NANOS;
        for counts in [&mut self.counts, &mut self.kinds[kind].counts] {
            counts.planned += 1;
            counts.sent += 1;
            *(if answered { &mut counts.answered } else { &mut counts.in_flight }) += 1;
        }
        let until = if answered { done } else { end };
        self.ended = self.ended.max(until);
        self.kinds[kind].wait.record(sent - planned);
        self.record(kind, until - planned, answered.then_some(done - sent), until);
    }

    fn record(&mut self, kind: usize, response: u64, service: Option<u64>, at: u64) {
        let last = self.intervals.len() - 1;
        let interval = ((at / INTERVAL_NANOS) as usize).min(last);
        self.kinds[kind].response.record(response);
        self.intervals[interval].0.record(response);
        if let Some(service) = service {
            self.kinds[kind].service.record(service);
            self.intervals[interval].1.record(service);
        }
    }
}

/// A number of the standard normal distribution.
pub fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = ((1.0 - random.unit()).ln(), random.unit());
    (-2.0 * radius).sqrt() * (std::f64::consts::TAU * angle).cos()
}

fn intervals(latencies: Vec<(Latency, Latency)>) -> Vec<Interval> {
    let interval = |(index, (response, service)): (usize, (Latency, Latency))| Interval {
        start_nanos: index as u64 * INTERVAL_NANOS,
        nanos: INTERVAL_NANOS,
        response: Packed::from(&response),
        service: Packed::from(&service),
        failed: 0,
        hiccup_max_nanos: 60_000 + (index as u64 * 7919) % 50_000,
    };
    latencies.into_iter().enumerate().map(interval).collect()
}

fn setting() -> Setting {
    let named =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Setting {
        started_micros: 1_767_225_600_000_000,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: named(&[("kernel", "none"), ("processor", "pretend"), ("cores", "4")]),
        targets: vec!["simulated".to_owned()],
        server: named(&[("release_version", "simulated")]),
        client: named(&[("connections", "16"), ("consistency", "LOCAL_ONE")]),
    }
}

fn client(seed: u64) -> Client {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut few = |median: f64| {
        let mut latency = Latency::default();
        (0..2000).for_each(|_| latency.record(Work::LogNormal(median, 0.4).draw(&mut random)));
        latency
    };
    Client {
        hiccups: few(60_000.0),
        control_hiccups: few(55_000.0),
        send_lag: few(9_000.0),
        cpu_nanos: 3_000_000_000,
        run_queue_nanos: 20_000_000,
        workers: 2,
        verdict: Verdict::Ok,
        reason: "its own delays stay below a tenth of what was measured".to_owned(),
    }
}

/// Twenty seconds at 500/s in which the server stands still for three: what a tool that omits the
/// wait would not see.
pub fn stall() -> Outcome {
    let healthy = Simulated::healthy(1, 500.0, 20);
    Simulated {
        slots: 4,
        freezes: vec![(8_000_000_000, 3_000_000_000)],
        load: Pace::Constant(500.0),
        ..healthy
    }
    .run()
}

#[cfg(test)]
mod tests {
    //! The pretend server against what theory says of it.
    use super::*;

    #[test]
    fn a_stall_is_in_the_response_times_and_hardly_in_the_service_times() {
        let outcome = stall();
        let (response, service) = (outcome.response(), outcome.service());
        assert!((2_600_000_000..3_100_000_000).contains(&response.at(0.99)), "{}", response.at(0.99));
        assert!(service.at(0.99) < 100_000_000, "{}", service.at(0.99));
        assert!(outcome.counts.add_up());
        assert_eq!((outcome.counts.planned, outcome.intervals.len()), (10_000, 20));
    }

    #[test]
    fn a_stall_across_the_end_is_counted_at_its_age() {
        let mut server = Simulated::healthy(1, 500.0, 20);
        (server.slots, server.freezes) = (4, vec![(17_500_000_000, 6_000_000_000)]);
        let outcome = server.run();
        assert!(outcome.counts.add_up());
        assert_eq!(outcome.counts.in_flight, 4);
        assert!(outcome.counts.unsent > 1000, "{:?}", outcome.counts);
        assert!(outcome.response().at(0.95) > 1_000_000_000);
    }

    #[test]
    fn one_core_with_exponential_work_is_the_queue_of_the_textbook() {
        // M/M/1: response times are exponential with rate (capacity - load).
        let mut server = Simulated::healthy(3, 800.0, 200);
        (server.cores, server.slots, server.work) = (1, 100_000, Work::Exponential(1e6));
        let p99 = server.run().response().at(0.99) as f64 / 1e6;
        let theory = 100.0_f64.ln() / (1.0 - 0.8);
        assert!((p99 / theory - 1.0).abs() < 0.15, "{p99} ms, in theory {theory} ms");
    }
}
