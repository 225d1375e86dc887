//! Comparisons of pretend servers that are the same, or a tenth slower.
use super::*;
use crate::search::{Asked, Probe, Trial};
use crate::simulation::{Simulated, Work, normal};

/// Runs of a server whose speed changes a little from run to run.
fn runs(seed: u64, count: usize, slower: f64) -> Vec<Outcome> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let drift = (0.02 * normal(&mut random)).exp();
            let median = 1e6 * slower * drift;
            let server = Simulated::healthy(random.next_u64(), 400.0, 10);
            Simulated { work: Work::LogNormal(median, 0.4), cores: 8, ..server }.run()
        })
        .collect()
}

fn says(before: &[Outcome], after: &[Outcome], meaning: Meaning) -> bool {
    let comparison = compare(before, after, 1).unwrap();
    comparison
        .rows
        .iter()
        .any(|row| matches!(row.finding, Finding::Compared { meaning: found, .. } if found == meaning))
}

#[test]
fn the_same_server_is_hardly_ever_called_different() {
    let different = (0..20)
        .filter(|pair| {
            let (before, after) = (runs(pair * 2 + 1000, 5, 1.0), runs(pair * 2 + 1001, 5, 1.0));
            says(&before, &after, Meaning::Slower) || says(&before, &after, Meaning::Faster)
        })
        .count();
    assert!(different <= 2, "{different} of 20");
}

#[test]
fn a_tenth_more_is_nearly_always_found() {
    let found = (0..20)
        .filter(|pair| says(&runs(pair * 2 + 1, 5, 1.0), &runs(pair * 2 + 2, 5, 1.1), Meaning::Slower))
        .count();
    assert!(found >= 18, "{found} of 20");
}

#[test]
fn few_runs_cannot_tell_and_say_how_many_would() {
    let comparison = compare(&runs(1, 2, 1.0), &runs(2, 2, 1.1), 1).unwrap();
    let Finding::Compared { meaning: Meaning::CannotTell { more_runs }, .. } = comparison.rows[0].finding
    else {
        panic!("{comparison:?}")
    };
    assert!((2..30).contains(&more_runs), "{more_runs}");
    let page = text(&comparison);
    assert!(page.contains("cannot tell; about "), "{page}");
    assert!(page.contains("p99.9   not quoted: the smallest run has"), "{page}");
}

#[test]
fn bounds_hold_what_is_true() {
    let comparison = compare(&runs(1, 8, 1.0), &runs(2, 8, 1.1), 1).unwrap();
    let Finding::Compared { ratio, .. } = comparison.rows[0].finding else { panic!("{comparison:?}") };
    assert!(ratio.0 < 1.1 && 1.1 < ratio.1 && ratio.1 - ratio.0 < 0.1, "{ratio:?}");
}

#[test]
fn groups_that_cannot_be_compared_are_refused_or_warned_of() {
    let open = runs(1, 1, 1.0);
    assert_eq!(compare(&[], &open, 1).unwrap_err(), CompareError::Empty);
    let mut closed = Simulated::healthy(1, 1.0, 1);
    closed.load = crate::simulation::Pace::Users(2);
    assert_eq!(compare(&open, &[closed.run()], 1).unwrap_err(), CompareError::Mixed);
    let mut other = open.clone();
    other[0].workload = "other".into();
    other[0].invalid.push("in-flight cap".into());
    let warnings = compare(&open, &other, 1).unwrap().warnings;
    assert_eq!(
        warnings,
        ["the runs have different workloads", "1 of the runs are invalid or show the client"]
    );
}

#[test]
fn turns_are_taken_there_and_back() {
    struct Named(Vec<u64>, u64);
    impl Probe for Named {
        fn run(&mut self, trial: &Trial) -> Result<Outcome, String> {
            let Asked::Rate(rate) = trial.load else { return Err("a rate".into()) };
            self.0.push(self.1);
            Ok(Simulated::healthy(self.1, rate, 1).run())
        }
        fn drain(&mut self) -> Result<(), String> {
            Ok(())
        }
    }
    let (mut first, mut second) = (Named(Vec::new(), 1), Named(Vec::new(), 2));
    let trial = Trial { load: Asked::Rate(50.0), nanos: 1_000_000_000, label: "turn" };
    let mut turns = String::new();
    let told = &mut |is_second: bool, _: &Outcome| turns.push(if is_second { 'B' } else { 'A' });
    let (before, after) = interleaved(&mut first, &mut second, &trial, 4, told).unwrap();
    assert_eq!((turns.as_str(), before.len(), after.len()), ("ABBAABBA", 4, 4));
}
