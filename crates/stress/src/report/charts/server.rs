//! What the server used while it answered: a small chart for each series.

use crate::outcome::Outcome;
use crate::report::chart::{Anchor, Axis, Chart, Ink, Mark};
use crate::server::{Series, Unit};

/// Charts drawn at most; the document holds the rest.
const CHARTS_MAX: usize = 24;

/// A chart a series, on the run's time line, with its pauses and events.
pub fn server(outcome: &Outcome) -> Vec<Chart> {
    let Some(samples) = &outcome.server else { return Vec::new() };
    let seconds = outcome
        .intervals
        .last()
        .map_or(outcome.elapsed_nanos, |last| last.start_nanos.saturating_add(last.nanos));
    let seconds = seconds as f64 / 1e9;
    samples
        .series
        .iter()
        .filter(|series| series.points.len() > 1)
        .take(CHARTS_MAX)
        .enumerate()
        .map(|(place, series)| small(place, series, seconds, outcome))
        .collect()
}

fn small(place: usize, series: &Series, seconds: f64, outcome: &Outcome) -> Chart {
    let mut chart = Chart::new(&format!("server-{}", place + 1), &series.name, "", (370.0, 170.0));
    let (mean, max) = series.mean_and_max().unwrap_or_default();
    chart.caption = format!("mean {}, max {}", series.unit.words(mean), series.unit.words(max));
    let mut time = Axis::time(seconds);
    time.title.clear();
    let unit = series.unit;
    let label = |value: f64| unit.words(value);
    let axis = match unit {
        Unit::Bytes | Unit::BytesPerSecond => Axis::bytes(max, label),
        _ => Axis::linear(max, "", label),
    };
    let plot = chart.plot(time, axis, 12.0);
    let (_, top, _, bottom) = plot.edges();
    for event in &outcome.events {
        let at = plot.right(event.at_nanos as f64 / 1e9);
        chart.line(vec![(at, top), (at, bottom)], Ink::Event, 1.0, true);
    }
    let points: Vec<_> = series.points.iter().map(|(at, value)| plot.at(*at as f64 / 1e9, *value)).collect();
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let mut area = points.clone();
        area.extend([(last.0, bottom), (first.0, bottom)]);
        chart.marks.push(Mark::Area { points: area, ink: Ink::Service });
    }
    chart.line(points, Ink::Service, 1.5, false);
    chart.text((plot.edges().2, bottom + 32.0), Anchor::End, Ink::Muted, &plot.x.title);
    chart
}
