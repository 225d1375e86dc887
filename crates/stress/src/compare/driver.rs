//! Two servers or settings in turns, so that what changes with time (a warm disk, a busy neighbour)
//! falls on both alike.

use crate::outcome::Outcome;
use crate::search::{Probe, Trial};

/// Runs `trial` on both, `rounds` times: A B B A, A B B A and so on. `told` hears of each run, with
/// whether it was the second's.
///
/// # Errors
/// When a run cannot be made.
pub fn interleaved(
    first: &mut dyn Probe,
    second: &mut dyn Probe,
    trial: &Trial,
    rounds: usize,
    told: &mut dyn FnMut(bool, &Outcome),
) -> Result<(Vec<Outcome>, Vec<Outcome>), String> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let order = if round % 2 == 0 { [false, true] } else { [true, false] };
        for is_second in order {
            let probe: &mut dyn Probe = if is_second { &mut *second } else { &mut *first };
            let outcome = probe.run(trial)?;
            probe.drain()?;
            told(is_second, &outcome);
            (if is_second { &mut after } else { &mut before }).push(outcome);
        }
    }
    Ok((before, after))
}
