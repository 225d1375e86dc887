//! A comparison as a table, with what it means in words.

use std::fmt::{Result, Write};

use super::{Comparison, Finding, LEVEL, Meaning};
use crate::report::{samples_for, words};

/// The comparison, ready to print.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    // A String never refuses what is written to it.
    let _ = write_text(&mut out, comparison);
    out
}

fn write_text(out: &mut String, comparison: &Comparison) -> Result {
    let clock = if comparison.is_response { "response time" } else { "service time" };
    writeln!(
        out,
        "{clock}: {} before, {} after\n",
        words::plural(comparison.before_runs as u64, "run"),
        words::plural(comparison.after_runs as u64, "run")
    )?;
    writeln!(out, "{:<8}{:>12}{:>12}{:>20}   ", "", "before", "after", "after/before")?;
    for row in &comparison.rows {
        write!(out, "{:<8}", words::percentile(row.quantile))?;
        match row.finding {
            Finding::TooFew { samples } => writeln!(
                out,
                "not quoted: the smallest run has {}, this takes {}",
                words::plural(samples, "request"),
                words::count(samples_for(row.quantile))
            )?,
            Finding::Compared { before, after, ratio, p, meaning } => {
                let ratio = format!("{:.3} to {:.3}", ratio.0, ratio.1);
                let (before, after) = (words::duration(before as u64), words::duration(after as u64));
                writeln!(out, "{before:>12}{after:>12}{ratio:>20}   {}", said(meaning, p))?;
            }
        }
    }
    writeln!(
        out,
        "\nafter/before: bounds that hold 19 times of 20, from runs and blocks of intervals drawn again. \"slower\" and\n\
         \"faster\": runs of one kind differ this much less than {} % of the time, over all lines together (Holm).",
        words::digits(LEVEL * 100.0)
    )?;
    for warning in &comparison.warnings {
        writeln!(out, "WARNING: {warning}")?;
    }
    Ok(())
}

fn said(meaning: Meaning, p: f64) -> String {
    match meaning {
        Meaning::Slower => format!("SLOWER (p = {p:.4})"),
        Meaning::Faster => format!("faster (p = {p:.4})"),
        Meaning::Same => "the same, within 5 %".to_owned(),
        Meaning::CannotTell { more_runs } => {
            format!("cannot tell; about {} of each would", words::plural(more_runs as u64, "more run"))
        }
    }
}
