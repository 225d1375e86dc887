//! Is the difference between two groups of runs more than chance? The runs are dealt into two
//! groups in every way; the part of the ways that differ as much is the answer. And Holm's
//! correction for asking more than once.

use crate::random::Random;

/// Ways tried one by one; where there are more, as many are drawn.
const WAYS_MAX: u64 = 20_000;

/// The part of the ways of dealing in which the groups' means differ at least as much.
pub fn p_value(before: &[f64], after: &[f64], random: &mut Random) -> f64 {
    let mut all: Vec<f64> = before.iter().chain(after).copied().collect();
    let total: f64 = all.iter().sum();
    let (few, count) = (before.len(), all.len());
    let difference = |sum: f64| (sum / few as f64 - (total - sum) / (count - few) as f64).abs();
    // Sums in another order differ in their last digits.
    let seen = difference(before.iter().sum()) * (1.0 - 1e-9) - 1e-12;
    if ways(count as u64, few as u64) <= WAYS_MAX {
        let (mut as_much, mut tried) = (0_u64, 0_u64);
        each_way(&all, few, 0.0, &mut |sum| {
            tried += 1;
            as_much += u64::from(difference(sum) >= seen);
        });
        return as_much as f64 / tried as f64;
    }
    // The deal that was seen counts as one of those drawn, so that no answer is 0.
    let mut as_much = 1;
    for _ in 1..WAYS_MAX {
        for place in 0..few {
            let other = place + random.below((count - place) as u64) as usize;
            all.swap(place, other);
        }
        as_much += u64::from(difference(all[..few].iter().sum()) >= seen);
    }
    as_much as f64 / WAYS_MAX as f64
}

/// Calls `take` with the sum of every choice of `few` values.
fn each_way(values: &[f64], few: usize, sum: f64, take: &mut impl FnMut(f64)) {
    if few == 0 {
        return take(sum);
    }
    for place in 0..=values.len() - few {
        each_way(&values[place + 1..], few - 1, sum + values[place], take);
    }
}

/// How many ways there are to choose `few` of `count`; [`WAYS_MAX`] and more are as good as endless.
fn ways(count: u64, few: u64) -> u64 {
    (0..few.min(count - few))
        .fold(1, |ways: u64, place| if ways > WAYS_MAX { ways } else { ways * (count - place) / (place + 1) })
}

/// Runs of each group with which so small a chance can be found at all.
pub fn runs_for(level: f64) -> usize {
    (2..).find(|runs| 2.0 / ways(2 * runs, *runs) as f64 <= level).unwrap_or(u64::MAX) as usize
}

/// Which of some answers are significant together at `level`: the smallest must be below
/// `level / n`, the next below `level / (n - 1)`, until one is not.
pub fn holm(answers: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..answers.len()).collect();
    order.sort_by(|a, b| answers[*a].total_cmp(&answers[*b]));
    let mut significant = vec![false; answers.len()];
    for (rank, place) in order.iter().enumerate() {
        if answers[*place] > level / (answers.len() - rank) as f64 {
            break;
        }
        significant[*place] = true;
    }
    significant
}

#[cfg(test)]
mod tests {
    //! Small groups whose ways can be counted by hand.
    use super::*;

    #[test]
    fn groups_that_do_not_overlap_are_two_of_all_ways() {
        let mut random = Random::new(1);
        assert!((p_value(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0], &mut random) - 2.0 / 20.0).abs() < 1e-12);
        assert!((p_value(&[1.0, 1.0], &[1.0, 1.0], &mut random) - 1.0).abs() < 1e-12);
        assert!((p_value(&[1.0], &[2.0], &mut random) - 1.0).abs() < 1e-12);
        let few: Vec<f64> = (0..20).map(f64::from).collect();
        let more: Vec<f64> = (30..50).map(f64::from).collect();
        assert!((p_value(&few, &more, &mut random) - 1.0 / WAYS_MAX as f64).abs() < 1e-12);
    }

    #[test]
    fn five_runs_are_enough_for_five_percentiles() {
        assert_eq!((runs_for(0.05), runs_for(0.01), runs_for(0.001)), (4, 5, 7));
    }

    #[test]
    fn holm_stops_at_the_first_that_is_not() {
        assert_eq!(holm(&[0.04, 0.012, 0.02, 0.5], 0.05), [false, true, false, false]);
        assert_eq!(holm(&[0.01, 0.01, 0.02], 0.05), [true, true, true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }
}
