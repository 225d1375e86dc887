//! A straight line of a rate over time, and when the sum under it reaches a value, exactly.

use super::units::Rate;

/// One request, in the units in which sums are kept: half of 10^-18, so that the sum under a
/// straight line between two [`Rate`]s is a whole number.
pub(super) const ONE: u128 = 2_000_000_000_000_000_000;

/// The longest segment that is not level, nanoseconds: its products fit 128 bits at any rate.
pub(super) const SLOPE_NANOS_MAX: u64 = 10_000_000_000;

/// A stretch of a plan over which the rate changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it begins, nanoseconds from the start of the run.
    pub start_nanos: u64,
    /// How long it is.
    pub nanos: u64,
    /// The rate at its begin.
    pub from: Rate,
    /// The rate at its end.
    pub to: Rate,
}

impl Segment {
    /// Requests in it, in units of half of 10^-18.
    pub(super) fn area(&self) -> u128 {
        (u128::from(self.from.0) + u128::from(self.to.0)) * u128::from(self.nanos)
    }

    /// The first nanosecond from its start at which the sum is at least `sum`, which is below its
    /// area.
    pub(super) fn reaches(&self, sum: u128) -> u64 {
        if self.from == self.to {
            // Not a level of 0: its area is 0, and no sum is below that.
            return sum.div_ceil(2 * u128::from(self.from.0).max(1)) as u64;
        }
        let enough = |nanos: u64| self.scaled_sum(nanos) >= (sum * u128::from(self.nanos)).cast_signed();
        let mut nanos = self.estimate(sum).min(self.nanos);
        let mut step = 1;
        while !enough(nanos) && nanos < self.nanos {
            nanos = (nanos + step).min(self.nanos);
            step *= 2;
        }
        // The answer is at or below `nanos`: gallop down, then halve.
        let mut high = nanos;
        let mut low = high;
        step = 1;
        while low > 0 && enough(low) {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        if enough(low) {
            return low;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// The sum after `nanos`, times the segment's length.
    fn scaled_sum(&self, nanos: u64) -> i128 {
        let nanos = i128::from(nanos);
        let slope = i128::from(self.to.0) - i128::from(self.from.0);
        2 * i128::from(self.from.0) * i128::from(self.nanos) * nanos + slope * nanos * nanos
    }

    /// About when, a few nanoseconds off at most.
    fn estimate(&self, sum: u128) -> u64 {
        let from = self.from.0 as f64;
        let slope = (self.to.0 as f64 - from) / self.nanos as f64;
        // sum = 2 from t + slope t^2, solved in the form that loses no digits for small slopes.
        let root = (from * from + slope * sum as f64).max(0.0).sqrt();
        (sum as f64 / (from + root)).max(0.0) as u64
    }
}
