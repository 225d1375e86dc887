//! Response time over the run: the worst, the 999th of a thousand, the 99th of a hundred.

use super::{FULL, latency_axis};
use crate::outcome::{Event, Latency, Outcome};
use crate::report::chart::{Anchor, Axis, Chart, Ink, Mark, Plot, Point};
use crate::report::standing::is_known;
use crate::report::words;
use crate::search::Sla;

/// Intervals drawn at most; longer runs have some of them merged.
const DRAWN_MAX: usize = 300;

/// Events numbered at most.
const EVENTS_MAX: usize = 40;

/// Some intervals of a run taken together.
struct Slot {
    from: f64,
    to: f64,
    response: Latency,
    service: Latency,
}

impl Slot {
    /// What users waited, where requests came by a plan; else what the server took.
    fn main(&self, open: bool) -> &Latency {
        if open { &self.response } else { &self.service }
    }
}

/// The longest and high percentiles of each interval, with the events.
pub fn timeline(outcome: &Outcome, sla: Option<&Sla>) -> Chart {
    let (slots, open) = (slots(outcome), outcome.is_open());
    let drawn = drawn(&slots, open);
    let (title, caption) = titles(&slots, open, &drawn);
    let mut chart = Chart::new("timeline", title, &caption, FULL);
    let seconds = slots.last().map_or(1.0, |slot| slot.to);
    let all = slots.iter().flat_map(|slot| [&slot.response, &slot.service]);
    let plot = chart.plot(Axis::time(seconds), latency_axis(all), 62.0);
    shade(&mut chart, &plot, &slots);
    for clause in sla.iter().flat_map(|sla| &sla.clauses) {
        chart.limit(&plot, 0.0, clause.limit_nanos as f64, &clause.to_string());
    }
    let mut names = Vec::new();
    let mut draw = |chart: &mut Chart, name: &str, ink, dashed, figure: &dyn Fn(&Slot) -> Option<u64>| {
        let points: Vec<Option<Point>> = slots
            .iter()
            .map(|slot| figure(slot).map(|nanos| plot.at(f64::midpoint(slot.from, slot.to), nanos as f64)))
            .collect();
        names.extend(points.iter().flatten().last().map(|end| (end.1, ink, name.to_owned())));
        chart.broken_line(&points, ink, if dashed { 1.25 } else { 1.75 }, dashed);
    };
    if open {
        draw(&mut chart, "service", Ink::Service, true, &|slot| some(slot.service.0.max()));
    }
    for (quantile, ink) in drawn {
        draw(&mut chart, &words::percentile(quantile), ink, false, &|slot| known(slot.main(open), quantile));
    }
    draw(&mut chart, "max", Ink::Response, false, &|slot| some(slot.main(open).0.max()));
    chart.name_ends(&plot, names);
    events(&mut chart, &plot, &outcome.events);
    hints(&mut chart, &plot, &slots);
    chart
}

/// The percentiles that most intervals hold enough requests for; the median where they hold few.
fn drawn(slots: &[Slot], open: bool) -> Vec<(f64, Ink)> {
    let answered = || slots.iter().filter(|slot| slot.service.count() > 0);
    let is_drawn = |quantile: f64| {
        2 * answered().filter(|slot| is_known(slot.main(open).count(), quantile)).count() > answered().count()
    };
    let mut drawn: Vec<(f64, Ink)> = [(0.99, Ink::Muted), (0.999, Ink::Faint)]
        .into_iter()
        .filter(|(quantile, _)| is_drawn(*quantile))
        .collect();
    if drawn.is_empty() {
        drawn.extend(is_drawn(0.5).then_some((0.5, Ink::Muted)));
    }
    drawn
}

fn titles(slots: &[Slot], open: bool, drawn: &[(f64, Ink)]) -> (&'static str, String) {
    let each = slots.first().map_or(1.0, |slot| slot.to - slot.from);
    let each =
        if (each - 1.0).abs() < 1e-9 { "second".to_owned() } else { words::duration((each * 1e9) as u64) };
    let lines: Vec<String> = drawn.iter().rev().map(|(quantile, _)| words::percentile(*quantile)).collect();
    let lines =
        if lines.is_empty() { String::new() } else { format!(" and the {}", lines.join(" and the ")) };
    let (title, what, dashed) = if open {
        ("Response time over the run", "response", " Dashed: the longest service time.")
    } else {
        ("Service time over the run", "service", "")
    };
    let shaded =
        if slots.iter().any(|slot| slot.service.count() == 0) { " Shaded: no answer came." } else { "" };
    (title, format!("The longest{lines} {what} time in every {each}.{dashed}{shaded}"))
}

fn some(nanos: u64) -> Option<u64> {
    (nanos > 0).then_some(nanos)
}

fn known(latency: &Latency, quantile: f64) -> Option<u64> {
    is_known(latency.count(), quantile).then(|| latency.at(quantile))
}

/// The run's intervals, some merged where there are too many to draw.
fn slots(outcome: &Outcome) -> Vec<Slot> {
    let each = outcome.intervals.len().div_ceil(DRAWN_MAX).max(1);
    outcome
        .intervals
        .chunks(each)
        .filter_map(|chunk| {
            let (first, last) = (chunk.first()?, chunk.last()?);
            let (mut response, mut service) = (first.response.unpack(), first.service.unpack());
            for interval in &chunk[1..] {
                response.add(&interval.response.unpack());
                service.add(&interval.service.unpack());
            }
            let from = first.start_nanos as f64 / 1e9;
            let to = last.start_nanos.saturating_add(last.nanos) as f64 / 1e9;
            Some(Slot { from, to, response, service })
        })
        .collect()
}

/// Marks the times without any answer.
fn shade(chart: &mut Chart, plot: &Plot, slots: &[Slot]) {
    let (_, top, _, bottom) = plot.edges();
    for slot in slots.iter().filter(|slot| slot.service.count() == 0) {
        let (from, to) = (plot.right(slot.from), plot.right(slot.to));
        let points = vec![(from, top), (to, top), (to, bottom), (from, bottom)];
        chart.marks.push(Mark::Area { points, ink: Ink::Event });
    }
}

/// Numbers the events; the page lists them under the chart.
fn events(chart: &mut Chart, plot: &Plot, events: &[Event]) {
    let (_, top, _, bottom) = plot.edges();
    for (place, event) in events.iter().take(EVENTS_MAX).enumerate() {
        let at = plot.right(event.at_nanos as f64 / 1e9);
        chart.line(vec![(at, top), (at, bottom)], Ink::Event, 1.0, true);
        chart.text((at + 4.0, top + 10.0), Anchor::Start, Ink::Event, &(place + 1).to_string());
        let text = format!("{}: {}", words::duration(event.at_nanos), event.text);
        chart.marks.push(Mark::Hint { place: (at - 5.0, top, 10.0, 16.0), text });
    }
}

/// What a pointer over an interval is told.
fn hints(chart: &mut Chart, plot: &Plot, slots: &[Slot]) {
    let (_, top, _, bottom) = plot.edges();
    for slot in slots {
        let (from, to) = (plot.right(slot.from), plot.right(slot.to));
        let text = format!(
            "{} s: {} answered, response max {}, p99 {}, service max {}",
            words::digits(slot.from),
            words::count(slot.service.count()),
            words::duration(slot.response.0.max()),
            words::duration(slot.response.at(0.99)),
            words::duration(slot.service.0.max())
        );
        chart.marks.push(Mark::Hint { place: (from, top + 16.0, to - from, bottom - top - 16.0), text });
    }
}
