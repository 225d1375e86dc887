//! Plans against arithmetic with fractions, and randomness against its distribution.
use super::*;

const SECOND: u64 = 1_000_000_000;

fn plan(arrivals: &str, rate: &str, nanos: u64) -> Plan {
    Plan::new(&arrivals.parse().unwrap(), rate.parse().unwrap(), nanos, 7).unwrap()
}

#[test]
fn a_constant_rate_never_drifts() {
    // A third of a nanosecond a request, for a day: the sums of rounded gaps would be seconds off.
    for (rate, nominator, denominator) in [("3", 3, 1), ("7", 7, 1), ("12.5", 25, 2), ("0.3", 3, 10)] {
        let plan = plan("constant", rate, 86_400 * SECOND);
        let last = plan.times().last().unwrap();
        let exact = (u128::from(last.index) * u128::from(SECOND) * denominator).div_ceil(nominator);
        assert_eq!(u128::from(last.nanos), exact, "{rate}");
        assert_eq!(plan.count(), last.index + 1);
        assert_eq!(u128::from(plan.count()), (86_400 * nominator).div_ceil(denominator));
    }
}

#[test]
fn many_a_second_come_at_the_first_nanosecond_not_before_their_turn() {
    let plan = plan("constant", "30k", 2 * SECOND);
    let times: Vec<Due> = plan.times().collect();
    assert_eq!(times.len(), 60_000);
    for due in &times {
        assert_eq!(due.nanos, (due.index * 100_000).div_ceil(3), "{due:?}");
    }
}

#[test]
fn a_ramp_is_exact_to_the_nanosecond() {
    // From 0 to 1000/s in 10 s: N(t) = 50 t^2, so request i is due at sqrt(i / 50) s.
    let plan = plan("ramp:0", "1000", 10 * SECOND);
    let mut count = 0;
    for due in plan.times() {
        let square = u128::from(due.index) * u128::from(SECOND) * u128::from(SECOND) / 50;
        let root = square.isqrt();
        let exact = if root * root == square { root } else { root + 1 };
        assert_eq!(u128::from(due.nanos), exact, "request {}", due.index);
        count += 1;
    }
    assert_eq!(count, 5_000);
    assert_eq!(plan.count(), 5_000);
}

#[test]
fn shapes_hold_their_rates() {
    let in_window = |plan: &Plan, from: u64, to: u64| {
        plan.times().filter(|due| (from..to).contains(&due.nanos)).count() as u64
    };
    let stairs = plan("step:4", "4000", 40 * SECOND);
    for stair in 0..4 {
        assert_eq!(in_window(&stairs, stair * 10 * SECOND, (stair + 1) * 10 * SECOND), (stair + 1) * 10_000);
    }
    let bursts = plan("burst:100/10s/1s", "5000", 20 * SECOND);
    assert_eq!(in_window(&bursts, 0, 9 * SECOND), 900);
    assert_eq!(in_window(&bursts, 9 * SECOND, 10 * SECOND), 5_000);
    assert_eq!(bursts.count(), 2 * 5_900);
    let sine = plan("sine:1000/20s", "3000", 40 * SECOND);
    let mean = sine.mean_rate();
    assert!((mean - 2000.0).abs() < 1.0, "{mean}");
    assert!(in_window(&sine, 0, SECOND) < 1_100);
    assert!(in_window(&sine, 9_500_000_000, 10_500_000_000) > 2_950);
    let long = plan("ramp:1000", "3000", 3600 * SECOND);
    assert_eq!(long.count(), 7_200_000);
}

#[test]
fn times_never_go_back_and_count_agrees() {
    let arrivals = ["constant", "poisson", "step:7", "ramp:11.5", "sine:0/333ms", "burst:1/97ms/13ms"];
    for text in arrivals.into_iter().chain(["poisson+ramp:3", "poisson+burst:10/1s/100ms"]) {
        let plan = plan(text, "1234.567", 7 * SECOND + 123);
        let times: Vec<Due> = plan.times().collect();
        assert!(times.is_sorted_by_key(|due| due.nanos), "{text}");
        assert!(times.iter().enumerate().all(|(at, due)| at as u64 == due.index), "{text}");
        assert!(times.last().unwrap().nanos <= plan.nanos(), "{text}");
        assert_eq!(times.len() as u64, plan.count(), "{text}");
    }
}

/// The largest distance between the gaps' distribution and the exponential one, times the root of
/// their number: above 1.63 once in a hundred when they are exponential.
fn kolmogorov_smirnov(mut gaps: Vec<f64>) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().map(|(at, gap)| {
        let expected = 1.0 - (-gap).exp();
        (expected - at as f64 / count).abs().max((expected - (at + 1) as f64 / count).abs())
    });
    distance.fold(0.0, f64::max) * count.sqrt()
}

fn gaps(plan: &Plan, rate: f64) -> Vec<f64> {
    let times: Vec<f64> = plan.times().map(|due| due.nanos as f64 / 1e9 * rate).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn poisson_arrivals_pass_a_kolmogorov_smirnov_test_and_even_ones_do_not() {
    for rate in ["50", "1000", "25k"] {
        let numeric: f64 = rate.parse::<Rate>().unwrap().0 as f64 / Rate::UNIT as f64;
        let poisson = plan("poisson", rate, 20 * SECOND);
        let statistic = kolmogorov_smirnov(gaps(&poisson, numeric));
        assert!(statistic < 1.63, "{rate}: {statistic}");
        // Between the means of five standard deviations.
        let (count, mean) = (poisson.count() as f64, 20.0 * numeric);
        assert!((count - mean).abs() < 5.0 * mean.sqrt(), "{rate}: {count} of {mean}");
        assert!(kolmogorov_smirnov(gaps(&plan("constant", rate, 20 * SECOND), numeric)) > 10.0);
    }
}

#[test]
fn the_same_seed_gives_the_same_moments_and_another_others() {
    let arrivals: Arrivals = "poisson".parse().unwrap();
    let times = |seed| {
        let plan = Plan::new(&arrivals, Rate::per_second(100), SECOND, seed).unwrap();
        plan.times().collect::<Vec<Due>>()
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

#[test]
fn what_is_typed_is_understood_or_refused_in_words() {
    for text in
        ["constant", "poisson", "step:5", "ramp:100", "sine:10.5/20s", "burst:0/10s/0.5s", "poisson+step:2"]
    {
        assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
    }
    for text in
        ["", "linear", "step", "step:0", "ramp:", "sine:5", "burst:1/2s", "poissonramp:1", "constant:1"]
    {
        assert!(text.parse::<Arrivals>().is_err(), "{text}");
    }
    assert_eq!("40k".parse(), Ok(Rate::per_second(40_000)));
    assert_eq!("0.000000001".parse(), Ok(Rate(1)));
    for text in ["", "0", "-1", "1e3", "11m", "1.0000000001", "k"] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
    assert_eq!(parse_duration("1.5m"), Ok(90 * SECOND));
    assert_eq!(parse_duration("250ms"), Ok(SECOND / 4));
    for text in ["", "0s", "5 s", "5d", "-1s", "1000h"] {
        assert!(parse_duration(text).is_err(), "{text}");
    }
    let late = Plan::new(&"ramp:20".parse().unwrap(), Rate::per_second(10), SECOND, 0);
    assert_eq!(late.unwrap_err(), PlanError::LowAboveHigh(Rate::per_second(20), Rate::per_second(10)));
    let burst = Plan::new(&"burst:1/1s/2s".parse().unwrap(), Rate::per_second(10), SECOND, 0);
    assert_eq!(burst.unwrap_err(), PlanError::BurstTooLong);
}
