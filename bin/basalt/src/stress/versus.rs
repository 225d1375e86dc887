//! `basalt stress versus`: two servers in turns (A B B A), then whether they differ.

use std::process::ExitCode;

use basalt_stress::compare;
use basalt_stress::plan::Rate;
use basalt_stress::search::{Asked, Trial};
use clap::Args;

use super::interrupt::Interrupt;
use super::series::{self, Prober};

/// What `basalt stress versus` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    series: series::Options,
    /// The other server; `--target` is the first.
    #[arg(long, value_name = "HOST[:PORT]", required = true, value_delimiter = ',')]
    against: Vec<String>,
    /// Requests a second.
    #[arg(long, default_value = "1000")]
    rate: Rate,
    /// Runs of each.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=64))]
    rounds: u32,
}

/// Runs them in turns and compares.
///
/// # Errors
/// One line: why there was no run, or what cannot be compared.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let part = |name: &str| {
        let mut series = options.series.clone();
        series.common.out = series.common.out.map(|folder| folder.join(name));
        series
    };
    let mut other = part("after");
    other.common.target.clone_from(&options.against);
    let mut first = Prober::new(&part("before"), interrupt)?;
    let mut second = Prober::new(&other, interrupt)?;
    let load = Asked::Rate(options.rate.0 as f64 / Rate::UNIT as f64);
    let trial = Trial { load, nanos: options.series.duration, label: "turn" };
    println!("  {}", series::head());
    let told = &mut |is_second: bool, outcome: &_| {
        println!("{} {}", if is_second { "B" } else { "A" }, series::line(outcome));
    };
    let (before, after) =
        compare::interleaved(&mut first, &mut second, &trial, options.rounds as usize, told)?;
    let seed = options.series.common.seed;
    let comparison = compare::compare(&before, &after, seed).map_err(|error| error.to_string())?;
    print!("\n{}", compare::text(&comparison));
    Ok(ExitCode::SUCCESS)
}
