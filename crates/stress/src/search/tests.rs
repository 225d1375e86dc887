//! Searches over pretend servers whose answer is known.
use super::*;
use crate::outcome::Verdict;
use crate::simulation::{Pace, Simulated, Work};

/// Second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// A queue of the textbook (M/M/1), with a seed that moves on with each run.
struct Textbook {
    seed: u64,
    /// Requests a second that it can do.
    capacity: f64,
    /// After a rate above this, it is slower by a tenth, for good.
    hurt_above: f64,
    is_hurt: bool,
    runs: Vec<Trial>,
    drains: usize,
}

impl Textbook {
    fn new(seed: u64, capacity: f64) -> Textbook {
        Textbook { seed, capacity, hurt_above: f64::INFINITY, is_hurt: false, runs: Vec::new(), drains: 0 }
    }
}

impl Probe for Textbook {
    fn run(&mut self, trial: &Trial) -> Result<Outcome, String> {
        self.runs.push(trial.clone());
        let load = match trial.load {
            Asked::Rate(rate) => Pace::Poisson(rate),
            Asked::Threads(users) => Pace::Users(users),
        };
        let capacity = if self.is_hurt { self.capacity * 0.9 } else { self.capacity };
        self.is_hurt |= matches!(trial.load, Asked::Rate(rate) if rate > self.hurt_above);
        let mut server = Simulated::healthy(self.seed.wrapping_mul(31) + self.runs.len() as u64, 1.0, 1);
        (server.load, server.nanos, server.cores, server.slots) = (load, trial.nanos, 1, 1 << 16);
        server.work = Work::Exponential(1e9 / capacity);
        Ok(server.run())
    }

    fn drain(&mut self) -> Result<(), String> {
        self.drains += 1;
        Ok(())
    }
}

fn settings(sla: &str) -> Sustain {
    Sustain {
        sla: Sla::parse(sla).unwrap(),
        errors_max: 1e-4,
        first_rate: 50.0,
        rate_max: 1e6,
        bracket: 1.02,
        probe_nanos: 20 * SECOND,
        probe_nanos_max: 160 * SECOND,
        soak_nanos: 200 * SECOND,
    }
}

