//! Moments and shapes, each with fixed seeds.

use super::*;

fn draws(text: &str, count: u64) -> Vec<i64> {
    let distribution: Distribution = text.parse().expect(text);
    let drawn: Vec<i64> = (0..count).map(|seed| distribution.draw(17, seed, 0)).collect();
    let (min, max) = (distribution.min(), distribution.max());
    assert!(drawn.iter().all(|value| (min..=max).contains(value)), "{text} stays inside");
    drawn
}

fn mean(values: &[i64]) -> f64 {
    values.iter().sum::<i64>() as f64 / values.len() as f64
}

fn deviation(values: &[i64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// The greatest distance between the empirical and the expected distribution (Kolmogorov-Smirnov);
/// `below` is the expected share of values up to and including one.
fn distance(mut values: Vec<i64>, below: impl Fn(i64) -> f64) -> f64 {
    values.sort_unstable();
    let count = values.len() as f64;
    let mut greatest: f64 = 0.0;
    for (at, &value) in values.iter().enumerate() {
        if values.get(at + 1) != Some(&value) {
            greatest = greatest.max(((at + 1) as f64 / count - below(value)).abs());
        }
    }
    greatest
}

const DRAWS: u64 = 50_000;

/// The 99.9 % point of the distance for [`DRAWS`] values: 1.95 / sqrt(n).
const DISTANCE_MAX: f64 = 1.95 / 223.6;

#[test]
fn uniform_is_even() {
    let values = draws("uniform(1..1000)", DRAWS);
    assert!((mean(&values) - 500.5).abs() < 4.0);
    assert!(distance(values, |value| value as f64 / 1000.0) < DISTANCE_MAX);
    let mut counts = [0; 3];
    draws("UNIFORM(-1..1)", 30_000).iter().for_each(|value| counts[(value + 1) as usize] += 1);
    assert!(counts.iter().all(|count| (9_700..10_300).contains(count)), "{counts:?}");
}

#[test]
fn exponential_falls_with_cassandra_stress_mean() {
    // (max - min) / (ln(max - min) / 2)
    let mean = 9999.0 / (9999_f64.ln() / 2.0);
    let below = |value: i64| if value == 10_000 { 1.0 } else { 1.0 - (-(value as f64) / mean).exp() };
    assert!(distance(draws("exp(1..10K)", DRAWS), below) < DISTANCE_MAX);
    let upside_down: Vec<i64> = draws("~exp(1..10k)", DRAWS).iter().map(|value| 10_001 - value).collect();
    assert!(distance(upside_down, below) < DISTANCE_MAX);
}

#[test]
fn extreme_values_are_weibull() {
    let scale = 9999.0 / (9999_f64.ln() / 2.0).powf(0.5);
    let below = |value: i64| {
        if value == 10_000 { 1.0 } else { 1.0 - (-((value as f64 / scale).powi(2))).exp() }
    };
    assert!(distance(draws("extreme(1..10000,2)", DRAWS), below) < DISTANCE_MAX);
    assert_eq!(draws("extr(1..10000,2)", 100), draws("weibull(1..10000,2)", 100));
    // Quantized into four parts: a quarter of the values up to each quartile, and even inside.
    let values = draws("qextr(1..10000,2,4)", DRAWS);
    let quartile = |share: f64| (scale * (-(1.0 - share).ln()).sqrt()).floor() as i64;
    for share in [0.25, 0.5, 0.75] {
        let below = values.iter().filter(|&&value| value <= quartile(share)).count() as f64 / DRAWS as f64;
        assert!((below - share).abs() < 0.01, "{share}: {below}");
    }
}

#[test]
fn gaussian_has_its_mean_and_deviation() {
    for (text, expected_mean, expected_deviation) in [
        ("gaussian(1..1000)", 500.5, 166.5),
        ("normal(10..100,50)", 55.0, 0.9),
        ("gauss(0..1000,300,20)", 300.0, 20.0),
    ] {
        let values = draws(text, DRAWS);
        // Offsets are cut to whole numbers, which takes a half from the mean.
        let difference = mean(&values) + 0.5 - expected_mean;
        assert!(difference.abs() < expected_deviation * 0.02 + 0.02, "{text}: {difference}");
        let ratio = deviation(&values) / (expected_deviation.powi(2) + 1.0 / 12.0).sqrt();
        assert!((0.97..1.03).contains(&ratio), "{text}: {ratio}");
    }
}

#[test]
fn sequences_go_round_and_fixed_stays() {
    let sequence: Distribution = "seq(10..12)".parse().expect("a sequence");
    assert_eq!((0..5).map(|seed| sequence.draw(9, seed, 0)).collect::<Vec<_>>(), [10, 11, 12, 10, 11]);
    assert_eq!((0..3).map(|number| sequence.draw(9, 1, number)).collect::<Vec<_>>(), [11, 12, 10]);
    assert_eq!(draws("fixed(42)", 3), [42, 42, 42]);
    assert_eq!(draws("exp(7..7)", 3), [7, 7, 7]);
    assert!(draws("exp(1..2)", 1000).contains(&1) && draws("exp(1..2)", 1000).contains(&2));
}

#[test]
fn draws_follow_from_salt_seed_and_number() {
    let distribution: Distribution = "uniform(1..1M)".parse().expect("a distribution");
    assert_eq!(distribution.draw(1, 2, 3), distribution.draw(1, 2, 3));
    let others = [distribution.draw(2, 2, 3), distribution.draw(1, 3, 3), distribution.draw(1, 2, 4)];
    assert!(!others.contains(&distribution.draw(1, 2, 3)));
}

#[test]
fn ratios_divide() {
    let ratio: Ratio = "uniform(1..10)/10".parse().expect("a ratio");
    assert_eq!(ratio.max(), 1.0);
    assert!((0..100).map(|seed| ratio.draw(0, seed, 0)).all(|drawn| (0.1..=1.0).contains(&drawn)));
    assert_eq!("fixed(1)/500".parse::<Ratio>().expect("a ratio").draw(0, 1, 2), 0.002);
}

#[test]
fn what_is_no_distribution_is_refused_with_a_reason() {
    for (text, reason) in [
        ("", "fixed(n), uniform(a..b)"),
        ("poisson(1..2)", "fixed(n), uniform(a..b)"),
        ("uniform(1..2", "a bracket is not closed"),
        ("uniform(1-2)", "a range is written 1..10"),
        ("uniform(2..1)", "the range ends before it begins"),
        ("uniform(1..99999999B)", "numbers reach to 2^53 only"),
        ("uniform(1..9223372036854775807B)", "a range is written 1..10"),
        ("fixed(x)", "not a whole number"),
        ("extreme(1..2,x)", "not a number"),
        ("extreme(1..9,0)", "fixed(n), uniform(a..b)"),
        ("gaussian(1..9,nan)", "not a number"),
    ] {
        let error = text.parse::<Distribution>().expect_err(text).to_string();
        assert!(error.contains(reason), "{error}");
    }
    for text in ["uniform(1..2)", "uniform(1..2)/0", "uniform(1..2)/x", "uniform(-1..2)/3", "x/2"] {
        assert!(text.parse::<Ratio>().is_err(), "{text}");
    }
}
