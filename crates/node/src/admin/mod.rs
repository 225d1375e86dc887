//! What operators ask of a running node: `basalt nodetool` and whoever else speaks HTTP on loopback. A command is one
//! file in [`commands`] with its request, its answer and its work; the server carries JSON and knows no command.

pub mod client;
pub mod commands;
mod server;
mod tables;

use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_query::{QueryProcessor, SchemaStore};
use basalt_storage::engine::{Engine, EngineError};
use basalt_storage::purge::PurgeError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::purging::Purges;
use crate::snapshots::{SnapshotError, Snapshots};

pub use server::AdminServer;

/// Before a command's name in the path of its address.
pub const PATH: &str = "/v1/";

/// Where the node's numbers are, for Prometheus.
pub const METRICS_PATH: &str = "/metrics";

/// What commands work on.
pub struct Admin {
    /// Time and threads.
    pub env: SharedEnv,
    /// Where data is.
    pub engine: Arc<dyn Engine>,
    /// Which tables there are.
    pub schema: Arc<SchemaStore>,
    /// Takes out what is dead.
    pub purges: Purges,
    /// Takes snapshots.
    pub snapshots: Arc<Snapshots>,
    /// Runs statements.
    pub processor: Arc<QueryProcessor>,
}

/// Why a command was not done, in the words that nodetool prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", content = "error", rename_all = "snake_case")]
pub enum Failure {
    /// The command makes no sense as it was given.
    #[error("{0}")]
    BadUse(String),
    /// It was tried, or would have been, and failed.
    #[error("{0}")]
    Failed(String),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<PurgeError> for Failure {
    fn from(error: PurgeError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

/// A command. Both ends use this: the node runs it, `basalt nodetool` asks for it.
pub trait Command {
    /// Its name: nodetool's.
    const NAME: &'static str;
    /// What it is asked with.
    type Request: Serialize + DeserializeOwned;
    /// What it answers.
    type Answer: Serialize + DeserializeOwned;

    /// Does it, on a thread of its own.
    ///
    /// # Errors
    /// In the words that nodetool prints.
    fn run(admin: &Admin, request: Self::Request) -> Result<Self::Answer, Failure>;
}
