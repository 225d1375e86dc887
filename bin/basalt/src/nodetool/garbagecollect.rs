//! `nodetool garbagecollect`.

use basalt_node::admin::commands::{Selection, garbagecollect};
use clap::{Args, ValueEnum};

use super::{Ended, Target};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// The keyspace followed by one or many tables
    #[arg(value_name = "KEYSPACE TABLES")]
    arguments: Vec<String>,
    /// Granularity of garbage removal. Both remove deleted partitions, rows and cells here
    #[arg(short, long, value_enum, default_value = "ROW")]
    granularity: Granularity,
    /// Cassandra's number of sstables at a time; here it is one table after the other
    #[arg(short, long, default_value_t = 1)]
    jobs: u32,
    /// Print what was taken out of each table; Cassandra's prints nothing
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Granularity {
    Row,
    Cell,
}

/// Prints nothing, as Cassandra's, unless asked to.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    // Both are what is done anyway; they are checked so that scripts may give them.
    let Options { granularity: Granularity::Row | Granularity::Cell, jobs: _, .. } = options;
    let tables = target.call::<garbagecollect::GarbageCollect>(&Selection::of(&options.arguments))?;
    for table in tables.iter().filter(|_| options.verbose) {
        println!(
            "{}.{}: took something out of {} entries, read {} rows, {} deletions withheld",
            table.keyspace, table.table, table.purged, table.rows, table.withheld
        );
    }
    Ok(())
}
