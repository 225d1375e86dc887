//! `basalt stress load`: makes the workload's tables and writes its records.

use std::process::ExitCode;

use basalt_stress::run::Asked;
use basalt_stress::schema;
use clap::Args;

use super::common;
use super::interrupt::Interrupt;

/// What `basalt stress load` takes.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    common: common::Options,
    /// Writers, each of whom waits for an answer before writing again.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Remove the workload's keyspace first, with all that is in it.
    #[arg(long)]
    drop: bool,
}

/// Runs it.
///
/// # Errors
/// One line: why nothing was written.
pub fn run(options: &Options, interrupt: &Interrupt) -> Result<ExitCode, String> {
    let prepared = options.common.prepare(false, interrupt)?;
    let address = prepared.targets.first().ok_or("no node is named")?;
    let failed = |error: basalt_stress::client::Error| error.to_string();
    if options.drop {
        schema::remove(*address, &prepared.client, &*prepared.workload).map_err(failed)?;
    }
    schema::create(*address, &prepared.client, &*prepared.workload).map_err(failed)?;
    let asked = Asked::Load { threads: options.threads };
    let settings = options.common.settings(&prepared, asked, 0, None)?;
    let finished = common::go(settings, &prepared, 0)?;
    options.common.conclude(&finished.outcome, None)
}
