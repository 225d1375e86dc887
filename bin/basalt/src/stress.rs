//! `basalt stress COMMAND`: the load generator, against Basalt, Cassandra or ScyllaDB alike. One file a command; what a
//! run is, is the crate `stress`'s matter.

mod bounded;
mod common;
mod compare;
mod files;
mod interrupt;
mod load;
mod report;
mod run;
mod selftest;
mod series;
mod sustain;
mod sweep;
mod versus;

use std::process::ExitCode;
use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use clap::{Args, Subcommand};

use interrupt::Interrupt;

/// What the exit codes mean.
const EXIT_CODES: &str = "\
Exit codes: 0 the run shows what was asked; 1 there was no run (no connection, refused, no such workload); 2 the command \
line is not understood; 3 degraded: requests failed, timed out, or had no answer when the run ended; 4 invalid: the run \
does not show what was asked (more in flight than allowed, the client could not keep up, or a signal cut it short).";

/// What `basalt stress` takes.
#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    #[command(subcommand)]
    command: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Ask at the moments of a plan, whatever the server does, and print how long its users would wait.
    #[command(after_help = EXIT_CODES)]
    Run(Box<run::Options>),
    /// Create the workload's tables and write its records.
    #[command(after_help = EXIT_CODES)]
    Load(Box<load::Options>),
    /// Find what this machine's client costs, and how fast it can honestly be.
    Selftest(selftest::Options),
    /// Run at several rates, or with several numbers of users, one after the other.
    Sweep(Box<sweep::Options>),
    /// Find the largest throughput, then run at 50 to 100 % of it.
    Bounded(Box<bounded::Options>),
    /// Find the highest rate that keeps an agreement on response times.
    Sustain(Box<sustain::Options>),
    /// Compare two groups of recorded runs.
    Compare(compare::Options),
    /// Run against two servers in turns, and compare.
    Versus(Box<versus::Options>),
    /// Make reports of recorded runs: text, a page, a table, pictures.
    Report(report::Options),
}

/// Runs the command.
pub fn run(options: Options) -> ExitCode {
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let ended = Interrupt::watch(&env).and_then(|interrupt| match options.command {
        Tool::Run(options) => run::run(&options, &interrupt),
        Tool::Load(options) => load::run(&options, &interrupt),
        Tool::Selftest(options) => selftest::run(&options),
        Tool::Sweep(options) => sweep::run(&options, &interrupt),
        Tool::Bounded(options) => bounded::run(&options, &interrupt),
        Tool::Sustain(options) => sustain::run(&options, &interrupt),
        Tool::Compare(options) => compare::run(&options),
        Tool::Versus(options) => versus::run(&options, &interrupt),
        Tool::Report(options) => report::run(&options),
    });
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("basalt stress: {error}");
            ExitCode::FAILURE
        }
    }
}
