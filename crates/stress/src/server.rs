//! What the server did while a run lasted, on the run's time line. Knows nothing of the run and is
//! not part of it: what cannot be read is said, and the run goes on.

pub mod gc_log;
pub mod own_times;
pub mod process;
pub mod prometheus;
pub mod system_views;

mod http;
mod sampler;
mod words;

use serde::{Deserialize, Serialize};

pub use own_times::OwnTimes;
pub use sampler::{Recorder, Sampler, Source};
pub use words::{SourceWord, sources};

/// Samples of the server on the run's time line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Samples {
    /// What was looked at: `process 1234 (java)`.
    pub sources: Vec<String>,
    /// What was seen, in the order in which it was first seen.
    pub series: Vec<Series>,
    /// What could not be read, and why.
    pub gaps: Vec<String>,
    /// How long requests took by the server's own clock, when it tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_times: Vec<OwnTimes>,
}

/// One figure over the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What it is: `processor, user`.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Nanoseconds since the run's start, and the value then.
    pub points: Vec<(u64, f64)>,
}

/// What a series counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Processors kept busy.
    Cores,
    /// Bytes held.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Things a second.
    PerSecond,
    /// Things there are.
    Count,
    /// Nanoseconds of pause.
    Nanos,
    /// Parts of a hundred.
    Percent,
}

/// Points of a series at most; beyond, every second goes and the rest stand for twice the time.
const POINTS_MAX: usize = 8192;

impl Samples {
    /// Moves the origin of the time line to `nanos` after where it was; what was before it goes.
    pub fn starting_at(mut self, nanos: u64) -> Samples {
        for series in &mut self.series {
            series.points = series
                .points
                .iter()
                .filter_map(|(at, value)| Some((at.checked_sub(nanos)?, *value)))
                .collect();
        }
        self
    }
}

impl Series {
    /// Adds a point; one that is no number is left out.
    pub fn push(&mut self, at_nanos: u64, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.points.len() >= POINTS_MAX {
            let mut place = 0_usize;
            self.points.retain(|_| {
                place += 1;
                place.is_multiple_of(2)
            });
        }
        self.points.push((at_nanos, value));
    }

    /// Mean and largest value, when there are any.
    pub fn mean_and_max(&self) -> Option<(f64, f64)> {
        let max = self.points.iter().map(|point| point.1).reduce(f64::max)?;
        let sum: f64 = self.points.iter().map(|point| point.1).sum();
        Some((sum / self.points.len() as f64, max))
    }
}

impl Unit {
    /// A value with its unit: `1.3 GiB`, `2.1 cores`.
    pub fn words(self, value: f64) -> String {
        use crate::report::words::{digits, duration, short};
        match self {
            Unit::Cores => digits(value),
            Unit::Bytes => bytes(value),
            Unit::BytesPerSecond => format!("{}/s", bytes(value)),
            Unit::PerSecond => format!("{}/s", short(value)),
            Unit::Count => short(value),
            Unit::Nanos => duration(value.max(0.0) as u64),
            Unit::Percent => format!("{} %", digits(value)),
        }
    }
}

fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value;
    let mut unit = 0;
    while scaled.abs() >= 1023.5 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", crate::report::words::digits(scaled), units[unit])
}

#[cfg(test)]
mod tests {
    //! Series stay bounded; units read well.
    use super::*;

    #[test]
    fn a_long_series_keeps_every_second_point() {
        let mut series = Series { name: "x".into(), unit: Unit::Count, points: Vec::new() };
        (0..POINTS_MAX as u64 * 3).for_each(|at| series.push(at, at as f64));
        series.push(1, f64::NAN);
        assert!(series.points.len() <= POINTS_MAX);
        assert!(series.points.is_sorted_by_key(|point| point.0));
        assert_eq!(series.mean_and_max().map(|(_, max)| max), Some(POINTS_MAX as f64 * 3.0 - 1.0));
    }

    #[test]
    fn the_time_line_begins_with_the_run() {
        let series =
            Series { name: "x".into(), unit: Unit::Count, points: vec![(5, 1.0), (10, 2.0), (12, 3.0)] };
        let samples = Samples { series: vec![series], ..Samples::default() }.starting_at(10);
        assert_eq!(samples.series[0].points, [(0, 2.0), (2, 3.0)]);
    }

    #[test]
    fn units_read_well() {
        assert_eq!(Unit::Bytes.words(1.5 * 1024.0 * 1024.0), "1.5 MiB");
        assert_eq!(Unit::BytesPerSecond.words(12.0), "12 B/s");
        assert_eq!(Unit::Cores.words(1.25), "1.25");
        assert_eq!(Unit::Nanos.words(2_000_000.0), "2 ms");
    }
}
