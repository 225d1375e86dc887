//! Values to places on an axis, and where its labels stand.

use crate::report::words;

/// How an axis stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten.
    Log,
    /// Quantiles by `1 / (1 - p)`: 90 %, 99 % and 99.9 % are as far apart.
    Percentile,
}

/// A label of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub at: f64,
    /// How it is called.
    pub label: String,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// How it stretches.
    pub scale: Scale,
    /// Its first value.
    pub low: f64,
    /// Its last value.
    pub high: f64,
    /// What it is of.
    pub title: String,
    /// Its labels.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// An even one from 0, with some four labels.
    pub fn linear(high: f64, title: &str, label: impl Fn(f64) -> String) -> Axis {
        let high = if high > 0.0 && high.is_finite() { high } else { 1.0 };
        Axis::stepped(high, nice(high / 4.0, &[1.0, 2.0, 2.5, 5.0, 10.0]), title, label)
    }

    /// An even one from 0 for bytes: its steps are round in powers of 1024.
    pub fn bytes(high: f64, label: impl Fn(f64) -> String) -> Axis {
        let high = if high > 0.0 && high.is_finite() { high } else { 1.0 };
        let unit = 1024_f64.powf(high.max(1.0).log(1024.0).floor());
        Axis::stepped(high, nice(high / unit / 4.0, &[1.0, 2.0, 2.5, 5.0, 10.0]) * unit, "", label)
    }

    fn stepped(high: f64, step: f64, title: &str, label: impl Fn(f64) -> String) -> Axis {
        let last = (high / step - 1e-9).ceil().max(1.0) as u32;
        let ticks = (0..=last).map(|place| f64::from(place) * step);
        let ticks = ticks.map(|at| Tick { at, label: label(at) }).collect();
        Axis { scale: Scale::Linear, low: 0.0, high: step * f64::from(last), title: title.to_owned(), ticks }
    }

    /// An even one whose last value is given: time.
    pub fn time(seconds: f64) -> Axis {
        let seconds = seconds.max(1.0);
        let (unit, name) = match seconds {
            x if x > 3.0 * 3600.0 => (3600.0, "hours"),
            x if x > 600.0 => (60.0, "minutes"),
            _ => (1.0, "seconds"),
        };
        let step = nice(seconds / unit / 8.0, &[1.0, 2.0, 5.0, 10.0]) * unit;
        let ticks = (0..=(seconds / step) as u32).map(|place| f64::from(place) * step);
        let ticks = ticks.map(|at| Tick { at, label: words::digits(at / unit) }).collect();
        Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: seconds,
            title: format!("{name} since the start"),
            ticks,
        }
    }

    /// Nanoseconds by powers of ten, around `low..=high`.
    pub fn latency(low: u64, high: u64) -> Axis {
        let first = (low.max(100) as f64).log10().floor();
        let last = (high.max(1000) as f64).log10();
        // A step of 1, 2 or 5 above the highest, so that the top is not empty.
        let round = [1.0_f64, 2.0, 5.0, 10.0].map(|part| last.floor() + part.log10());
        let over = round.into_iter().find(|at| *at >= last - 1e-9);
        let last = over.unwrap_or(last.ceil()).max(first + 1.0);
        let decades = (first as i32..=last.ceil() as i32).map(|power| 10_f64.powi(power));
        let fine = last - first < 2.5;
        let ticks = decades
            .flat_map(|decade| if fine { vec![decade, 2.0 * decade, 5.0 * decade] } else { vec![decade] })
            .filter(|at| at.log10() >= first - 1e-9 && at.log10() <= last + 1e-9)
            .map(|at| Tick { at, label: words::duration(at.round() as u64) })
            .collect();
        Axis {
            scale: Scale::Log,
            low: 10_f64.powf(first),
            high: 10_f64.powf(last),
            title: String::new(),
            ticks,
        }
    }

    /// Quantiles up to what `samples` can say: the last is the one that a single sample exceeds.
    pub fn percentiles(samples: u64) -> Axis {
        let high = 1.0 - 1.0 / (samples.max(20) as f64);
        let nines = (1..=9).map(|nines| 1.0 - 10_f64.powi(-nines)).filter(|at| *at <= high);
        let ticks = [0.0, 0.5].into_iter().chain(nines);
        let label = |at: f64| format!("{} %", words::percentile(at).trim_start_matches('p'));
        let ticks = ticks.map(|at| Tick { at, label: label(at) }).collect();
        let title = "share of requests answered within".to_owned();
        Axis { scale: Scale::Percentile, low: 0.0, high, title, ticks }
    }

    /// Where a value is, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let (low, at, high) = (self.warp(self.low), self.warp(value), self.warp(self.high));
        let place = (at - low) / (high - low);
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether a value lies on it.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    fn warp(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(self.low.min(1.0)).log10(),
            Scale::Percentile => -(1.0 - value.min(1.0 - 1e-12)).log10(),
        }
    }
}

/// The next of some parts of a power of ten.
fn nice(step: f64, parts: &[f64]) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    parts.iter().map(|part| part * power).find(|at| *at >= step * 0.999).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    //! Labels and places of each scale.
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn labels_are_round() {
        assert_eq!(labels(&Axis::linear(37_000.0, "", words::short)), ["0", "10 K", "20 K", "30 K", "40 K"]);
        let bytes =
            Axis::bytes(1.4 * 1024.0 * 1024.0 * 1024.0, |value| crate::server::Unit::Bytes.words(value));
        assert_eq!(labels(&bytes), ["0 B", "512 MiB", "1 GiB", "1.5 GiB"]);
        assert_eq!(labels(&Axis::time(600.0)), ["0", "100", "200", "300", "400", "500", "600"]);
        assert_eq!(labels(&Axis::time(3600.0)), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(
            labels(&Axis::latency(300_000, 2_900_000_000)),
            ["100 us", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(labels(&Axis::latency(300_000, 4_000_000)).first(), Some(&"100 us"));
        assert_eq!(labels(&Axis::percentiles(20_000)), ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }

    #[test]
    fn nines_are_as_far_apart() {
        let axis = Axis::percentiles(1_000_000);
        let (one, two, three) = (axis.place(0.9), axis.place(0.99), axis.place(0.999));
        assert!((two - one - (three - two)).abs() < 1e-9);
        assert_eq!((axis.place(0.0), axis.place(1.0)), (0.0, 1.0));
    }

    #[test]
    fn strange_values_have_a_place() {
        for axis in [
            Axis::linear(0.0, "", words::short),
            Axis::linear(f64::NAN, "", words::short),
            Axis::latency(0, 0),
        ] {
            for value in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
                assert!((0.0..=1.0).contains(&axis.place(value)));
            }
        }
    }
}
