//! Series of runs that look for something: rates and threads one after the other, shares of a
//! maximum, the highest rate that keeps an agreement. They see runs through [`Probe`] only.

mod bounded;
mod judge;
mod sla;
mod sustain;
mod sweep;
mod text;

pub use bounded::{Bounded, bounded};
pub use judge::{Fault, Judgement, Ruling, judge};
pub use sla::{Clause, Sla, SlaError};
pub use sustain::{Step, Sustain, Sustained, sustain};
pub use sweep::{parse_list, sweep};
pub use text::answer;

use crate::outcome::Outcome;

/// Runs against one server with one workload.
pub trait Probe {
    /// Runs once.
    ///
    /// # Errors
    /// When there is nothing to judge, as when no connection is made; in words for the user.
    fn run(&mut self, trial: &Trial) -> Result<Outcome, String>;

    /// Waits, within bounds, until what earlier runs left behind is worked off.
    ///
    /// # Errors
    /// When it is not worked off in time; in words for the user.
    fn drain(&mut self) -> Result<(), String>;
}

/// One run of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What is asked of the server.
    pub load: Asked,
    /// How long, nanoseconds.
    pub nanos: u64,
    /// What the run is for: `bisection`.
    pub label: &'static str,
}

/// What a run asks of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// So many requests a second, by the plan.
    Rate(f64),
    /// As many as these users get answered: service time only.
    Threads(u32),
}

#[cfg(test)]
mod tests;
