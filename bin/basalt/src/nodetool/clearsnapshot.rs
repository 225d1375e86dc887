//! `nodetool clearsnapshot`.

use basalt_node::admin::commands::clearsnapshot;
use clap::Args;

use super::{Ended, Target, print};

/// What it takes.
#[derive(Args)]
pub struct Options {
    /// Remove snapshots from the given keyspaces
    keyspaces: Vec<String>,
    /// Remove the snapshot with a given name
    #[arg(short = 't', value_name = "SNAPSHOT")]
    tag: Option<String>,
    /// Removes all snapshots
    #[arg(long)]
    all: bool,
    /// Clear snapshots older than specified time period
    #[arg(long)]
    older_than: Option<String>,
    /// Clear snapshots older than specified timestamp. It has to be a string in ISO format, for example '2022-12-03T10:15:30Z'
    #[arg(long)]
    older_than_timestamp: Option<String>,
}

/// Says what goes, and removes it.
pub fn run(target: &Target, options: &Options) -> Result<(), Ended> {
    let tag = options.tag.clone().filter(|tag| !tag.is_empty());
    let refused = match (&tag, options.all, &options.older_than, &options.older_than_timestamp) {
        (None, false, _, _) => Some("Specify snapshot name or --all"),
        (Some(_), true, _, _) => Some("Specify only one of snapshot name or --all"),
        (_, _, Some(_), Some(_)) => Some("Specify only one of --older-than or --older-than-timestamp"),
        (Some(_), _, Some(_), _) => {
            Some("Specifying snapshot name together with --older-than flag is not allowed")
        }
        (Some(_), _, _, Some(_)) => {
            Some("Specifying snapshot name together with --older-than-timestamp flag is not allowed")
        }
        _ => None,
    };
    if let Some(text) = refused {
        return Err(Ended::BadUse(text.to_owned()));
    }
    let older_than_s =
        options.older_than.as_deref().map(print::seconds).transpose().map_err(Ended::BadUse)?;
    let mut line = "Requested clearing snapshot(s) for ".to_owned();
    line += &match options.keyspaces.is_empty() {
        true => "[all keyspaces]".to_owned(),
        false => format!("[{}]", options.keyspaces.join(", ")),
    };
    line += &tag
        .as_ref()
        .map_or(" with [all snapshots]".to_owned(), |tag| format!(" with snapshot name [{tag}]"));
    line += &older_than_s.map_or(String::new(), |seconds| format!(" older than {seconds} seconds."));
    let timestamp = &options.older_than_timestamp;
    line += &timestamp.as_ref().map_or(String::new(), |moment| format!(" older than timestamp {moment}"));
    println!("{line}");
    target.call::<clearsnapshot::ClearSnapshot>(&clearsnapshot::Request {
        tag,
        all: options.all,
        keyspaces: options.keyspaces.clone(),
        older_than_s,
        older_than_timestamp: timestamp.clone(),
    })
}
