//! `nodetool flush`.

use basalt_node::admin::commands::{Selection, flush};
use clap::Args;

use super::{Ended, Target};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// The keyspace followed by one or many tables
    #[arg(value_name = "KEYSPACE TABLES")]
    arguments: Vec<String>,
}

/// Prints nothing, as Cassandra's.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    target.call::<flush::Flush>(&Selection::of(&options.arguments))
}
