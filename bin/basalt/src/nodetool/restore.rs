//! `nodetool restore`, which Cassandra does not have.

use basalt_node::admin::commands::{Selection, restore};
use clap::Args;

use super::{Ended, Target};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// The keyspace followed by one or many tables; all of the snapshot without
    #[arg(value_name = "KEYSPACE TABLES")]
    arguments: Vec<String>,
    /// The snapshot
    #[arg(short, long)]
    tag: String,
}

/// Says what was restored.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    let request = restore::Request { tag: options.tag.clone(), selection: Selection::of(&options.arguments) };
    for restored in target.call::<restore::Restore>(&request)? {
        println!("Restored {}.{}", restored.keyspace, restored.table);
    }
    Ok(())
}
