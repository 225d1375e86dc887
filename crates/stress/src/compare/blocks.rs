//! How exact a ratio of percentiles is: runs are drawn again, and in each run blocks of intervals,
//! so long that one block says little of the next; the percentiles of what was drawn spread as
//! those of new runs would.

use std::collections::BTreeMap;

use crate::outcome::Outcome;
use crate::random::Random;

/// Times that groups are drawn again.
const DRAWS: usize = 400;

/// Blocks of a run at most; longer runs have longer blocks.
const BLOCKS_MAX: usize = 60;

/// A block: places in the list of values, with how often each was seen.
type Block = Vec<(u32, u32)>;

/// A run as blocks.
type Run = Vec<Block>;

/// Both groups over one list of values.
struct Groups {
    /// Every value seen, growing.
    values: Vec<u64>,
    before: Vec<Run>,
    after: Vec<Run>,
}

/// For each of `quantiles`, the ratio of the second group's to the first's: the bounds that hold 19
/// times of 20.
pub fn resample(
    before: &[Outcome],
    after: &[Outcome],
    is_response: bool,
    quantiles: &[f64],
    random: &mut Random,
) -> Vec<(f64, f64)> {
    let groups = Groups::of(before, after, is_response);
    let mut ratios: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); quantiles.len()];
    for _ in 0..DRAWS {
        let first = draw(&groups.before, &groups.values, quantiles, random);
        let second = draw(&groups.after, &groups.values, quantiles, random);
        for (ratios, (first, second)) in ratios.iter_mut().zip(first.iter().zip(second)) {
            ratios.push((second - first).exp());
        }
    }
    ratios.into_iter().map(bounds).collect()
}

impl Groups {
    fn of(before: &[Outcome], after: &[Outcome], is_response: bool) -> Groups {
        let runs = |outcomes: &[Outcome]| -> Vec<Vec<BTreeMap<u64, u32>>> {
            outcomes.iter().map(|outcome| blocks(outcome, is_response)).collect()
        };
        let (before, after) = (runs(before), runs(after));
        let mut values: Vec<u64> =
            before.iter().chain(&after).flatten().flat_map(|block| block.keys().copied()).collect();
        values.sort_unstable();
        values.dedup();
        let place = |value: &u64| values.binary_search(value).unwrap_or(0) as u32;
        let packed = |runs: Vec<Vec<BTreeMap<u64, u32>>>| -> Vec<Run> {
            let block = |block: BTreeMap<u64, u32>| {
                block.iter().map(|(value, count)| (place(value), *count)).collect()
            };
            runs.into_iter().map(|run| run.into_iter().map(block).collect()).collect()
        };
        let (before, after) = (packed(before), packed(after));
        Groups { values, before, after }
    }
}

/// A run's intervals, taken together until neighbours say little of each other.
fn blocks(outcome: &Outcome, is_response: bool) -> Vec<BTreeMap<u64, u32>> {
    let latencies: Vec<_> = outcome
        .intervals
        .iter()
        .map(|interval| if is_response { interval.response.unpack() } else { interval.service.unpack() })
        .filter(|latency| latency.count() > 0)
        .collect();
    let means: Vec<f64> = latencies.iter().map(|latency| latency.0.mean().ln()).collect();
    let each = block_length(&means).max(latencies.len().div_ceil(BLOCKS_MAX));
    latencies
        .chunks(each.max(1))
        .map(|chunk| {
            let mut block = BTreeMap::new();
            for latency in chunk {
                for step in latency.0.iter_recorded() {
                    // A percent is exact enough for the width of an interval, and much less to add.
                    let value = coarse(step.value_iterated_to());
                    *block.entry(value).or_insert(0) +=
                        step.count_at_value().min(u64::from(u32::MAX / 2)) as u32;
                }
            }
            block
        })
        .collect()
}

/// A value to seven bits.
fn coarse(value: u64) -> u64 {
    let drop = (64 - value.leading_zeros()).saturating_sub(7);
    (value >> drop) << drop
}

/// Twice the distance at which intervals are no longer alike (autocorrelation below a fifth), and at
/// most a fifth of the run.
fn block_length(means: &[f64]) -> usize {
    let count = means.len();
    let middle = means.iter().sum::<f64>() / count.max(1) as f64;
    let squares: f64 = means.iter().map(|mean| (mean - middle).powi(2)).sum();
    let longest = (count / 5).max(1);
    if squares <= f64::EPSILON {
        return 1;
    }
    let alike = |lag: usize| {
        let products: f64 = means.iter().zip(&means[lag..]).map(|(a, b)| (a - middle) * (b - middle)).sum();
        products / squares
    };
    let apart = (1..=longest).find(|lag| alike(*lag) < 0.2).unwrap_or(longest);
    if apart <= 1 { 1 } else { (2 * apart).min(longest) }
}

/// Draws a group again: the mean over drawn runs of the logarithms of their percentiles.
fn draw(runs: &[Run], values: &[u64], quantiles: &[f64], random: &mut Random) -> Vec<f64> {
    let mut sums = vec![0.0; quantiles.len()];
    let mut counts = vec![0_u64; values.len()];
    for _ in runs {
        let run = &runs[random.below(runs.len() as u64) as usize];
        counts.iter_mut().for_each(|count| *count = 0);
        let mut total = 0_u64;
        for _ in run {
            for (place, count) in &run[random.below(run.len() as u64) as usize] {
                counts[*place as usize] += u64::from(*count);
                total += u64::from(*count);
            }
        }
        for (sum, quantile) in sums.iter_mut().zip(quantiles) {
            *sum += (percentile(&counts, values, total, *quantile).max(1) as f64).ln() / runs.len() as f64;
        }
    }
    sums
}

fn percentile(counts: &[u64], values: &[u64], total: u64, quantile: f64) -> u64 {
    let wanted = (quantile * total as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    for (count, value) in counts.iter().zip(values) {
        below += count;
        if below >= wanted {
            return *value;
        }
    }
    values.last().copied().unwrap_or(1)
}

fn bounds(mut ratios: Vec<f64>) -> (f64, f64) {
    ratios.sort_by(f64::total_cmp);
    let at =
        |part: f64| ratios.get(((ratios.len() - 1) as f64 * part).round() as usize).copied().unwrap_or(1.0);
    (at(0.025), at(0.975))
}

#[cfg(test)]
mod tests {
    //! Blocks grow with what neighbours have in common.
    use super::*;

    #[test]
    fn alike_neighbours_make_long_blocks() {
        let mut random = Random::new(7);
        let alone: Vec<f64> = (0..100).map(|_| random.unit()).collect();
        assert_eq!(block_length(&alone), 1);
        let waves: Vec<f64> = (0..100).map(|place| (f64::from(place) / 6.0).sin()).collect();
        assert!((10..=20).contains(&block_length(&waves)), "{}", block_length(&waves));
        assert_eq!((block_length(&[]), block_length(&[1.0; 50])), (1, 1));
    }

    #[test]
    fn values_are_kept_to_a_percent() {
        for value in [1, 100, 127, 12_345, 999_999_999] {
            let kept = coarse(value);
            assert!(kept <= value && (value - kept) as f64 <= value as f64 / 64.0, "{value} {kept}");
        }
    }
}
