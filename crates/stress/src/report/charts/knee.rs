//! Throughput against percentiles: where the curve turns up is what the server can bear.

use super::FULL;
use crate::outcome::{Latency, Outcome};
use crate::report::chart::{Axis, Chart, Ink, Mark};
use crate::report::standing::{self, is_known};
use crate::report::words;
use crate::search::Sla;

/// Percentiles of several runs over the rate they achieved.
pub fn knee(outcomes: &[Outcome], sla: Option<&Sla>) -> Chart {
    let open = outcomes.iter().all(Outcome::is_open);
    let what = if open { "Response" } else { "Service" };
    let mut chart = Chart::new(
        "knee",
        &format!("{what} time over throughput"),
        "Each point is a run. Left of the bend the server keeps up; right of it, more load only makes everyone wait.",
        FULL,
    );
    let mut runs: Vec<(f64, Latency, String)> = outcomes
        .iter()
        .map(|outcome| {
            let latency = if open { outcome.response() } else { outcome.service() };
            (outcome.rate(), latency, standing::short_load(outcome))
        })
        .collect();
    // Users are added in order even where throughput falls back; rates are sorted.
    if open {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let high = runs.iter().map(|run| run.0).fold(0.0, f64::max);
    let axis = Axis::linear(high, "requests answered a second", words::short);
    let (mut least, mut most) = (u64::MAX, 0);
    for (_, latency, _) in runs.iter().filter(|run| run.1.count() > 0) {
        least = least.min(latency.at(0.5));
        let top = [0.999, 0.99, 0.5].into_iter().find(|quantile| is_known(latency.count(), *quantile));
        most = most.max(latency.at(top.unwrap_or(0.5)));
    }
    let plot = chart.plot(axis, Axis::latency(if most == 0 { 1_000_000 } else { least }, most), 62.0);
    for clause in sla.iter().flat_map(|sla| &sla.clauses) {
        chart.limit(&plot, 0.0, clause.limit_nanos as f64, &clause.to_string());
    }
    let mut names = Vec::new();
    for (quantile, ink) in [(0.5, Ink::Service), (0.99, Ink::Faint), (0.999, Ink::Response)] {
        let points: Vec<_> = runs
            .iter()
            .map(|(rate, latency, _)| {
                is_known(latency.count(), quantile).then(|| plot.at(*rate, latency.at(quantile) as f64))
            })
            .collect();
        chart.broken_line(&points, ink, 1.75, false);
        for (at, run) in points.iter().zip(&runs).filter_map(|(at, run)| Some(((*at)?, run))) {
            let told =
                format!("{}: {} {}", run.2, words::percentile(quantile), words::duration(run.1.at(quantile)));
            chart.marks.push(Mark::Dot { at, ink });
            chart.marks.push(Mark::Hint { place: (at.0 - 8.0, at.1 - 8.0, 16.0, 16.0), text: told });
        }
        names
            .extend(points.into_iter().flatten().last().map(|end| (end.1, ink, words::percentile(quantile))));
    }
    chart.name_ends(&plot, names);
    chart
}
