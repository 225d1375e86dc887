//! `nodetool snapshot` (`StorageService.takeSnapshot`).

use std::sync::Arc;

use basalt_model::Table;
use serde::{Deserialize, Serialize};

use crate::admin::tables::{find_table, stored_keyspaces};
use crate::admin::{Admin, Command, Failure};
use crate::snapshots::Taking;

/// A snapshot that is asked for lives at least so long (`cassandra.snapshot.min_allowed_ttl_seconds`).
const TTL_MIN_S: i64 = 60;

/// The command.
pub struct Snapshot;

/// What a snapshot is taken of, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// Its name.
    pub tag: String,
    /// Of these keyspaces; of all without one.
    pub keyspaces: Vec<String>,
    /// Of this table of the one keyspace.
    pub table: Option<String>,
    /// Of these, each `keyspace.table`, instead.
    pub tables: Vec<String>,
    /// Leaves out what is not in files yet.
    pub skip_flush: bool,
    /// Seconds until it goes by itself.
    pub ttl_s: Option<i64>,
}

impl Command for Snapshot {
    const NAME: &'static str = "snapshot";
    type Request = Request;
    type Answer = ();

    fn run(admin: &Admin, request: Request) -> Result<(), Failure> {
        if request.ttl_s.is_some_and(|ttl_s| ttl_s < TTL_MIN_S) {
            return Err(Failure::BadUse(format!("ttl for snapshot must be at least {TTL_MIN_S} seconds")));
        }
        let tables = tables(admin, &request)?;
        let taking = Taking { flushes: !request.skip_flush, ttl_s: request.ttl_s };
        Ok(admin.snapshots.take(&request.tag, &tables, taking)?)
    }
}

fn tables(admin: &Admin, request: &Request) -> Result<Vec<Arc<Table>>, Failure> {
    let schema = admin.schema.current();
    let keyspace = |name: &str| {
        let found = stored_keyspaces(&schema).find(|keyspace| *keyspace.name == *name);
        let is_virtual = schema.keyspace(name).is_some();
        found.ok_or_else(|| match is_virtual {
            true => Failure::BadUse(format!("Cannot perform any operations against virtual keyspace {name}")),
            false => Failure::BadUse(format!("Keyspace {name} does not exist")),
        })
    };
    if !request.tables.is_empty() {
        let table = |name: &String| {
            match name.split('.').collect::<Vec<_>>().as_slice() {
            [of, table] => find_table(keyspace(of)?, table),
            _ => Err(Failure::BadUse(
                "Cannot take a snapshot on secondary index or invalid column family name. You must supply a column family name in the form of keyspace.columnfamily".to_owned(),
            )),
        }
        };
        return request.tables.iter().map(table).collect();
    }
    if let Some(table) = &request.table {
        let [one] = request.keyspaces.as_slice() else {
            return Err(Failure::Failed(
                "When specifying the table for a snapshot, you must specify one and only one keyspace"
                    .to_owned(),
            ));
        };
        return Ok(vec![find_table(keyspace(one)?, table)?]);
    }
    if request.keyspaces.is_empty() {
        return Ok(stored_keyspaces(&schema)
            .flat_map(|keyspace| keyspace.tables.values().cloned())
            .collect());
    }
    let mut tables = Vec::new();
    for name in &request.keyspaces {
        tables.extend(keyspace(name)?.tables.values().cloned());
    }
    Ok(tables)
}
