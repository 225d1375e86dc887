//! Two groups of runs: is one slower, and by how much? Runs differ from each other even when nothing
//! changed, so that only differences between runs decide; what happens within a run says how exact a
//! percentile is. Knows outcomes only.

mod blocks;
mod driver;
mod permutation;
mod text;

use crate::outcome::Outcome;
use crate::random::Random;
use crate::report::is_known;

pub use driver::interleaved;
pub use text::text;

/// The percentiles compared.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// Chance of calling one of the percentiles different when none is.
pub const LEVEL: f64 = 0.05;

/// A difference below this is of no matter; intervals inside it say "the same".
const MATTERS: f64 = 0.05;

/// Runs of a group at most.
const RUNS_MAX: usize = 64;

/// What a comparison says.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Runs of the first group.
    pub before_runs: usize,
    /// Runs of the second.
    pub after_runs: usize,
    /// Whether response times were compared; service times otherwise.
    pub is_response: bool,
    /// By percentile.
    pub rows: Vec<Row>,
    /// What makes the groups hard to compare, in words.
    pub warnings: Vec<String>,
}

/// What is said of one percentile.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub quantile: f64,
    /// What is said.
    pub finding: Finding,
}

/// What is said of a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// Too few requests in the smallest run.
    TooFew {
        /// How many it has.
        samples: u64,
    },
    /// Figures, and what they mean.
    Compared {
        /// Geometric mean of the first group's runs, nanoseconds.
        before: f64,
        /// Of the second's.
        after: f64,
        /// After over before, at least and at most, 19 times of 20.
        ratio: (f64, f64),
        /// Chance of such a difference between runs of one kind, before Holm's correction.
        p: f64,
        /// What it means.
        meaning: Meaning,
    },
}

/// What a difference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The second group is slower.
    Slower,
    /// The second group is faster.
    Faster,
    /// No difference that matters.
    Same,
    /// These runs do not say; about so many more of each group would.
    CannotTell {
        /// How many.
        more_runs: usize,
    },
}

/// Why there is nothing to compare.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A group is empty.
    #[error("each group needs a run")]
    Empty,
    /// A group is too large.
    #[error("a group has {0} runs; up to {RUNS_MAX} are compared")]
    TooMany(usize),
    /// One has response times, the other has none.
    #[error("runs by a plan and runs of a closed loop cannot be compared")]
    Mixed,
}

/// Compares two groups of runs. The same `seed` gives the same answer.
///
/// # Errors
/// When the groups cannot be compared at all.
pub fn compare(before: &[Outcome], after: &[Outcome], seed: u64) -> Result<Comparison, CompareError> {
    if before.is_empty() || after.is_empty() {
        return Err(CompareError::Empty);
    }
    let most = before.len().max(after.len());
    if most > RUNS_MAX {
        return Err(CompareError::TooMany(most));
    }
    let is_response = before[0].is_open();
    if before.iter().chain(after).any(|outcome| outcome.is_open() != is_response) {
        return Err(CompareError::Mixed);
    }
    let mut random = Random::new(seed);
    let known = |quantile: f64| -> Result<(), u64> {
        let counts = before.iter().chain(after).map(|outcome| samples(outcome, is_response));
        let least = counts.min().unwrap_or(0);
        if is_known(least, quantile) { Ok(()) } else { Err(least) }
    };
    let shown: Vec<f64> = QUANTILES.into_iter().filter(|quantile| known(*quantile).is_ok()).collect();
    let resampled = blocks::resample(before, after, is_response, &shown, &mut random);
    let figures: Vec<Figures> = shown
        .iter()
        .zip(resampled)
        .map(|(&quantile, ratio)| Figures::of(before, after, is_response, quantile, ratio, &mut random))
        .collect();
    let significant = permutation::holm(&figures.iter().map(|figures| figures.p).collect::<Vec<_>>(), LEVEL);
    let mut compared = figures.iter().zip(significant);
    let rows = QUANTILES
        .into_iter()
        .map(|quantile| {
            let finding = match known(quantile) {
                Err(samples) => Finding::TooFew { samples },
                Ok(()) => compared.next().map_or(Finding::TooFew { samples: 0 }, |(figures, significant)| {
                    figures.finding(significant, shown.len())
                }),
            };
            Row { quantile, finding }
        })
        .collect();
    let warnings = warnings(before, after);
    Ok(Comparison { before_runs: before.len(), after_runs: after.len(), is_response, rows, warnings })
}

