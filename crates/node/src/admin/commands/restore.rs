//! `nodetool restore`, which Cassandra does not have: a snapshot becomes the tables' data again.

use serde::{Deserialize, Serialize};

use super::Selection;
use crate::admin::{Admin, Command, Failure};
use crate::snapshots::Listed;
use crate::snapshots::restore::{self, is_restorable};

/// The command.
pub struct Restore;

/// What is restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The snapshot.
    pub tag: String,
    /// Of it, these tables; all without any.
    #[serde(default)]
    pub selection: Selection,
}

/// A table that was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Its keyspace.
    pub keyspace: String,
    /// Its name.
    pub table: String,
}

impl Command for Restore {
    const NAME: &'static str = "restore";
    type Request = Request;
    type Answer = Vec<Restored>;

    fn run(admin: &Admin, request: Request) -> Result<Vec<Restored>, Failure> {
        let wanted = find(admin, &request)?;
        let restore = restore::Restore {
            engine: &*admin.engine,
            schema: &admin.schema,
            purges: &admin.purges,
            processor: &admin.processor,
        };
        restore.run(&wanted)?;
        let name = |listed: &Listed| Restored {
            keyspace: listed.manifest.keyspace.clone(),
            table: listed.manifest.table.clone(),
        };
        Ok(wanted.iter().map(name).collect())
    }
}

fn find(admin: &Admin, request: &Request) -> Result<Vec<Listed>, Failure> {
    let Selection { keyspace, tables } = &request.selection;
    let is_wanted = |listed: &Listed| {
        listed.tag == request.tag
            && keyspace.as_ref().is_none_or(|keyspace| *keyspace == listed.manifest.keyspace)
            && (tables.is_empty() || tables.contains(&listed.manifest.table))
    };
    let mut wanted: Vec<Listed> = admin.snapshots.list()?.into_iter().filter(is_wanted).collect();
    let missing = tables.iter().find(|table| !wanted.iter().any(|listed| listed.manifest.table == **table));
    if let (Some(keyspace), Some(table)) = (keyspace, missing) {
        return Err(Failure::Failed(format!("Snapshot {} has no table {keyspace}.{table}", request.tag)));
    }
    if wanted.is_empty() {
        return Err(Failure::Failed(format!("Snapshot {} does not exist.", request.tag)));
    }
    if let Some(listed) = wanted.iter().find(|listed| keyspace.is_some() && !is_restorable(listed)) {
        return Err(Failure::Failed(format!(
            "{} cannot be restored: it describes this node",
            listed.manifest.keyspace
        )));
    }
    wanted.retain(is_restorable);
    // A table that was dropped and made again may be there under two ids: the later one counts.
    wanted.sort_by_key(|listed| {
        (
            listed.manifest.keyspace.clone(),
            listed.manifest.table.clone(),
            std::cmp::Reverse(listed.created_ms()),
        )
    });
    wanted.dedup_by_key(|listed| (listed.manifest.keyspace.clone(), listed.manifest.table.clone()));
    Ok(wanted)
}
