//! The distributions of whole numbers that cassandra-stress's profiles name: `uniform(1..10)`,
//! `~exp(1..1M)`, `gaussian(1..100,5)`. A draw follows from a seed alone, so that the same column of the
//! same row has the same value whoever asks.

mod parse;
mod zipfian;

pub use parse::ParseError;
pub use zipfian::Zipfian;

use crate::random::{Random, mix};

/// A distribution over a range of whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    shape: Shape,
    min: i64,
    max: i64,
    /// `~`: the range upside down.
    is_inverted: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Fixed,
    Uniform,
    /// One after the other, beginning where the seed says, round and round.
    Sequence,
    Exponential {
        mean: f64,
    },
    /// Extreme values (Weibull).
    Extreme {
        shape: f64,
        scale: f64,
    },
    /// As extreme, in equally likely parts, each of them uniform.
    Quantized {
        shape: f64,
        scale: f64,
        parts: u32,
    },
    Gaussian {
        mean: f64,
        deviation: f64,
    },
}

impl Distribution {
    /// Always the same.
    pub const fn fixed(value: i64) -> Distribution {
        Distribution { shape: Shape::Fixed, min: value, max: value, is_inverted: false }
    }

    /// Each number of the range as often.
    pub const fn uniform(min: i64, max: i64) -> Distribution {
        Distribution { shape: Shape::Uniform, min, max, is_inverted: false }
    }

    /// The least that is drawn.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The most that is drawn.
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Draw `number` of those that belong to a seed. `salt` keeps columns apart that share seeds.
    pub fn draw(&self, salt: u64, seed: u64, number: u64) -> i64 {
        let drawn = match self.shape {
            Shape::Fixed => self.min,
            Shape::Sequence => self.min + (seed.wrapping_add(number) % self.count()) as i64,
            _ => self.draw_from(&mut Random::new(mix(mix(salt ^ mix(seed)) ^ number))),
        };
        // The range is at most i64's, so that turning it around stays inside.
        if self.is_inverted { self.max - (drawn - self.min) } else { drawn }
    }

    /// How many numbers the range has; the parser keeps it below 2^63.
    fn count(&self) -> u64 {
        (self.max - self.min) as u64 + 1
    }

    fn draw_from(&self, random: &mut Random) -> i64 {
        let span = (self.max - self.min) as f64;
        // The other end of [0, 1), whose logarithm is finite.
        let unit = 1.0 - random.unit();
        let offset = match self.shape {
            Shape::Fixed | Shape::Sequence => 0.0,
            Shape::Uniform => return self.min + random.below(self.count()) as i64,
            Shape::Exponential { mean } => -unit.ln() * mean,
            Shape::Extreme { shape, scale } => weibull(unit, shape, scale),
            Shape::Quantized { shape, scale, parts } => {
                let part = random.below(u64::from(parts)) as f64;
                let bound = |part: f64| match 1.0 - part / f64::from(parts) {
                    left if left > 0.0 => weibull(left, shape, scale).min(span).floor(),
                    _ => span + 1.0,
                };
                let (from, to) = (bound(part), bound(part + 1.0));
                from + (unit * (to - from)).max(0.0).floor()
            }
            Shape::Gaussian { mean, deviation } => {
                let angle = std::f64::consts::TAU * random.unit();
                mean - self.min as f64 + deviation * (-2.0 * unit.ln()).sqrt() * angle.cos()
            }
        };
        // What falls outside counts as the nearest end, as in cassandra-stress.
        self.min + offset.clamp(0.0, span) as i64
    }
}

/// The value above which `left` of all values lie.
fn weibull(left: f64, shape: f64, scale: f64) -> f64 {
    scale * (-left.ln()).powf(1.0 / shape)
}

/// A distribution divided by a number: `uniform(1..10)/10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    distribution: Distribution,
    divisor: f64,
}

impl Ratio {
    /// Always all.
    pub const ONE: Ratio = Ratio { distribution: Distribution::fixed(1), divisor: 1.0 };

    /// The most that is drawn.
    pub fn max(&self) -> f64 {
        self.distribution.max() as f64 / self.divisor
    }

    /// As [`Distribution::draw`].
    pub fn draw(&self, salt: u64, seed: u64, number: u64) -> f64 {
        self.distribution.draw(salt, seed, number) as f64 / self.divisor
    }
}

#[cfg(test)]
mod tests;
