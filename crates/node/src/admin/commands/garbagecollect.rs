//! `nodetool garbagecollect`: what is deleted, covered or expired leaves the tables now, not when they are due
//! (`StorageService.garbageCollect`). Deletions themselves stay for `gc_grace_seconds`, as ever.

use serde::{Deserialize, Serialize};

use super::Selection;
use crate::admin::{Admin, Command, Failure};

/// The command.
pub struct GarbageCollect;

/// What was done to one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// Its keyspace.
    pub keyspace: String,
    /// Its name.
    pub table: String,
    /// Rows read.
    pub rows: u64,
    /// Entries that something was taken out of.
    pub purged: u64,
    /// Deletions old enough that stay, because data as old was written meanwhile.
    pub withheld: u64,
}

impl Command for GarbageCollect {
    const NAME: &'static str = "garbagecollect";
    type Request = Selection;
    type Answer = Vec<Collected>;

    fn run(admin: &Admin, request: Selection) -> Result<Vec<Collected>, Failure> {
        let tables = request.find(&admin.schema.current())?;
        let collect = |table: &std::sync::Arc<basalt_model::Table>| {
            let counts = admin.purges.collect(table)?;
            Ok(Collected {
                keyspace: table.keyspace.to_string(),
                table: table.name.to_string(),
                rows: counts.rows,
                purged: counts.purged,
                withheld: counts.withheld,
            })
        };
        tables.iter().map(collect).collect()
    }
}
