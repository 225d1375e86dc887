//! `nodetool listsnapshots`.

use basalt_node::admin::commands::listsnapshots;
use clap::Args;

use super::{Ended, Target, print};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// Skip snapshots with TTL [also -nt]
    #[arg(long)]
    no_ttl: bool,
    /// Include ephememeral snapshots
    #[arg(short, long)]
    ephemeral: bool,
}

const COLUMNS: [&str; 8] = [
    "Snapshot name",
    "Keyspace name",
    "Column family name",
    "True size",
    "Size on disk",
    "Creation time",
    "Expiration time",
    "Ephemeral",
];

/// Prints a line for each table of each.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    let request = listsnapshots::Request { no_ttl: options.no_ttl, include_ephemeral: options.ephemeral };
    let answer = target.call::<listsnapshots::ListSnapshots>(&request)?;
    println!("Snapshot Details: ");
    if answer.snapshots.is_empty() {
        println!("There are no snapshots");
        return Ok(());
    }
    let row = |row: listsnapshots::Row| {
        vec![
            row.tag,
            row.keyspace,
            row.table,
            print::size(row.true_size_bytes),
            print::size(row.size_bytes),
            row.created_at,
            row.expires_at.unwrap_or_default(),
            row.ephemeral.to_string(),
        ]
    };
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(answer.snapshots.into_iter().map(row));
    if !options.ephemeral {
        rows.iter_mut().for_each(|row| row.truncate(COLUMNS.len() - 1));
    }
    print!("{}", print::table(&rows));
    println!("\nTotal TrueDiskSpaceUsed: {}\n", print::size(answer.true_size_bytes));
    Ok(())
}
