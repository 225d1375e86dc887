//! A family of runs: one curve for each rate.

use super::{FULL, curve, latency_axis, limits, step};
use crate::outcome::{Latency, Outcome};
use crate::report::chart::{Axis, Chart};
use crate::report::standing;
use crate::search::Sla;

/// Latency by percentile of several runs.
pub fn family(outcomes: &[Outcome], sla: Option<&Sla>) -> Chart {
    let open = outcomes.iter().all(Outcome::is_open);
    let (title, caption) = if open {
        ("Response time by percentile, one curve a run", "From light to dark as the load grows.")
    } else {
        (
            "Service time by percentile, one curve a run",
            "Closed loop: service time only. From light to dark as users are added.",
        )
    };
    let mut chart = Chart::new("family", title, caption, (FULL.0, 380.0));
    let latencies: Vec<Latency> =
        outcomes.iter().map(|outcome| if open { outcome.response() } else { outcome.service() }).collect();
    let samples = latencies.iter().map(Latency::count).max().unwrap_or(0);
    let plot = chart.plot(Axis::percentiles(samples), latency_axis(&latencies), 86.0);
    limits(&mut chart, &plot, sla);
    let mut names = Vec::new();
    for (place, (latency, outcome)) in latencies.iter().zip(outcomes).enumerate() {
        let ink = step(place, outcomes.len());
        // A curve ends where its own requests end, not at the longest run's.
        let end = plot.right(1.0 - 1.0 / latency.count().max(1) as f64);
        let points: Vec<_> = curve(latency, &plot).into_iter().filter(|point| point.0 <= end + 1.0).collect();
        names.extend(points.last().map(|end| (end.1, ink, standing::short_load(outcome))));
        chart.line(points, ink, 1.75, false);
    }
    chart.name_ends(&plot, names);
    chart
}
