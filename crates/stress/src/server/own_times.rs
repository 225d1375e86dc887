//! How long requests took by the server's own clock: counts up to bounds, as its page of metrics has them, and the
//! percentiles between two pages. Knows no page.

use serde::{Deserialize, Serialize};

/// Percentiles that are kept.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Bounds of a histogram at most.
const BOUNDS_MAX: usize = 1_000;

/// What one of the server's clocks saw of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnTimes {
    /// Which clock: `response` from the arrival of a request's bytes to its answer's last byte, `service` from its beginning
    /// to its result.
    pub clock: String,
    /// Requests it saw.
    pub requests: u64,
    /// Percentiles, nanoseconds: as exact as the server's buckets.
    pub quantiles: Vec<(f64, u64)>,
}

/// How many requests took at most so long, for growing bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Bounds in nanoseconds, the last one without end, and the requests up to each.
    counts: Vec<(u64, f64)>,
}

impl Buckets {
    /// Adds requests that took at most so many seconds.
    pub fn add(&mut self, seconds: f64, count: f64) {
        // Beyond any number of nanoseconds stands for no end.
        let nanos = (seconds * 1e9).round() as u64;
        match self.counts.binary_search_by_key(&nanos, |(bound, _)| *bound) {
            Ok(place) => self.counts[place].1 += count,
            Err(place) if self.counts.len() < BOUNDS_MAX => self.counts.insert(place, (nanos, count)),
            Err(_) => {}
        }
    }

    /// Whether there are no bounds.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// What came since `before`; everything, when the server started anew meanwhile.
    pub fn since(&self, before: &Buckets) -> Buckets {
        let is_same = before.counts.len() == self.counts.len()
            && before.counts.iter().zip(&self.counts).all(|(then, now)| then.0 == now.0 && then.1 <= now.1);
        if !is_same {
            return self.clone();
        }
        let grown = before.counts.iter().zip(&self.counts).map(|(then, now)| (now.0, now.1 - then.1));
        Buckets { counts: grown.collect() }
    }

    fn requests(&self) -> f64 {
        self.counts.last().map_or(0.0, |(_, count)| *count)
    }

    /// What a part of the requests did not exceed, nanoseconds: evenly between a bucket's bounds. `None` of no requests.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let all = self.requests();
        if all < 1.0 {
            return None;
        }
        let (mut from, mut below) = (0_u64, 0.0);
        for (bound, count) in &self.counts {
            if *count >= all * part && *count > below {
                // Of what is beyond the last bound that has an end, that is all that is known.
                let width = if *bound == u64::MAX { 0 } else { bound - from };
                let share = ((all * part - below) / (count - below)).clamp(0.0, 1.0);
                return Some(from + (width as f64 * share) as u64);
            }
            (from, below) = (*bound, *count);
        }
        Some(from)
    }
}

impl OwnTimes {
    /// Of the requests in these buckets; `None` when there are none.
    pub fn of(clock: &str, buckets: &Buckets) -> Option<OwnTimes> {
        let quantiles = QUANTILES.iter().map(|part| Some((*part, buckets.quantile(*part)?)));
        let requests = buckets.requests() as u64;
        Some(OwnTimes { clock: clock.to_owned(), requests, quantiles: quantiles.collect::<Option<_>>()? })
    }

    /// A percentile of those kept.
    pub fn at(&self, quantile: f64) -> Option<u64> {
        self.quantiles.iter().find(|(part, _)| (part - quantile).abs() < 1e-9).map(|(_, nanos)| *nanos)
    }
}

#[cfg(test)]
mod tests {
    //! Percentiles between two pages.
    use super::*;

    fn buckets(counts: &[(f64, f64)]) -> Buckets {
        let mut buckets = Buckets::default();
        counts.iter().for_each(|(seconds, count)| buckets.add(*seconds, *count));
        buckets
    }

    #[test]
    fn percentiles_lie_between_bounds() {
        let seen = buckets(&[(0.002, 90.0), (0.001, 50.0), (f64::INFINITY, 100.0)]);
        assert_eq!(seen.quantile(0.25), Some(500_000));
        assert_eq!(seen.quantile(0.5), Some(1_000_000));
        assert_eq!(seen.quantile(0.7), Some(1_500_000));
        assert_eq!(seen.quantile(0.99), Some(2_000_000), "more is not known");
        assert_eq!(buckets(&[(0.001, 0.0), (f64::INFINITY, 0.0)]).quantile(0.5), None);
    }

    #[test]
    fn what_came_before_does_not_count() {
        let before = buckets(&[(0.001, 1_000.0), (0.1, 1_000.0), (f64::INFINITY, 1_000.0)]);
        let after = buckets(&[(0.001, 1_000.0), (0.1, 1_100.0), (f64::INFINITY, 1_100.0)]);
        let times = OwnTimes::of("response", &after.since(&before)).unwrap();
        assert_eq!((times.requests, times.at(0.5)), (100, Some(50_500_000)));
        assert_eq!(OwnTimes::of("response", &after.since(&after)), None);
        // A server that was started anew counts from 0.
        assert_eq!(before.since(&after), before);
    }

    #[test]
    fn kinds_are_added_up_and_bounds_are_bounded() {
        let mut seen = buckets(&[(0.001, 1.0), (0.001, 2.0)]);
        assert_eq!(seen.requests(), 3.0);
        (0..5_000).for_each(|at| seen.add(f64::from(at), 1.0));
        assert_eq!(seen.counts.len(), BOUNDS_MAX);
    }
}
