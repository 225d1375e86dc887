//! Values of which the recent ones count most (`DecayingEstimatedHistogramReservoir`), and a rate of five minutes (the `Meter`
//! that Cassandra's timers hold). A fixed number of bytes each; time comes from outside, in steps of [`STEP_NANOS`].

/// A step: how often rates are brought up to date (`Meter.TICK_INTERVAL`).
pub const STEP_NANOS: u64 = 5_000_000_000;
const STEP_S: f64 = 5.0;

/// After so many steps a value counts half as much: 60 s (`HALF_TIME_IN_S`).
const STEPS_PER_HALF: u64 = 12;

/// Weights double so often before everything is scaled down: half an hour (`LANDMARK_RESET_INTERVAL_IN_NS`). 2^30 times what one
/// minute can bring stays far below 2^64.
const HALVES_MAX: u64 = 30;

/// Four buckets for each power of two, up to 2^28: a value is known to a quarter, or better.
const BUCKETS: usize = 108;
const VALUE_MAX: u64 = (1 << 28) - 1;

fn bucket_of(value: u64) -> usize {
    let value = value.min(VALUE_MAX);
    if value < 4 {
        return value as usize;
    }
    let top = u64::from(63 - value.leading_zeros());
    (((top - 1) << 2) | ((value >> (top - 2)) & 3)) as usize
}

/// The largest value of a bucket.
fn largest_of(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let width_bits = (bucket >> 2) - 1;
    ((5 + (bucket as u64 & 3)) << width_bits) - 1
}

/// Values since the start, weighed by age.
#[derive(Clone)]
pub struct Reservoir {
    count: u64,
    /// When weights were 1, in halves.
    landmark: u64,
    weights: [u64; BUCKETS],
}

impl Reservoir {
    /// Empty, at this step.
    pub fn new(step: u64) -> Reservoir {
        Reservoir { count: 0, landmark: step / STEPS_PER_HALF, weights: [0; BUCKETS] }
    }

    /// Counts a value.
    pub fn record(&mut self, value: u64, step: u64) {
        let half = step / STEPS_PER_HALF;
        if half.saturating_sub(self.landmark) > HALVES_MAX {
            let shift = u32::try_from(half - self.landmark).unwrap_or(u32::MAX);
            for weight in &mut self.weights {
                *weight = weight.checked_shr(shift).unwrap_or(0);
            }
            self.landmark = half;
        }
        self.count += 1;
        if let Some(weight) = self.weights.get_mut(bucket_of(value)) {
            *weight = weight.saturating_add(1 << half.saturating_sub(self.landmark));
        }
    }
}

/// A rate: what was counted in a step flows into it with the step's end.
#[derive(Clone, Copy, Default)]
pub struct Meter {
    step: u64,
    uncounted: u64,
    per_second: Option<f64>,
}

impl Meter {
    /// Of nothing, at this step.
    pub fn new(step: u64) -> Meter {
        Meter { step, ..Meter::default() }
    }

    /// Counts one.
    pub fn mark(&mut self, step: u64) {
        if step > self.step {
            *self = self.at(step);
        }
        self.uncounted += 1;
    }

    /// Brought up to date.
    fn at(self, step: u64) -> Meter {
        let passed = step.saturating_sub(self.step);
        if passed == 0 {
            return self;
        }
        // `EWMA.fiveMinuteEWMA`.
        let alpha = 1.0 - (-STEP_S / 300.0).exp();
        let now = self.uncounted as f64 / STEP_S;
        let first = self.per_second.map_or(now, |rate| rate + alpha * (now - rate));
        let rest = i32::try_from(passed - 1).unwrap_or(i32::MAX);
        Meter { step, uncounted: 0, per_second: Some(first * (1.0 - alpha).powi(rest)) }
    }

    /// Events a second.
    pub fn per_second(self, step: u64) -> f64 {
        self.at(step).per_second.unwrap_or(0.0)
    }
}

