//! `nodetool compact`.

use basalt_node::admin::commands::{Selection, compact};
use clap::Args;

use super::{Ended, Target};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// The keyspace followed by one or many tables
    #[arg(value_name = "KEYSPACE TABLES")]
    arguments: Vec<String>,
    /// Not to create a single big file; there never is one here
    #[arg(short = 's', long)]
    split_output: bool,
    /// Cassandra compacts listed files; here tables only
    #[arg(long, hide = true)]
    user_defined: bool,
    /// A token range; here whole tables only
    #[arg(long, hide = true, allow_hyphen_values = true)]
    start_token: Option<String>,
    /// A token range; here whole tables only
    #[arg(long, hide = true, allow_hyphen_values = true)]
    end_token: Option<String>,
    /// One partition; here whole tables only
    #[arg(long, hide = true)]
    partition: Option<String>,
}

/// Prints nothing, as Cassandra's.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    let has_range =
        options.start_token.is_some() || options.end_token.is_some() || options.partition.is_some();
    if options.split_output && (options.user_defined || has_range) {
        return Err(Ended::Failed("Invalid option combination: Can not use split-output here".to_owned()));
    }
    if options.user_defined && has_range {
        let text = "Invalid option combination: Can not provide tokens when using user-defined";
        return Err(Ended::Failed(text.to_owned()));
    }
    if options.user_defined || has_range {
        return Err(Ended::Failed("compacting a part of a table is not supported yet".to_owned()));
    }
    target.call::<compact::Compact>(&Selection::of(&options.arguments))
}
