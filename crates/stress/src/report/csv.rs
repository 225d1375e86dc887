//! Figures for a spreadsheet, one table a function; milliseconds unless the column says otherwise.
//! A percentile that too few requests stand for is left empty.

use std::fmt::{Result, Write};

use super::standing::is_known;
use crate::outcome::{Latency, Outcome};

/// The percentiles of a table.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// A line an interval.
pub fn intervals(outcome: &Outcome) -> String {
    let mut out = String::new();
    // A String never refuses what is written to it.
    let _ = write_intervals(&mut out, outcome);
    out
}

fn write_intervals(out: &mut String, outcome: &Outcome) -> Result {
    write!(out, "start_s,length_s,answered,failed,hiccup_max")?;
    header(out)?;
    for interval in &outcome.intervals {
        let service = interval.service.unpack();
        write!(
            out,
            "{:.3},{:.3},{},{},{}",
            interval.start_nanos as f64 / 1e9,
            interval.nanos as f64 / 1e9,
            service.count(),
            interval.failed,
            interval.hiccup_max_nanos as f64 / 1e6
        )?;
        figures(out, &interval.response.unpack())?;
        figures(out, &service)?;
        writeln!(out)?;
    }
    Ok(())
}

/// A line a run: for sweeps.
pub fn runs(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    let _ = write_runs(&mut out, outcomes);
    out
}

fn write_runs(out: &mut String, outcomes: &[Outcome]) -> Result {
    write!(out, "workload,load,rate,planned,sent,answered,failed,timed_out,unsent,in_flight,standing")?;
    header(out)?;
    for outcome in outcomes {
        let counts = &outcome.counts;
        write!(
            out,
            "{},{},{:.1},{},{},{},{},{},{},{},{}",
            quoted(&outcome.workload),
            quoted(&super::standing::short_load(outcome)),
            outcome.rate(),
            counts.planned,
            counts.sent,
            counts.answered,
            counts.failed,
            counts.timed_out,
            counts.unsent,
            counts.in_flight,
            super::Standing::of(outcome).word()
        )?;
        figures(out, &outcome.response())?;
        figures(out, &outcome.service())?;
        writeln!(out)?;
    }
    Ok(())
}

/// The percentile spectrum as HdrHistogram prints it (`.hgrm`), in milliseconds, for its plotters.
pub fn hgrm(latency: &Latency) -> String {
    let mut out = String::new();
    let _ = write_hgrm(&mut out, latency);
    out
}

fn write_hgrm(out: &mut String, latency: &Latency) -> Result {
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut below = 0;
    for step in latency.0.iter_quantiles(5) {
        below += step.count_since_last_iteration();
        let quantile = step.quantile_iterated_to();
        let value = step.value_iterated_to() as f64 / 1e6;
        write!(out, "{value:>12.3} {quantile:>2.12} {below:>10}")?;
        if quantile < 1.0 { writeln!(out, " {:>14.2}", 1.0 / (1.0 - quantile))? } else { writeln!(out)? }
    }
    let histogram = &latency.0;
    writeln!(
        out,
        "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]",
        histogram.mean() / 1e6,
        histogram.stdev() / 1e6
    )?;
    writeln!(
        out,
        "#[Max     = {:>12.3}, Total count    = {:>12}]",
        histogram.max() as f64 / 1e6,
        histogram.len()
    )
}

fn header(out: &mut String) -> Result {
    for clock in ["response", "service"] {
        write!(out, ",{clock}_mean")?;
        for quantile in QUANTILES {
            write!(out, ",{clock}_{}", super::words::percentile(quantile))?;
        }
        write!(out, ",{clock}_max")?;
    }
    writeln!(out)
}

fn figures(out: &mut String, latency: &Latency) -> Result {
    if latency.count() == 0 {
        return write!(out, "{}", ",".repeat(QUANTILES.len() + 2));
    }
    write!(out, ",{:.4}", latency.0.mean() / 1e6)?;
    for quantile in QUANTILES {
        write!(out, ",")?;
        if is_known(latency.count(), quantile) {
            write!(out, "{:.4}", latency.at(quantile) as f64 / 1e6)?;
        }
    }
    write!(out, ",{:.4}", latency.0.max() as f64 / 1e6)
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    //! Every line has the columns of the first.
    use super::*;
    use crate::simulation::{self, Simulated};

    fn columns(table: &str) -> Vec<usize> {
        let mut counts: Vec<usize> = table.lines().map(|line| line.matches(',').count()).collect();
        counts.dedup();
        counts
    }

    #[test]
    fn tables_have_a_line_an_interval_and_a_line_a_run() {
        let stall = simulation::stall();
        let table = intervals(&stall);
        assert_eq!((table.lines().count(), columns(&table)), (21, vec![18]));
        // Nothing was answered while the server stood still.
        assert!(table.lines().nth(10).unwrap().ends_with(&",".repeat(14)), "{table}");
        let mut odd = Simulated::healthy(1, 100.0, 1).run();
        odd.workload = "a \"b\"".into();
        let table = runs(&[stall, odd]);
        assert_eq!((table.lines().count(), columns(&table)), (3, vec![24]));
        assert!(table.contains("\n\"a \"\"b\"\"\",100/s,"), "{table}");
    }

    #[test]
    fn the_spectrum_ends_with_the_longest() {
        let latency = simulation::stall().response();
        let spectrum = hgrm(&latency);
        assert!(spectrum.contains("1.000000000000      10000\n#[Mean"), "{spectrum}");
    }
}
