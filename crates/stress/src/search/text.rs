//! What a search found, in sentences. Knows nothing of how it was found.

use super::{Fault, Sla, Sustained};
use crate::outcome::Verdict;
use crate::report::words;

/// The answer in sentences.
pub fn answer(found: &Sustained, sla: &Sla) -> Vec<String> {
    let rate = |rate: f64| format!("{}/s", words::count(rate.round() as u64));
    let mut lines = match (found.rate, found.broken_at) {
        (Some(kept), Some(broken)) => vec![
            format!("{} is sustained with {sla}; {} is not", rate(kept), rate(broken)),
            format!("what binds at {}: {}", rate(broken), found.binding),
        ],
        (Some(kept), None) => vec![format!("{} is sustained with {sla}; {}", rate(kept), found.binding)],
        (None, _) => vec![format!("no rate was found that sustains {sla}: {}", found.binding)],
    };
    let faults = [
        (Fault::Client, "it was the client that could not"),
        (Fault::Run, "a run does not show what was asked"),
    ];
    for (fault, told) in faults {
        if let Some(step) = found.steps.iter().find(|step| step.judgement.fault == Some(fault)) {
            lines.push(format!("at {} {told}: {}", rate(step.rate), step.judgement.binding));
        }
    }
    let runs = || found.steps.iter().flat_map(|step| &step.outcomes);
    let suspect = runs().filter(|outcome| outcome.client.verdict == Verdict::Suspect).count();
    if suspect > 0 {
        let of = words::plural(runs().count() as u64, "run");
        lines.push(format!("in {suspect} of {of} the client's own delays show: the answer may be too low"));
    }
    lines.extend(found.notes.iter().cloned());
    lines
}