/// Several reservoirs together, as they are seen at one moment.
pub struct Snapshot {
    /// Values since the start.
    pub count: u64,
    weights: [f64; BUCKETS],
}

impl Default for Snapshot {
    fn default() -> Snapshot {
        Snapshot { count: 0, weights: [0.0; BUCKETS] }
    }
}

impl Snapshot {
    /// Adds one.
    pub fn add(&mut self, reservoir: &Reservoir) {
        self.count += reservoir.count;
        // Any moment will do, if it is the same for all.
        let scale = (reservoir.landmark as f64).exp2();
        for (sum, weight) in self.weights.iter_mut().zip(&reservoir.weights) {
            *sum += *weight as f64 * scale;
        }
    }

    /// The value that so large a part does not exceed; 0 of nothing.
    pub fn quantile(&self, part: f64) -> u64 {
        let wanted = self.weights.iter().sum::<f64>() * part;
        let mut sum = 0.0;
        for (bucket, weight) in self.weights.iter().enumerate() {
            sum += weight;
            if *weight > 0.0 && sum >= wanted {
                return largest_of(bucket);
            }
        }
        self.max()
    }

    /// The largest value that still counts.
    pub fn max(&self) -> u64 {
        self.weights.iter().rposition(|weight| *weight > 0.0).map_or(0, largest_of)
    }
}

#[cfg(test)]
mod tests {
    //! Buckets have no gaps; old values fade, the count does not.
    use super::*;

    #[test]
    fn every_value_is_in_one_bucket_and_near_its_largest() {
        let mut end = 0;
        for bucket in 0..BUCKETS {
            for value in [end, largest_of(bucket)] {
                assert_eq!(bucket_of(value), bucket, "{value}");
            }
            assert!(largest_of(bucket) - end <= end / 4, "bucket {bucket}");
            end = largest_of(bucket) + 1;
        }
        assert_eq!(end, VALUE_MAX + 1);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    fn seen(reservoir: &Reservoir) -> (u64, u64, u64, u64) {
        let mut snapshot = Snapshot::default();
        snapshot.add(reservoir);
        (snapshot.count, snapshot.quantile(0.5), snapshot.quantile(0.99), snapshot.max())
    }

    #[test]
    fn quantiles_are_of_all_values_while_they_are_new() {
        let mut reservoir = Reservoir::new(7);
        assert_eq!(seen(&reservoir), (0, 0, 0, 0));
        (1..=100).for_each(|value| reservoir.record(value, 7));
        assert_eq!(seen(&reservoir), (100, 55, 111, 111));
        let mut two = Snapshot::default();
        two.add(&reservoir);
        two.add(&reservoir);
        assert_eq!((two.count, two.quantile(0.5)), (200, 55));
    }

    #[test]
    fn old_values_fade_and_are_gone_in_the_end() {
        let mut reservoir = Reservoir::new(0);
        (0..10).for_each(|_| reservoir.record(1_000, 0));
        // Ten minutes later one value weighs as much as a thousand of then.
        reservoir.record(1, 10 * STEPS_PER_HALF);
        assert_eq!(seen(&reservoir).1, 1);
        assert!(seen(&reservoir).3 >= 1_000, "still there");
        reservoir.record(1, 100 * STEPS_PER_HALF);
        assert_eq!(seen(&reservoir), (12, 1, 1, 1));
    }

    #[test]
    fn rates_rise_and_fall_in_minutes() {
        let mut meter = Meter::new(3);
        (0..500).for_each(|_| meter.mark(3));
        assert!(meter.per_second(3).abs() < f64::EPSILON, "the step is not over");
        assert!((meter.per_second(4) - 100.0).abs() < 0.001);
        // After five minutes of nothing a part of 1/e is left.
        assert!((meter.per_second(4 + 60) - 100.0 / std::f64::consts::E).abs() < 0.1);
        assert!(meter.per_second(u64::MAX) < 0.001);
    }
}
