//! `basalt stress sustain`: the highest rate that keeps an agreement on response times.

use std::process::ExitCode;

use basalt_stress::outcome::Outcome;
use basalt_stress::plan::{Rate, parse_duration};
use basalt_stress::report::words;
use basalt_stress::search::{self, Ruling, Sla, Step, Sustain};
use clap::Args;

use super::interrupt::Interrupt;
use super::series::{self, Prober};

/// No rate kept the agreement.
const NOT_FOUND: u8 = 5;

/// What `basalt stress sustain` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    series: series::Options,
    /// The agreement: p99<5ms,p99.9<10ms,max<1s. Response times.
    #[arg(long, value_parser = Sla::parse)]
    sla: Sla,
    /// Percent of the requests that may fail.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.01)]
    errors: f64,
    /// The first rate tried.
    #[arg(long, default_value = "1000")]
    from: Rate,
    /// The highest rate tried.
    #[arg(long, default_value = "1m")]
    to: Rate,
    /// The longest that a rate is run, in all, while its figures do not decide.
    #[arg(long, value_name = "TIME", default_value = "4m", value_parser = parse_duration)]
    probe: u64,
    /// How long the answer is run in the end.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    soak: u64,
    /// No soak: the answer is that of short runs.
    #[arg(long, conflicts_with = "soak")]
    no_soak: bool,
}

/// Looks for it.
///
/// # Errors
/// One line: why there was no run.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let rate = |rate: Rate| rate.0 as f64 / Rate::UNIT as f64;
    let settings = Sustain {
        sla: options.sla.clone(),
        errors_max: options.errors / 100.0,
        first_rate: rate(options.from),
        rate_max: rate(options.to),
        bracket: 1.02,
        probe_nanos: options.series.duration,
        probe_nanos_max: options.probe,
        soak_nanos: if options.no_soak { 0 } else { options.soak },
    };
    let mut prober = Prober::new(&options.series, interrupt)?;
    println!("looking for the highest rate with {}\n", options.sla);
    let found = search::sustain(&mut prober, &settings, &mut |step| println!("{}", told(step)))?;
    let answer = search::answer(&found, &options.sla);
    println!("\n{}", answer.join("\n"));
    let mut steps: Vec<&Step> = found.steps.iter().collect();
    steps.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let outcomes: Vec<Outcome> = steps.iter().filter_map(|step| step.outcomes.last().cloned()).collect();
    series::write(options.series.common.out.as_ref(), &outcomes, Some(&options.sla), &answer)?;
    Ok(if found.rate.is_some() { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND) })
}

/// A step in a line.
fn told(step: &Step) -> String {
    let ruling = match step.judgement.ruling {
        Ruling::Kept => "keeps",
        Ruling::Broken => "BREAKS",
        Ruling::Unsure => "UNSURE",
    };
    let rate = words::count(step.rate.round() as u64);
    format!("{:<10} {rate:>9}/s  {ruling:<7} {}", step.label, step.judgement.binding)
}
