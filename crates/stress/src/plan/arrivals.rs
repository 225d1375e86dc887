//! Kinds of plan, as they are typed, and the lines they are made of.

use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

use super::segment::{SLOPE_NANOS_MAX, Segment};
use super::units::{Rate, parse_duration};

/// Straight lines that draw one period of a sine.
const LINES_OF_SINE: u64 = 64;

/// Most lines of a plan: a day of bursts each second.
const SEGMENTS_MAX: u64 = 200_000;

/// Why there is no such plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not a number of requests a second.
    #[error("{0:?} is not a rate: write requests a second, such as 5000, 12.5 or 40k, at most 10m")]
    NotARate(String),
    /// Not a length of time.
    #[error("{0:?} is not a length of time: write 500ms, 20s, 5m or 2h, at most 30 days")]
    NotADuration(String),
    /// Not a kind of plan.
    #[error(
        "{0:?} is no kind of arrivals: there are constant, poisson, step:N, ramp:FROM, sine:LOW/PERIOD and \
         burst:LOW/PERIOD/LENGTH, and poisson+ one of them"
    )]
    NotArrivals(String),
    /// The lower rate is above the highest.
    #[error("the rate {0} of the arrivals is above the highest rate, {1}")]
    LowAboveHigh(Rate, Rate),
    /// Bursts longer than their period.
    #[error("bursts cannot be longer than the time from one to the next")]
    BurstTooLong,
    /// Too many lines.
    #[error("such a plan has too many parts: make it shorter, or its period longer")]
    TooManyParts,
}

/// How the rate goes over time; the highest is the run's `--rate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Always the highest.
    Constant,
    /// This many stairs of equal length and height, up to the highest.
    Step(u64),
    /// Evenly from this rate to the highest.
    Ramp(Rate),
    /// Between this rate and the highest, which comes once a period.
    Sine {
        /// The lowest rate.
        low: Rate,
        /// From one highest rate to the next, nanoseconds.
        period_nanos: u64,
    },
    /// The highest for some time at the end of each period, else this rate.
    Burst {
        /// The rate between bursts.
        low: Rate,
        /// From one burst to the next, nanoseconds.
        period_nanos: u64,
        /// How long a burst is, nanoseconds.
        burst_nanos: u64,
    },
}

/// A kind of plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// How the rate goes.
    pub shape: Shape,
    /// Whether requests come at random, as those of many independent users do, or evenly.
    pub is_poisson: bool,
}

impl Arrivals {
    /// Evenly, at one rate.
    pub const CONSTANT: Arrivals = Arrivals { shape: Shape::Constant, is_poisson: false };
}

impl FromStr for Arrivals {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Arrivals, PlanError> {
        let (is_poisson, shape) = match text.strip_prefix("poisson") {
            None => (false, text),
            Some("") => (true, "constant"),
            Some(rest) => (true, rest.strip_prefix('+').unwrap_or("")),
        };
        let (name, values) = shape.split_once(':').unwrap_or((shape, ""));
        let values: Vec<&str> = values.split('/').collect();
        let shape = match (name, &values[..]) {
            ("constant", [""]) => Shape::Constant,
            ("step", [stairs]) => match stairs.parse() {
                Ok(stairs) if stairs > 0 => Shape::Step(stairs),
                _ => return Err(PlanError::NotArrivals(text.to_owned())),
            },
            ("ramp", [from]) => Shape::Ramp(low(from)?),
            ("sine", [rate, period]) => {
                Shape::Sine { low: low(rate)?, period_nanos: parse_duration(period)? }
            }
            ("burst", [rate, period, burst]) => Shape::Burst {
                low: low(rate)?,
                period_nanos: parse_duration(period)?,
                burst_nanos: parse_duration(burst)?,
            },
            _ => return Err(PlanError::NotArrivals(text.to_owned())),
        };
        Ok(Arrivals { shape, is_poisson })
    }
}

/// The lower rate may be nothing.
fn low(text: &str) -> Result<Rate, PlanError> {
    if text == "0" { Ok(Rate(0)) } else { text.parse() }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |nanos: &u64| *nanos as f64 / 1e9;
        match (&self.shape, self.is_poisson) {
            (Shape::Constant, true) => return f.write_str("poisson"),
            (_, true) => f.write_str("poisson+")?,
            (_, false) => {}
        }
        match &self.shape {
            Shape::Constant => f.write_str("constant"),
            Shape::Step(stairs) => write!(f, "step:{stairs}"),
            Shape::Ramp(from) => write!(f, "ramp:{from}"),
            Shape::Sine { low, period_nanos } => write!(f, "sine:{low}/{}s", seconds(period_nanos)),
            Shape::Burst { low, period_nanos, burst_nanos } => {
                write!(f, "burst:{low}/{}s/{}s", seconds(period_nanos), seconds(burst_nanos))
            }
        }
    }
}

