//! Does a run keep an agreement? Decided by confidence bounds, not by the figure alone: requests
//! that were slow together count as few, because the next run's may be slow together again.

use std::collections::BTreeMap;

use super::{Clause, Sla};
use crate::outcome::{Outcome, Verdict};
use crate::report::{is_known, words};

/// Standard deviations of a one-sided bound that holds 19 times of 20.
const Z: f64 = 1.645;

/// Part of the planned requests that may wait at the end of a run that keeps up.
const BEHIND_MAX: f64 = 0.01;

/// Whether an agreement is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is kept, as sure as the bounds are.
    Kept,
    /// It is broken.
    Broken,
    /// They do not say.
    Unsure,
}

/// What runs say of an agreement.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The ruling over all clauses and conditions.
    pub ruling: Ruling,
    /// The clause or condition that is nearest to being broken, or furthest beyond, in words.
    pub binding: String,
    /// Why that says little of the server; `None` where it is the server's.
    pub fault: Option<Fault>,
}

/// Why a run says little of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The client could not send as planned.
    Client,
    /// It does not show what was asked, and not because the client was slow: no request more could be in flight, a file
    /// could not be written.
    Run,
}

/// Slow requests of one clause.
struct Excess {
    /// Part of the requests that were too slow, at least and at most.
    bounds: (f64, f64),
    /// How many times the allowed part it is.
    times: f64,
    ruling: Ruling,
}

/// Judges runs at one rate together.
pub fn judge(outcomes: &[Outcome], sla: &Sla, errors_max: f64) -> Judgement {
    let broken = |binding: String, fault| Judgement { ruling: Ruling::Broken, binding, fault };
    for outcome in outcomes {
        if let Some((fault, why)) = fault(outcome) {
            return broken(why, Some(fault));
        }
        let planned = outcome.counts.planned.max(1) as f64;
        let errors = (outcome.counts.failed + outcome.counts.timed_out) as f64 / planned;
        if errors > errors_max {
            let most = commonest(outcome).map(|error| format!(", most of them: {error}")).unwrap_or_default();
            let part = words::digits(errors * 100.0);
            return broken(format!("{part} % of the requests failed{most}"), None);
        }
        let behind = outcome.counts.censored() as f64 / planned;
        if behind > BEHIND_MAX {
            return broken(
                format!("it fell behind: {} % still waited at the end", words::digits(behind * 100.0)),
                None,
            );
        }
    }
    let judged: Vec<(&Clause, Excess)> =
        sla.clauses.iter().map(|clause| (clause, excess(outcomes, clause))).collect();
    let Some((clause, worst)) = judged.iter().max_by(|a, b| a.1.times.total_cmp(&b.1.times)) else {
        return broken("there is no clause".to_owned(), None);
    };
    let rulings = || judged.iter().map(|(_, excess)| excess.ruling);
    let ruling = if rulings().any(|ruling| ruling == Ruling::Broken) {
        Ruling::Broken
    } else if rulings().all(|ruling| ruling == Ruling::Kept) {
        Ruling::Kept
    } else {
        Ruling::Unsure
    };
    Judgement { ruling, binding: sentence(outcomes, clause, worst), fault: None }
}

/// Why a run says little of the server, if it does. A client that was slow may be why requests piled up, so it comes first.
fn fault(outcome: &Outcome) -> Option<(Fault, String)> {
    let mut reasons = outcome.invalid.clone();
    let fault = if outcome.client.verdict == Verdict::Limited {
        reasons.insert(0, format!("client-limited: {}", outcome.client.reason));
        Fault::Client
    } else {
        Fault::Run
    };
    (!reasons.is_empty()).then(|| (fault, reasons.join("; ")))
}

/// What most failures were.
fn commonest(outcome: &Outcome) -> Option<String> {
    let mut errors = BTreeMap::from([("timed out", outcome.counts.timed_out)]);
    for (error, number) in outcome.kinds.iter().flat_map(|kind| &kind.errors) {
        *errors.entry(error).or_default() += number;
    }
    let (error, number) = errors.into_iter().max_by_key(|(_, number)| *number)?;
    (number > 0).then(|| error.to_owned())
}

fn sentence(outcomes: &[Outcome], clause: &Clause, excess: &Excess) -> String {
    let mut response = crate::outcome::Latency::default();
    outcomes.iter().for_each(|outcome| response.add(&outcome.response()));
    if clause.quantile >= 1.0 {
        return format!("{clause}: the longest is {}", words::duration(response.0.max()));
    }
    let (low, high) = excess.bounds;
    format!(
        "{clause}: it is {}; {} % to {} % are slower, {} % may be",
        words::duration(response.at(clause.quantile)),
        words::digits(low * 100.0),
        words::digits(high * 100.0),
        words::digits((1.0 - clause.quantile) * 100.0),
    )
}

/// The part of requests slower than a clause allows, with bounds that know of their clustering.
fn excess(outcomes: &[Outcome], clause: &Clause) -> Excess {
    let pairs: Vec<(f64, f64)> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.intervals)
        .map(|interval| interval.response.unpack())
        .filter(|latency| latency.count() > 0)
        .map(|latency| (latency.above(clause.limit_nanos) as f64, latency.count() as f64))
        .collect();
    let samples: f64 = pairs.iter().map(|pair| pair.1).sum();
    let slow: f64 = pairs.iter().map(|pair| pair.0).sum();
    if samples < 1.0 {
        return Excess { bounds: (0.0, 1.0), times: 0.0, ruling: Ruling::Unsure };
    }
    if clause.quantile >= 1.0 {
        let ruling = if slow > 0.0 { Ruling::Broken } else { Ruling::Kept };
        return Excess { bounds: (0.0, 0.0), times: slow, ruling };
    }
    let part = slow / samples;
    let allowed = 1.0 - clause.quantile;
    let bounds = wilson(part, samples / clustering(&pairs, part, samples));
    let ruling = if bounds.0 > allowed {
        Ruling::Broken
    } else if bounds.1 < allowed && is_known(samples as u64, clause.quantile) {
        Ruling::Kept
    } else {
        Ruling::Unsure
    };
    Excess { bounds, times: part / allowed, ruling }
}

/// How many requests count as one, because slow ones come together: the variance between intervals
/// against that of independent requests, with what is left from one interval to the next.
fn clustering(pairs: &[(f64, f64)], part: f64, samples: f64) -> f64 {
    let count = pairs.len() as f64;
    if pairs.len() < 3 || part <= 0.0 || part >= 1.0 {
        return 1.0;
    }
    let off: Vec<f64> = pairs.iter().map(|(slow, all)| slow - part * all).collect();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    if squares <= 0.0 {
        return 1.0;
    }
    let between = squares / (samples * samples) * count / (count - 1.0);
    let alone = part * (1.0 - part) / samples;
    let neighbours: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let kept = (neighbours / squares).clamp(0.0, 0.9);
    ((between / alone) * (1.0 + kept) / (1.0 - kept)).clamp(1.0, samples)
}

/// Wilson's bounds of a part seen in so many samples.
fn wilson(part: f64, samples: f64) -> (f64, f64) {
    let z2 = Z * Z / samples;
    let middle = part + z2 / 2.0;
    let spread = Z * (part * (1.0 - part) / samples + z2 / (4.0 * samples)).sqrt();
    (((middle - spread) / (1.0 + z2)).max(0.0), ((middle + spread) / (1.0 + z2)).min(1.0))
}
