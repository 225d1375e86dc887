//! Latency by percentile: what users waited, and what the server took.

use super::{FULL, curve, latency_axis, limits};
use crate::outcome::Outcome;
use crate::report::chart::{Axis, Chart, Ink};
use crate::search::Sla;

/// Latency by percentile of one run, with the steps of an agreement.
pub fn percentiles(outcome: &Outcome, sla: Option<&Sla>) -> Chart {
    let (response, service) = (outcome.response(), outcome.service());
    let caption = if outcome.is_open() {
        "Solid: response time, from when a request was due. Dashed: service time, from when it was sent. Where they \
         part, requests waited for their turn."
    } else {
        "Service time only: each user waited for its answer before asking again."
    };
    let mut chart = Chart::new("percentiles", "Latency by percentile", caption, FULL);
    let known: Vec<_> = if outcome.is_open() { vec![&response, &service] } else { vec![&service] };
    let plot = chart.plot(Axis::percentiles(service.count()), latency_axis(known), 74.0);
    limits(&mut chart, &plot, sla);
    let mut names = Vec::new();
    for (latency, ink, name) in [(&service, Ink::Service, "service"), (&response, Ink::Response, "response")]
    {
        if ink == Ink::Response && !outcome.is_open() {
            continue;
        }
        let points = curve(latency, &plot);
        names.extend(points.last().map(|end| (end.1, ink, name.to_owned())));
        chart.line(points, ink, 2.0, ink == Ink::Service);
    }
    chart.name_ends(&plot, names);
    chart
}
