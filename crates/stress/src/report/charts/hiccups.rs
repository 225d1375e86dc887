//! Was it the client? The delays of its own machine, as it saw them itself.

use super::{FULL, curve, latency_axis};
use crate::outcome::{Latency, Outcome};
use crate::report::chart::{Axis, Chart, Ink};

/// Hiccups of the workers' cores and of an idle one, and how late requests were sent.
pub fn hiccups(outcome: &Outcome) -> Chart {
    let client = &outcome.client;
    let mut chart = Chart::new(
        "hiccups",
        "Delays of the client itself",
        "What a sleeping thread and the sender saw without any server. Response times near these say nothing of the server.",
        (FULL.0, 260.0),
    );
    let shown: [(&Latency, Ink, &str, bool); 3] = [
        (&client.hiccups, Ink::Service, "hiccups", false),
        (&client.control_hiccups, Ink::Muted, "idle core", true),
        (&client.send_lag, Ink::Response, "send lag", false),
    ];
    let samples = shown.iter().map(|(latency, ..)| latency.count()).max().unwrap_or(0);
    let mut axis = Axis::percentiles(samples);
    axis.title = "share of delays no longer than".to_owned();
    let plot = chart.plot(axis, latency_axis(shown.iter().map(|shown| shown.0)), 74.0);
    let mut names = Vec::new();
    for (latency, ink, name, dashed) in shown {
        let points = curve(latency, &plot);
        names.extend(points.last().map(|end| (end.1, ink, name.to_owned())));
        chart.line(points, ink, 1.75, dashed);
    }
    chart.name_ends(&plot, names);
    chart
}
