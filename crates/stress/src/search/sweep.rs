//! The same run at several rates, or with several numbers of users.

use super::{Asked, Probe, Trial};
use crate::outcome::Outcome;

/// Runs of a series at most.
const RUNS_MAX: usize = 100;

/// Runs each load in turn, waiting in between until the last is worked off. `told` hears of each.
///
/// # Errors
/// When a run cannot be made.
pub fn sweep(
    probe: &mut dyn Probe,
    loads: &[Asked],
    nanos: u64,
    told: &mut dyn FnMut(&Outcome),
) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Vec::new();
    for load in loads {
        let outcome = probe.run(&Trial { load: *load, nanos, label: "sweep" })?;
        told(&outcome);
        outcomes.push(outcome);
        probe.drain()?;
    }
    Ok(outcomes)
}

/// Reads `2K,5K,10K`, `8..260` (doubling, with the last) or `10K..80K+10K`.
///
/// # Errors
/// When it is none of these, in words for the user.
pub fn parse_list(text: &str) -> Result<Vec<u64>, String> {
    let wrong = || format!("{text:?} is no list: write it as 2K,5K,10K or 8..260 or 10K..80K+10K");
    let mut list = Vec::new();
    for part in text.split(',') {
        let Some((from, to)) = part.split_once("..") else {
            list.push(parse_number(part).ok_or_else(wrong)?);
            continue;
        };
        let (to, step) = match to.split_once('+') {
            Some((to, step)) => (to, Some(parse_number(step).ok_or_else(wrong)?)),
            None => (to, None),
        };
        let (mut at, to) = (parse_number(from).ok_or_else(wrong)?, parse_number(to).ok_or_else(wrong)?);
        while at < to && list.len() < RUNS_MAX {
            list.push(at);
            at = step.map_or(at.saturating_mul(2), |step| at.saturating_add(step));
        }
        list.push(to);
    }
    if list.len() > RUNS_MAX { Err(format!("{text:?} asks for more than {RUNS_MAX} runs")) } else { Ok(list) }
}

fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, factor) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1000),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|number| *number > 0)
}
