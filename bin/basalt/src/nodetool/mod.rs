//! `basalt nodetool COMMAND`: Cassandra's operator commands, with its names, flags, output and exit codes, asked of a
//! running node. One file a command; what a command does is the node's matter.

mod clearsnapshot;
mod compact;
mod flags;
mod flush;
mod garbagecollect;
mod listsnapshots;
mod print;
mod restore;
mod snapshot;

use std::process::ExitCode;

use basalt_node::admin::client::{CallError, call};
use basalt_node::admin::{Command, Failure};
use clap::{ArgAction, Args, Subcommand};

pub use flags::long_names;

/// What `basalt nodetool` takes.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// Node hostname or ip address
    #[arg(short = 'h', long, global = true, default_value = "127.0.0.1")]
    host: String,
    /// Port of the node for nodetool
    #[arg(short = 'p', long, global = true, default_value_t = 7199)]
    port: u16,
    /// Nobody is asked for a name yet; taken for scripts that give one
    #[arg(short = 'u', long, global = true, hide = true)]
    username: Option<String>,
    /// As the name
    #[arg(long, global = true, hide = true)]
    password: Option<String>,
    /// As the name
    #[arg(long, global = true, hide = true)]
    password_file: Option<String>,
    /// Operate in 4.0 mode with hosts disambiguated by port number
    #[arg(long, global = true)]
    print_port: bool,
    /// Print help
    #[arg(long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    #[command(subcommand)]
    command: Tool,
}

#[derive(Subcommand)]
#[command(rename_all = "lower")]
enum Tool {
    /// Remove the snapshot with the given name from the given keyspaces
    ClearSnapshot(clearsnapshot::Options),
    /// Force a (major) compaction on one or more tables
    Compact(compact::Options),
    /// Flush one or more tables
    Flush(flush::Options),
    /// Remove deleted data from one or more tables
    GarbageCollect(garbagecollect::Options),
    /// Lists all the snapshots along with the size on disk and true size
    ListSnapshots(listsnapshots::Options),
    /// Make a snapshot the data of its tables again, all or some; those that are not there are made
    Restore(restore::Options),
    /// Take a snapshot of specified keyspaces or a snapshot of the specified table
    Snapshot(snapshot::Options),
}

/// Why a command ended badly: nodetool's two ways.
#[derive(Debug)]
pub enum Ended {
    /// The command makes no sense as it was given, or nobody listens: exit code 1.
    BadUse(String),
    /// It failed: exit code 2.
    Failed(String),
}

/// The node that is asked.
pub struct Target {
    host: String,
    port: u16,
}

impl Target {
    /// Has it do a command.
    fn call<C: Command>(&self, request: &C::Request) -> Result<C::Answer, Ended> {
        call::<C>(&self.host, self.port, request).map_err(|error| match error {
            CallError::Failure(Failure::BadUse(text)) => Ended::BadUse(text),
            CallError::Failure(Failure::Failed(text)) | CallError::Broken(text) => Ended::Failed(text),
            CallError::Unreachable(error) => {
                Ended::BadUse(format!("Failed to connect to '{}:{}' - {error}.", self.host, self.port))
            }
        })
    }
}

/// Runs a command.
pub fn run(options: &Options) -> ExitCode {
    let target = Target { host: options.host.clone(), port: options.port };
    let ended = match &options.command {
        Tool::ClearSnapshot(options) => clearsnapshot::run(&target, options),
        Tool::Compact(options) => compact::run(&target, options),
        Tool::Flush(options) => flush::run(&target, options),
        Tool::GarbageCollect(options) => garbagecollect::run(&target, options),
        Tool::ListSnapshots(options) => listsnapshots::run(&target, options),
        Tool::Restore(options) => restore::run(&target, options),
        Tool::Snapshot(options) => snapshot::run(&target, options),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Ended::BadUse(text)) => {
            println!("nodetool: {text}\nSee 'nodetool help' or 'nodetool help <command>'.");
            ExitCode::from(1)
        }
        Err(Ended::Failed(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}