impl Shape {
    /// The lines of this shape with `high` as the highest rate.
    pub(super) fn segments(&self, high: Rate, nanos: u64) -> Result<Vec<Segment>, PlanError> {
        let mut lines = Lines { segments: Vec::new(), nanos };
        match *self {
            Shape::Constant => lines.level(nanos, high)?,
            Shape::Step(stairs) => {
                for stair in 1..=stairs {
                    let end = part(nanos, stair, stairs);
                    lines.level(end - lines.end(), Rate(part(high.0, stair, stairs)))?;
                }
            }
            Shape::Ramp(from) => {
                check(from, high)?;
                lines.slope(nanos, from, high)?;
            }
            Shape::Sine { low, period_nanos } => {
                check(low, high)?;
                lines.sine(low, high, period_nanos)?;
            }
            Shape::Burst { low, period_nanos, burst_nanos } => {
                check(low, high)?;
                let quiet = period_nanos.checked_sub(burst_nanos).ok_or(PlanError::BurstTooLong)?;
                while lines.end() < nanos {
                    lines.level(quiet, low)?;
                    lines.level(burst_nanos, high)?;
                }
            }
        }
        Ok(lines.segments)
    }
}

fn check(low: Rate, high: Rate) -> Result<(), PlanError> {
    if low > high { Err(PlanError::LowAboveHigh(low, high)) } else { Ok(()) }
}

/// `whole * number / of`.
fn part(whole: u64, number: u64, of: u64) -> u64 {
    (u128::from(whole) * u128::from(number) / u128::from(of.max(1))) as u64
}

/// Lines being put together, up to a length.
struct Lines {
    segments: Vec<Segment>,
    nanos: u64,
}

impl Lines {
    fn end(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.start_nanos + last.nanos)
    }

    fn level(&mut self, nanos: u64, rate: Rate) -> Result<(), PlanError> {
        let nanos = nanos.min(self.nanos - self.end());
        self.push(nanos, rate, rate)
    }

    /// From one rate to another, cut into parts whose products fit their numbers, and off at the end.
    fn slope(&mut self, nanos: u64, from: Rate, to: Rate) -> Result<(), PlanError> {
        let left = self.nanos - self.end();
        let parts = nanos.div_ceil(SLOPE_NANOS_MAX).max(1);
        let rate_at = |at: u64| {
            let (from, to) = (i128::from(from.0), i128::from(to.0));
            Rate((from + (to - from) * i128::from(at) / i128::from(nanos.max(1))) as u64)
        };
        let mut at = 0;
        for number in 1..=parts {
            let end = part(nanos, number, parts).min(left);
            if end > at {
                self.push(end - at, rate_at(at), rate_at(end))?;
            }
            at = at.max(end);
        }
        Ok(())
    }

    fn sine(&mut self, low: Rate, high: Rate, period_nanos: u64) -> Result<(), PlanError> {
        let swing = (high.0 - low.0) as f64;
        // It begins at the lowest rate.
        let rate_at = |line: u64| {
            let phase = line as f64 / LINES_OF_SINE as f64 * TAU;
            Rate((low.0 + (swing * (1.0 - phase.cos()) / 2.0) as u64).min(high.0))
        };
        let mut period = 0;
        while self.end() < self.nanos {
            for line in 0..LINES_OF_SINE {
                let end = period + part(period_nanos, line + 1, LINES_OF_SINE);
                if self.end() < self.nanos && end > self.end() {
                    self.slope(end - self.end(), rate_at(line), rate_at(line + 1))?;
                }
            }
            period += period_nanos;
        }
        Ok(())
    }

    fn push(&mut self, nanos: u64, from: Rate, to: Rate) -> Result<(), PlanError> {
        if self.segments.len() as u64 >= SEGMENTS_MAX {
            return Err(PlanError::TooManyParts);
        }
        if nanos > 0 {
            self.segments.push(Segment { start_nanos: self.end(), nanos, from, to });
        }
        Ok(())
    }
}