#[test]
fn the_textbook_says_what_is_sustained_and_three_searches_agree() {
    // M/M/1: p99 = ln(100) / (capacity - rate), so p99 < 20 ms holds up to 1000 - 230 a second.
    let theory = 1000.0 - 100.0_f64.ln() / 0.020;
    let rates: Vec<f64> = (1..=3)
        .map(|seed| {
            let mut probe = Textbook::new(seed, 1000.0);
            let found = sustain(&mut probe, &settings("p99<20ms"), &mut |_| {}).unwrap();
            assert_eq!(probe.drains, probe.runs.len());
            assert!(found.binding.starts_with("p99 < 20 ms: it is"), "{}", found.binding);
            let (rate, broken) = (found.rate.unwrap(), found.broken_at.unwrap());
            assert!(broken > rate && broken / rate < 1.1, "{rate} to {broken}");
            rate
        })
        .collect();
    assert!(rates.iter().all(|rate| (rate / theory - 1.0).abs() < 0.07), "{rates:?}, in theory {theory}");
    let (least, most) =
        (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
    assert!(most / least < 1.05, "{rates:?}");
}

#[test]
fn the_clause_that_binds_is_named() {
    let mut probe = Textbook::new(1, 1000.0);
    // p90 = ln(10) / (1000 - r) < 8 ms up to 712/s; p99 < 100 ms would hold up to 954/s.
    let settings = Sustain { soak_nanos: 0, ..settings("p99<100ms,p90<8ms") };
    let found = sustain(&mut probe, &settings, &mut |_| {}).unwrap();
    assert!(found.binding.starts_with("p90 < 8 ms"), "{}", found.binding);
    assert!((650.0..760.0).contains(&found.rate.unwrap()), "{:?}", found.rate);
}

#[test]
fn a_server_that_high_load_hurts_is_found_out_by_the_second_look() {
    let mut probe = Textbook { hurt_above: 900.0, ..Textbook::new(1, 1000.0) };
    let found =
        sustain(&mut probe, &Sustain { first_rate: 700.0, ..settings("p99<20ms") }, &mut |_| {}).unwrap();
    // Hurt, it sustains 900 - 230: below what it would have without the probe at 1400.
    assert!((590.0..700.0).contains(&found.rate.unwrap()), "{:?} {:?}", found.rate, found.notes);
}

#[test]
fn a_promise_that_nothing_keeps_has_no_answer_and_one_that_all_keep_ends_at_the_limit() {
    let mut probe = Textbook::new(1, 1000.0);
    let never =
        sustain(&mut probe, &Sustain { probe_nanos_max: 40 * SECOND, ..settings("p50<1us") }, &mut |_| {});
    let never = never.unwrap();
    assert_eq!(never.rate, None);
    assert!(never.binding.starts_with("p50 < 1 us: it is "), "{}", never.binding);
    // A second has too few requests for a percentile at this rate, and half of it fewer still.
    let short = Sustain { probe_nanos: SECOND, probe_nanos_max: SECOND, ..settings("p99<1s") };
    let unknown = sustain(&mut Textbook::new(1, 1000.0), &short, &mut |_| {}).unwrap();
    assert_eq!(unknown.rate, None);
    assert!(
        unknown.binding.ends_with("too few requests to tell, longer runs have more"),
        "{}",
        unknown.binding
    );
    let always = Sustain { rate_max: 400.0, soak_nanos: 0, ..settings("p99<1s") };
    let found = sustain(&mut Textbook::new(1, 1000.0), &always, &mut |_| {}).unwrap();
    assert_eq!((found.rate, found.broken_at), (Some(400.0), None));
    assert_eq!(found.binding, "none broke: 400/s is the highest rate tried");
}

#[test]
fn too_short_a_run_is_run_longer() {
    let mut probe = Textbook::new(1, 1000.0);
    let mut labels = Vec::new();
    let settings = Sustain { rate_max: 50.0, soak_nanos: 0, ..settings("p99<100ms") };
    sustain(&mut probe, &settings, &mut |step| labels.push((step.label, step.outcomes.len()))).unwrap();
    // 50 a second for 20 s is a thousand samples, of which ten may be slow: at the edge of known.
    assert_eq!(labels[0].0, "doubling");
    assert_eq!(probe.runs[0].nanos, 20 * SECOND);
}

#[test]
fn what_is_no_fault_of_the_figures_is_named() {
    let mut outcome = Simulated::healthy(1, 200.0, 10).run();
    let sla = Sla::parse("p99<1s").unwrap();
    assert_eq!(judge(&[outcome.clone()], &sla, 0.0).ruling, Ruling::Kept);
    outcome.counts.failed = 2;
    assert!(judge(&[outcome.clone()], &sla, 0.0).binding.ends_with("of the requests failed"));
    outcome.kinds[0].errors.insert("0x1001 too many".into(), 1);
    outcome.kinds[1].errors.insert("0x1001 too many".into(), 1);
    outcome.counts.timed_out = 1;
    let judged = judge(&[outcome.clone()], &sla, 0.0);
    assert!(judged.binding.ends_with("failed, most of them: 0x1001 too many"), "{}", judged.binding);
    assert_eq!(judged.fault, None);
    outcome.counts.timed_out = 3;
    assert!(judge(&[outcome.clone()], &sla, 0.0).binding.ends_with("most of them: timed out"));
    outcome.counts.unsent = outcome.counts.planned / 10;
    assert!(judge(&[outcome.clone()], &sla, 1.0).binding.starts_with("it fell behind"));
    outcome.invalid.push("in-flight cap".into());
    outcome.invalid.push("streams".into());
    let judged = judge(&[outcome.clone()], &sla, 1.0);
    assert_eq!((judged.binding.as_str(), judged.fault), ("in-flight cap; streams", Some(Fault::Run)));
    (outcome.client.verdict, outcome.client.reason) = (Verdict::Limited, "busy".into());
    let judged = judge(&[outcome], &sla, 1.0);
    let told = "client-limited: busy; in-flight cap; streams";
    assert_eq!((judged.binding.as_str(), judged.fault), (told, Some(Fault::Client)));
}

/// A server that above a rate does what `spoil` makes of its runs.
struct Spoiled {
    inner: Textbook,
    above: f64,
    spoil: fn(&mut Outcome),
}

impl Probe for Spoiled {
    fn run(&mut self, trial: &Trial) -> Result<Outcome, String> {
        let mut outcome = self.inner.run(trial)?;
        if matches!(trial.load, Asked::Rate(rate) if rate > self.above) {
            (self.spoil)(&mut outcome);
        }
        Ok(outcome)
    }

    fn drain(&mut self) -> Result<(), String> {
        self.inner.drain()
    }
}

#[test]
fn an_answer_says_why_its_runs_were_no_good() {
    let settings = Sustain { soak_nanos: 0, first_rate: 400.0, ..settings("p99<20ms") };
    let answer_with = |spoil| {
        let mut probe = Spoiled { inner: Textbook::new(1, 1000.0), above: 600.0, spoil };
        answer(&sustain(&mut probe, &settings, &mut |_| {}).unwrap(), &settings.sla)
    };
    let capped = answer_with(|outcome| outcome.invalid.push("in-flight cap: too many".into()));
    assert!(capped[1].ends_with("/s: in-flight cap: too many"), "{capped:?}");
    assert_eq!(capped[2], "at 800/s a run does not show what was asked: in-flight cap: too many");
    assert!(!capped.concat().contains("client"), "{capped:?}");
    let slow = answer_with(|outcome| {
        (outcome.client.verdict, outcome.client.reason) = (Verdict::Limited, "a worker was busy".into());
    });
    assert_eq!(slow[2], "at 800/s it was the client that could not: client-limited: a worker was busy");
    let refused = answer_with(|outcome| {
        outcome.counts.failed = 100;
        outcome.kinds[0].errors.insert("0x1001 too many".into(), 100);
    });
    assert!(refused[1].ends_with("failed, most of them: 0x1001 too many"), "{refused:?}");
    assert_eq!(refused.len(), 2, "{refused:?}");
}

#[test]
fn slow_requests_that_come_together_decide_less() {
    // The same part of slow requests, spread evenly and in one stall.
    let even = Simulated { work: Work::LogNormal(1e6, 1.0), ..Simulated::healthy(1, 500.0, 60) }.run();
    let limit = even.response().at(0.9955);
    let sla = Sla { clauses: vec![Clause { quantile: 0.99, limit_nanos: limit }] };
    assert_eq!(judge(&[even], &sla, 1.0).ruling, Ruling::Kept);
    let stalled =
        Simulated { freezes: vec![(30 * SECOND, SECOND / 4)], ..Simulated::healthy(1, 500.0, 60) }.run();
    let limit = stalled.response().at(0.9955);
    let sla = Sla { clauses: vec![Clause { quantile: 0.99, limit_nanos: limit }] };
    assert_eq!(judge(&[stalled], &sla, 1.0).ruling, Ruling::Unsure);
}

#[test]
fn shares_of_the_maximum_are_run_by_a_plan() {
    let mut probe = Textbook::new(1, 1000.0);
    let found = bounded(&mut probe, 16, 2 * SECOND, &mut |_| {}).unwrap();
    assert!((900.0..1100.0).contains(&found.maximum.rate()));
    let asked: Vec<Asked> = probe.runs[1..].iter().map(|trial| trial.load).collect();
    let Asked::Rate(half) = asked[0] else { panic!("{asked:?}") };
    assert!((half / found.maximum.rate() - 0.5).abs() < 1e-9);
    assert_eq!((found.shares.len(), probe.drains), (6, 7));
}

#[test]
fn lists_are_read_as_written() {
    assert_eq!(parse_list("2K,5000,10k"), Ok(vec![2000, 5000, 10_000]));
    assert_eq!(parse_list("8..260"), Ok(vec![8, 16, 32, 64, 128, 256, 260]));
    assert_eq!(parse_list("10K..40K+10K"), Ok(vec![10_000, 20_000, 30_000, 40_000]));
    for wrong in ["", "0", "a", "1..", "1..5+0", "1..1000+1", "99999999999999999999"] {
        assert!(parse_list(wrong).is_err(), "{wrong}");
    }
}
