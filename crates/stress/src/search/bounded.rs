//! Bounded throughput, as the APM benchmark has it: the largest throughput first, then response
//! times at shares of it.

use super::{Asked, Probe, Trial, sweep};
use crate::outcome::Outcome;

/// Shares of the maximum, in percent.
const SHARES: [f64; 6] = [50.0, 60.0, 70.0, 80.0, 90.0, 100.0];

/// A maximum and its shares.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The run that found the maximum: users that wait for their answers.
    pub maximum: Outcome,
    /// A run each at 50 to 100 % of it, by a plan.
    pub shares: Vec<Outcome>,
}

/// Finds the maximum with `threads` users and runs its shares. `told` hears of each run.
///
/// # Errors
/// When a run cannot be made, or no request was answered.
pub fn bounded(
    probe: &mut dyn Probe,
    threads: u32,
    nanos: u64,
    told: &mut dyn FnMut(&Outcome),
) -> Result<Bounded, String> {
    let maximum = probe.run(&Trial { load: Asked::Threads(threads), nanos, label: "maximum" })?;
    told(&maximum);
    probe.drain()?;
    let rate = maximum.rate();
    if rate < 1.0 {
        return Err("no request was answered: there is no maximum to take shares of".to_owned());
    }
    let loads: Vec<Asked> = SHARES.iter().map(|share| Asked::Rate(rate * share / 100.0)).collect();
    let shares = sweep(probe, &loads, nanos, told)?;
    Ok(Bounded { maximum, shares })
}
