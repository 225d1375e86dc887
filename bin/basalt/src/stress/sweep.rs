//! `basalt stress sweep`: the same run at several rates, or with several numbers of users.

use std::process::ExitCode;

use basalt_stress::search::{self, Asked, Sla};
use clap::Args;

use super::interrupt::Interrupt;
use super::series::{self, Prober};

/// What `basalt stress sweep` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    series: series::Options,
    /// Rates: 2K,5K,10K or 10K..80K+10K, or 1K..64K for doubling.
    #[arg(long, value_name = "LIST", required_unless_present = "threads")]
    rates: Option<String>,
    /// Instead of rates, users who each wait for an answer before asking again: 8..260. Service time only.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["rates", "arrivals"])]
    threads: Option<String>,
    /// Draw an agreement into the charts: p99<5ms,p99.9<10ms.
    #[arg(long, value_parser = Sla::parse)]
    sla: Option<Sla>,
}

/// Runs them.
///
/// # Errors
/// One line: why there was no run.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let loads = loads(options)?;
    let mut prober = Prober::new(&options.series, interrupt)?;
    println!("{}", series::head());
    let told = &mut |outcome: &_| println!("{}", series::line(outcome));
    let outcomes = search::sweep(&mut prober, &loads, options.series.duration, told)?;
    series::write(options.series.common.out.as_ref(), &outcomes, options.sla.as_ref(), &[])?;
    Ok(ExitCode::SUCCESS)
}

fn loads(options: &Options) -> Result<Vec<Asked>, String> {
    if let Some(threads) = &options.threads {
        let threads = search::parse_list(threads)?;
        return threads
            .into_iter()
            .map(|users| {
                u32::try_from(users).map(Asked::Threads).map_err(|_| format!("{users} users are too many"))
            })
            .collect();
    }
    let rates = search::parse_list(options.rates.as_deref().unwrap_or_default())?;
    Ok(rates.into_iter().map(|rate| Asked::Rate(rate as f64)).collect())
}
