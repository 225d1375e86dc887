//! `nodetool listsnapshots` (`StorageService.getSnapshotDetails`).

use serde::{Deserialize, Serialize};

use crate::admin::{Admin, Command, Failure};

/// The command.
pub struct ListSnapshots;

/// Which are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// Leaves out those that go by themselves.
    pub no_ttl: bool,
    /// Shows those that go with the next start, too.
    pub include_ephemeral: bool,
}

/// All snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Each table of each.
    pub snapshots: Vec<Row>,
    /// Bytes that only snapshots hold (`trueSnapshotsSize`).
    pub true_size_bytes: u64,
}

/// A table of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named as the columns are that nodetool prints")]
pub struct Row {
    pub tag: String,
    pub keyspace: String,
    pub table: String,
    pub true_size_bytes: u64,
    pub size_bytes: u64,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub ephemeral: bool,
}

impl Command for ListSnapshots {
    const NAME: &'static str = "listsnapshots";
    type Request = Request;
    type Answer = Answer;

    fn run(admin: &Admin, request: Request) -> Result<Answer, Failure> {
        let all = admin.snapshots.list()?;
        let true_size_bytes = all.iter().map(|listed| listed.true_size_bytes).sum();
        let is_shown = |row: &Row| {
            (!request.no_ttl || row.expires_at.is_none()) && (request.include_ephemeral || !row.ephemeral)
        };
        let row = |listed: crate::snapshots::Listed| Row {
            tag: listed.tag,
            keyspace: listed.manifest.keyspace,
            table: listed.manifest.table,
            true_size_bytes: listed.true_size_bytes,
            size_bytes: listed.size_bytes,
            created_at: listed.manifest.created_at,
            expires_at: listed.manifest.expires_at,
            ephemeral: listed.manifest.ephemeral,
        };
        Ok(Answer { snapshots: all.into_iter().map(row).filter(is_shown).collect(), true_size_bytes })
    }
}
