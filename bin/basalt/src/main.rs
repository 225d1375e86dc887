//! The one program: `basalt run` starts a node. Reads the command line and the environment, and is the
//! only one to print and to end the process.

mod demo;
mod machine;
mod nodetool;
mod run;
mod stress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A native Apache Cassandra node on RocksDB.
#[derive(Parser)]
#[command(name = "basalt", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a node.
    Run(run::Options),
    /// Start a node on an empty directory, load it, and print how long its users would wait.
    Demo(demo::Options),
    /// Measure how long the users of a node, or of Cassandra, would wait.
    Stress(stress::Options),
    /// Have a running node flush, compact, take a snapshot and the like: Cassandra's nodetool.
    Nodetool(nodetool::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(nodetool::long_names(std::env::args()));
    let ended = match arguments.command.unwrap_or_else(|| Command::Run(run::Options::default())) {
        Command::Run(options) => run::run(options),
        Command::Demo(options) => demo::run(&options),
        Command::Stress(options) => return stress::run(options),
        Command::Nodetool(options) => return nodetool::run(&options),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("basalt: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    //! What clap checks only when it runs.
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
