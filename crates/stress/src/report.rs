//! What a run prints: counts that add up, then response time with service time beside it.

use std::fmt::Write;

use hdrhistogram::Histogram;

use crate::record::Latencies;
use crate::run::Summary;
use crate::workload::Kind;

/// A figure of a histogram, by name.
type Figure = (&'static str, fn(&Histogram<u64>) -> f64);

/// The rows of the table.
const FIGURES: [Figure; 6] = [
    ("mean", |histogram| histogram.mean()),
    ("p50", |histogram| histogram.value_at_quantile(0.50) as f64),
    ("p95", |histogram| histogram.value_at_quantile(0.95) as f64),
    ("p99", |histogram| histogram.value_at_quantile(0.99) as f64),
    ("p99.9", |histogram| histogram.value_at_quantile(0.999) as f64),
    ("max", |histogram| histogram.max() as f64),
];

/// The report of a run, ready to print.
pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let total = summary.record.total();
    let columns: Vec<(&str, &Latencies)> = std::iter::once(("all", &total))
        .chain(Kind::ALL.iter().map(|kind| (kind.name(), summary.record.of(*kind))))
        .collect();
    // A String never refuses what is written to it.
    let _ = write_counts(&mut out, summary, &total);
    let _ = write_table(&mut out, &columns);
    out
}

fn write_counts(out: &mut String, summary: &Summary, total: &Latencies) -> std::fmt::Result {
    let sent = summary.planned - summary.unsent;
    let answered = sent - summary.unanswered - total.errors;
    let seconds = summary.elapsed_nanos as f64 / 1e9;
    writeln!(out, "operations   {} planned = {sent} sent + {} unsent", summary.planned, summary.unsent)?;
    writeln!(
        out,
        "             {sent} sent = {answered} answered + {} errors + {} unanswered",
        total.errors, summary.unanswered
    )?;
    writeln!(
        out,
        "rate         {:.0}/s over {seconds:.1} s ({}/s asked)",
        answered as f64 / seconds,
        summary.rate
    )?;
    if summary.cap_reached {
        writeln!(
            out,
            "INVALID: in-flight cap: more requests were waiting than the client may have in flight"
        )?;
    }
    Ok(())
}

fn write_table(out: &mut String, columns: &[(&str, &Latencies)]) -> std::fmt::Result {
    write!(out, "\n{:<13}", "")?;
    for (name, _) in columns {
        write!(out, "{name:^22}")?;
    }
    write!(out, "\n{:<13}", "latency, ms")?;
    for _ in columns {
        write!(out, "{:^22}", "response (service)")?;
    }
    writeln!(out)?;
    for (name, figure) in FIGURES {
        write!(out, "{name:<13}")?;
        for (_, latencies) in columns {
            let response = figure(&latencies.response) / 1e6;
            let service = figure(&latencies.service) / 1e6;
            write!(out, "{:>10} {:<11}", format!("{response:.3}"), format!("({service:.3})"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
