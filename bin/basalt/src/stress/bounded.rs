//! `basalt stress bounded`: the largest throughput, then response times at 50 to 100 % of it, as the APM benchmark has it.

use std::process::ExitCode;

use basalt_stress::report::words;
use basalt_stress::search;
use clap::Args;

use super::interrupt::Interrupt;
use super::series::{self, Prober};

/// What `basalt stress bounded` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    series: series::Options,
    /// Users that find the largest throughput, each waiting for its answer.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
}

/// Runs it.
///
/// # Errors
/// One line: why there was no run.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let mut prober = Prober::new(&options.series, interrupt)?;
    println!("{}", series::head());
    let told = &mut |outcome: &_| println!("{}", series::line(outcome));
    let found = search::bounded(&mut prober, options.threads, options.series.duration, told)?;
    let maximum = words::count(found.maximum.rate().round() as u64);
    let answer =
        format!("100 % is {maximum}/s: what {} users got who each waited for their answers", options.threads);
    println!("\n{answer}");
    series::write(options.series.common.out.as_ref(), &found.shares, None, &[answer])?;
    Ok(ExitCode::SUCCESS)
}