fn samples(outcome: &Outcome, is_response: bool) -> u64 {
    let count = |kind: &crate::outcome::KindOutcome| {
        if is_response { kind.response.count() } else { kind.service.count() }
    };
    outcome.kinds.iter().map(count).sum()
}

/// One percentile of both groups.
struct Figures {
    /// Logarithms of the runs' percentiles.
    before: Vec<f64>,
    after: Vec<f64>,
    ratio: (f64, f64),
    p: f64,
}

impl Figures {
    fn of(
        before: &[Outcome],
        after: &[Outcome],
        is_response: bool,
        quantile: f64,
        ratio: (f64, f64),
        random: &mut Random,
    ) -> Figures {
        let logs = |outcomes: &[Outcome]| -> Vec<f64> {
            let figure = |outcome: &Outcome| if is_response { outcome.response() } else { outcome.service() };
            outcomes.iter().map(|outcome| (figure(outcome).at(quantile).max(1) as f64).ln()).collect()
        };
        let (before, after) = (logs(before), logs(after));
        let p = permutation::p_value(&before, &after, random);
        Figures { before, after, ratio, p }
    }

    fn finding(&self, is_significant: bool, shown: usize) -> Finding {
        let (before, after) = (mean(&self.before), mean(&self.after));
        let meaning = if is_significant {
            if after > before { Meaning::Slower } else { Meaning::Faster }
        } else if self.ratio.0 > 1.0 - MATTERS && self.ratio.1 < 1.0 + MATTERS {
            Meaning::Same
        } else {
            Meaning::CannotTell { more_runs: self.more_runs(shown) }
        };
        Finding::Compared { before: before.exp(), after: after.exp(), ratio: self.ratio, p: self.p, meaning }
    }

    /// How many more runs of each group would decide: whether the difference seen is one, or, when
    /// it is too small to matter, that it is none that does.
    fn more_runs(&self, shown: usize) -> usize {
        let runs = self.before.len().min(self.after.len());
        let noise = variance(&self.before) + variance(&self.after);
        let seen = (mean(&self.after) - mean(&self.before)).abs();
        let wanted = if seen > MATTERS { seen } else { (MATTERS - seen).max(MATTERS / 2.0) };
        // Two-sided 5 % shared by the percentiles shown, found 8 times of 10.
        let by_noise = (2.6 + 0.84_f64).powi(2) * noise / (wanted * wanted);
        let enough = permutation::runs_for(LEVEL / shown.max(1) as f64);
        (by_noise.ceil() as usize).clamp(enough.max(runs + 1), 1000) - runs
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of one run nothing is known: a tenth is assumed.
fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.01;
    }
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

fn warnings(before: &[Outcome], after: &[Outcome]) -> Vec<String> {
    let mut warnings = Vec::new();
    let all = || before.iter().chain(after);
    let differ = |what: &dyn Fn(&Outcome) -> String| all().any(|outcome| what(outcome) != what(&before[0]));
    if differ(&|outcome| outcome.workload.clone()) {
        warnings.push("the runs have different workloads".to_owned());
    }
    if differ(&|outcome| format!("{:?}", outcome.load)) {
        warnings.push("the runs have different loads".to_owned());
    }
    if differ(&|outcome| format!("{:?}", outcome.setting.host)) {
        warnings.push("the runs were made on different hosts".to_owned());
    }
    let unfit = all()
        .filter(|outcome| crate::report::Standing::of(outcome) > crate::report::Standing::Degraded)
        .count();
    if unfit > 0 {
        warnings.push(format!("{unfit} of the runs are invalid or show the client"));
    }
    warnings
}

#[cfg(test)]
mod tests;
