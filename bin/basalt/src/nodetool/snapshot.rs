//! `nodetool snapshot`.

use basalt_model::env::Env;
use basalt_node::admin::commands::snapshot;
use basalt_node::env::SystemEnv;
use clap::Args;

use super::{Ended, Target, print};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// List of keyspaces. By default, all keyspaces
    keyspaces: Vec<String>,
    /// The table name (you must specify one and only one keyspace for using this option) [also -cf]
    #[arg(long, alias = "column-family")]
    table: Option<String>,
    /// The name of the snapshot [default: the milliseconds since 1970]
    #[arg(short, long)]
    tag: Option<String>,
    /// The list of Keyspace.table to take snapshot (you must not specify only keyspace) [also -kt, -kc]
    #[arg(long)]
    kt_list: Option<String>,
    /// Do not flush memtables before snapshotting (snapshot will not contain unflushed data) [also -sf]
    #[arg(long)]
    skip_flush: bool,
    /// Specify a TTL of created snapshot
    #[arg(long)]
    ttl: Option<String>,
}

/// Takes one and says where.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    let tag =
        options.tag.clone().unwrap_or_else(|| SystemEnv::new().wall_micros().div_euclid(1_000).to_string());
    let ttl_s = options.ttl.as_deref().map(print::seconds).transpose().map_err(Ended::BadUse)?;
    let list = options.kt_list.as_ref().map(|list| list.replace(' ', "")).filter(|list| !list.is_empty());
    if tag.contains('/') {
        return Err(Ended::Failed("Snapshot name cannot contain /".to_owned()));
    }
    if list.is_some() && (!options.keyspaces.is_empty() || options.table.is_some()) {
        return Err(Ended::Failed(
            "When specifying the Keyspace table list (using -kt,--kt-list,-kc,--kc.list), you must not also specify keyspaces to snapshot".to_owned(),
        ));
    }
    let what = match &list {
        Some(list) => format!("[{list}]"),
        None if options.keyspaces.is_empty() => "[all keyspaces]".to_owned(),
        None => format!("[{}]", options.keyspaces.join(", ")),
    };
    let name = if tag.is_empty() { String::new() } else { format!(" with snapshot name [{tag}]") };
    // In the order of a Java map of these two.
    let ttl = options.ttl.as_ref().map_or(String::new(), |ttl| format!("ttl={ttl}, "));
    println!(
        "Requested creating snapshot(s) for {what}{name} and options {{{ttl}skipFlush={}}}",
        options.skip_flush
    );
    target.call::<snapshot::Snapshot>(&snapshot::Request {
        tag: tag.clone(),
        keyspaces: options.keyspaces.clone(),
        table: options.table.clone(),
        tables: list.map_or_else(Vec::new, |list| list.split(',').map(str::to_owned).collect()),
        skip_flush: options.skip_flush,
        ttl_s,
    })?;
    println!("Snapshot directory: {tag}");
    Ok(())
}
