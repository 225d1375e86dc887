//! When requests are meant to start: one plan for all connections, in exact arithmetic, so that a
//! rate does not drift however long the run. Knows nothing of the server.
//!
//! A plan is a rate over time, made of straight lines ([`Segment`]), and positions on the sum under
//! it: request `i` is due at the first nanosecond at which the sum has reached its position. Even
//! arrivals stand at the whole numbers, Poisson arrivals at random distances whose mean is one.

mod arrivals;
mod segment;
mod units;

use std::sync::Arc;

pub use arrivals::{Arrivals, PlanError, Shape};
pub use segment::Segment;
pub use units::{Rate, parse_duration};

use crate::random::Random;
use segment::ONE;

/// Intended start times.
#[derive(Clone, Debug)]
pub struct Plan {
    segments: Arc<[Segment]>,
    nanos: u64,
    /// The seed of random arrivals.
    poisson: Option<u64>,
}

/// Marks the random numbers of arrivals off from those of the requests of the same seed.
const ARRIVALS: u64 = 0xa4_4132;

impl Plan {
    /// A plan of these arrivals with `rate` as the highest rate, `nanos` long.
    ///
    /// # Errors
    /// When the shape does not fit the rate or the length.
    pub fn new(arrivals: &Arrivals, rate: Rate, nanos: u64, seed: u64) -> Result<Plan, PlanError> {
        let segments = arrivals.shape.segments(rate, nanos)?;
        Ok(Plan { segments: segments.into(), nanos, poisson: arrivals.is_poisson.then_some(seed) })
    }

    /// Its length: no request is due later, nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.nanos
    }

    /// All moments, in order.
    pub fn times(&self) -> Times {
        let mut times = Times {
            segments: Arc::clone(&self.segments),
            at: 0,
            base: 0,
            position: 0,
            index: 0,
            random: self.poisson.map(|seed| Random::at(seed, ARRIVALS)),
        };
        // An even plan begins at once, a random one with a random gap.
        if times.random.is_some() {
            times.advance();
        }
        times
    }

    /// How many requests it has.
    pub fn count(&self) -> u64 {
        if self.poisson.is_some() {
            return self.times().count() as u64;
        }
        let total: u128 = self.segments.iter().map(Segment::area).sum();
        u64::try_from(total.div_ceil(ONE)).unwrap_or(u64::MAX)
    }

    /// Mean requests a second.
    pub fn mean_rate(&self) -> f64 {
        let total: u128 = self.segments.iter().map(Segment::area).sum();
        total as f64 / ONE as f64 / (self.nanos.max(1) as f64 / 1e9)
    }
}

/// A request of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its place in the plan.
    pub index: u64,
    /// When it is due, nanoseconds from the start of the run.
    pub nanos: u64,
}

/// The moments of a plan, in order.
#[derive(Clone, Debug)]
pub struct Times {
    segments: Arc<[Segment]>,
    /// The segment in which the last moment was.
    at: usize,
    /// The sum before it.
    base: u128,
    /// The next request's.
    position: u128,
    index: u64,
    random: Option<Random>,
}

impl Times {
    fn advance(&mut self) {
        self.position += match &mut self.random {
            None => ONE,
            // An exponential distance. 1 - unit() is never 0, so it is finite.
            Some(random) => (-(1.0 - random.unit()).ln() * ONE as f64) as u128,
        };
    }
}

impl Iterator for Times {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        loop {
            let segment = self.segments.get(self.at)?;
            let area = segment.area();
            if self.position < self.base + area {
                let nanos = segment.start_nanos + segment.reaches(self.position - self.base);
                let due = Due { index: self.index, nanos };
                self.index += 1;
                self.advance();
                return Some(due);
            }
            self.base += area;
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
