//! The charts of a report, each from outcomes alone: one chart, one file.

mod family;
mod hiccups;
mod knee;
mod percentiles;
mod server;
mod timeline;

pub use family::family;
pub use hiccups::hiccups;
pub use knee::knee;
pub use percentiles::percentiles;
pub use server::server;
pub use timeline::timeline;

use super::chart::{Axis, Chart, Ink, Plot, Point};
use crate::outcome::{Latency, Outcome};
use crate::search::Sla;

/// Width and height of a chart that fills the page.
const FULL: (f64, f64) = (760.0, 340.0);

/// All charts of some outcomes that have something to show.
pub fn all(outcomes: &[Outcome], sla: Option<&Sla>) -> Vec<Chart> {
    match outcomes {
        [] => Vec::new(),
        [outcome] => {
            let mut charts = vec![percentiles(outcome, sla), timeline(outcome, sla)];
            charts.extend(server(outcome));
            charts.push(hiccups(outcome));
            charts
        }
        many => {
            let mut charts = vec![family(many, sla), knee(many, sla)];
            for (place, outcome) in many.iter().enumerate() {
                for mut chart in [percentiles(outcome, sla), timeline(outcome, sla)] {
                    chart.name = format!("{}-{}", chart.name, place + 1);
                    charts.push(chart);
                }
            }
            charts
        }
    }
}

/// A latency by percentile, as points of a plot.
fn curve(latency: &Latency, plot: &Plot) -> Vec<Point> {
    if latency.count() == 0 {
        return Vec::new();
    }
    let last = -(1.0 - plot.x.high).log10();
    let mut points: Vec<Point> = Vec::new();
    for step in 0..=240 {
        let quantile = 1.0 - 10_f64.powf(-last * f64::from(step) / 240.0);
        let at = plot.at(quantile, latency.at(quantile) as f64);
        // Level stretches need their ends only.
        if let [.., (_, before), (_, level)] = points.as_slice()
            && (*before - at.1).abs() < 0.05
            && (*level - at.1).abs() < 0.05
        {
            points.pop();
        }
        points.push(at);
    }
    points
}

/// The axis of latencies that holds all of `latencies`.
fn latency_axis<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Axis {
    let (mut low, mut high) = (u64::MAX, 0);
    for latency in latencies.into_iter().filter(|latency| latency.count() > 0) {
        low = low.min(latency.at(0.01));
        high = high.max(latency.0.max());
    }
    Axis::latency(if high == 0 { 1_000_000 } else { low }, high)
}

/// Draws the limits of an agreement, each from its percentile on.
fn limits(chart: &mut Chart, plot: &Plot, sla: Option<&Sla>) {
    for clause in sla.iter().flat_map(|sla| &sla.clauses) {
        let from = if clause.quantile < 1.0 { clause.quantile } else { plot.x.high };
        let from = if plot.x.high <= 1.0 { from } else { plot.x.low };
        chart.limit(plot, from, clause.limit_nanos as f64, &clause.to_string());
    }
}

/// The step of a family for one of `count` runs.
fn step(place: usize, count: usize) -> Ink {
    Ink::Step(if count < 2 { Ink::STEPS - 1 } else { place * (Ink::STEPS - 1) / (count - 1) })
}

#[cfg(test)]
mod tests {
    //! Charts of ordinary and of empty outcomes; where a known point is drawn.
    use super::*;
    use crate::report::chart::{Mark, svg};
    use crate::simulation::{self, Simulated};

    #[test]
    fn every_chart_is_drawn_for_any_outcome() {
        let mut empty = Simulated::healthy(1, 0.001, 1).run();
        empty.intervals.clear();
        let full = simulation::stall();
        let sla = Sla::parse("p99<5ms,max<1s").unwrap();
        for outcomes in [vec![full.clone()], vec![empty.clone()], vec![empty, full.clone(), full]] {
            for chart in all(&outcomes, Some(&sla)) {
                let text = svg(&chart);
                assert!(!text.contains("NaN") && !text.contains("inf"), "{}: {text}", chart.name);
                assert!(text.len() < 100_000, "{}: {} bytes", chart.name, text.len());
            }
        }
    }

    #[test]
    fn a_curve_passes_through_its_percentiles() {
        let latency = simulation::stall().response();
        let mut chart = Chart::new("x", "x", "", FULL);
        let plot = chart.plot(Axis::percentiles(latency.count()), latency_axis([&latency]), 80.0);
        let points = curve(&latency, &plot);
        let (x, y) = plot.at(0.99, latency.at(0.99) as f64);
        let near = points.windows(2).find(|pair| pair[0].0 <= x && x <= pair[1].0).unwrap();
        assert!((near[0].1 - y).abs() < 3.0, "{near:?} {y}");
        assert!(points.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1e-9), "latencies only grow");
    }

    #[test]
    fn the_curve_of_service_times_is_dashed_and_that_of_response_times_is_not() {
        let chart = percentiles(&simulation::stall(), None);
        let dashed = |wanted: Ink| {
            chart.marks.iter().find_map(|mark| match mark {
                Mark::Line { ink, dashed, .. } if *ink == wanted => Some(*dashed),
                _ => None,
            })
        };
        assert_eq!((dashed(Ink::Response), dashed(Ink::Service)), (Some(false), Some(true)));
    }
}
