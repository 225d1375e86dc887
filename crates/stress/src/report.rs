//! What a run prints: counts that add up, then response time with service time beside it.

use std::fmt::Write;

use crate::outcome::{Counts, Latency, Load, Outcome, Verdict};

/// A figure of a latency, by name.
type Figure = (&'static str, fn(&Latency) -> f64);

/// The rows of the table.
const FIGURES: [Figure; 6] = [
    ("mean", |latency| latency.0.mean()),
    ("p50", |latency| latency.0.value_at_quantile(0.50) as f64),
    ("p95", |latency| latency.0.value_at_quantile(0.95) as f64),
    ("p99", |latency| latency.0.value_at_quantile(0.99) as f64),
    ("p99.9", |latency| latency.0.value_at_quantile(0.999) as f64),
    ("max", |latency| latency.0.max() as f64),
];

/// The report of a run, ready to print.
pub fn text(outcome: &Outcome) -> String {
    let mut out = String::new();
    let mut response = Latency::default();
    let mut service = Latency::default();
    for kind in &outcome.kinds {
        response.add(&kind.response);
        service.add(&kind.service);
    }
    let columns: Vec<(&str, &Latency, &Latency)> = std::iter::once(("all", &response, &service))
        .chain(outcome.kinds.iter().map(|kind| (kind.name.as_str(), &kind.response, &kind.service)))
        .collect();
    // A String never refuses what is written to it.
    let _ = write_counts(&mut out, outcome);
    let _ = write_table(&mut out, &columns);
    out
}

fn write_counts(out: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let Counts { planned, sent, unsent, answered, failed, timed_out, in_flight } = outcome.counts;
    let seconds = outcome.elapsed_nanos as f64 / 1e9;
    let asked = match &outcome.load {
        Load::Open { arrivals, rate, .. } => format!("{rate:.0}/s asked, {arrivals}"),
        Load::Closed { threads, .. } => format!("closed loop of {threads} threads: service time only"),
    };
    writeln!(out, "operations   {planned} planned = {sent} sent + {unsent} unsent")?;
    writeln!(
        out,
        "             {sent} sent = {answered} answered + {failed} failed + {timed_out} timed out + {in_flight} in flight"
    )?;
    writeln!(out, "rate         {:.0}/s over {seconds:.1} s ({asked})", answered as f64 / seconds)?;
    for kind in &outcome.kinds {
        for (error, count) in &kind.errors {
            writeln!(out, "failed       {count} {}: {error}", kind.name)?;
        }
    }
    let verdict = match outcome.client.verdict {
        Verdict::Ok => "client OK",
        Verdict::Suspect => "client suspect",
        Verdict::Limited => "client-limited",
    };
    writeln!(out, "client       {verdict}: {}", outcome.client.reason)?;
    for why in &outcome.invalid {
        writeln!(out, "INVALID      {why}")?;
    }
    Ok(())
}

fn write_table(out: &mut String, columns: &[(&str, &Latency, &Latency)]) -> std::fmt::Result {
    write!(out, "\n{:<13}", "")?;
    for (name, ..) in columns {
        write!(out, "{name:^22}")?;
    }
    write!(out, "\n{:<13}", "latency, ms")?;
    for _ in columns {
        write!(out, "{:^22}", "response (service)")?;
    }
    writeln!(out)?;
    for (name, figure) in FIGURES {
        write!(out, "{name:<13}")?;
        for (_, response, service) in columns {
            let (response, service) = (figure(response) / 1e6, figure(service) / 1e6);
            write!(out, "{:>10} {:<11}", format!("{response:.3}"), format!("({service:.3})"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
