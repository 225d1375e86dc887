//! Keyspaces and tables as commands name them: one keyspace and some of its tables, or all.

use std::sync::Arc;

use basalt_model::schema::KeyspaceKind;
use basalt_model::{Keyspace, Schema, Table};
use serde::{Deserialize, Serialize};

use super::Failure;

/// `[<keyspace> <tables>...]`: all keyspaces without one, all of its tables without any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The keyspace.
    pub keyspace: Option<String>,
    /// Its tables.
    #[serde(default)]
    pub tables: Vec<String>,
}

impl Selection {
    /// Of a command line's arguments.
    pub fn of(arguments: &[String]) -> Selection {
        match arguments.split_first() {
            None => Selection::default(),
            Some((keyspace, tables)) => {
                Selection { keyspace: Some(keyspace.clone()), tables: tables.to_vec() }
            }
        }
    }

    /// The tables it names.
    ///
    /// # Errors
    /// There is no such keyspace or table (`NodeTool.parseOptionalKeyspace`, `Keyspace.getColumnFamilyStore`).
    pub fn find(&self, schema: &Schema) -> Result<Vec<Arc<Table>>, Failure> {
        let Some(name) = &self.keyspace else {
            return Ok(stored_keyspaces(schema)
                .flat_map(|keyspace| keyspace.tables.values().cloned())
                .collect());
        };
        let keyspace = stored_keyspaces(schema).find(|keyspace| *keyspace.name == **name);
        let keyspace =
            keyspace.ok_or_else(|| Failure::BadUse(format!("Keyspace [{name}] does not exist.")))?;
        if self.tables.is_empty() {
            return Ok(keyspace.tables.values().cloned().collect());
        }
        self.tables.iter().map(|table| find_table(keyspace, table)).collect()
    }
}

/// The keyspaces whose tables are stored.
pub fn stored_keyspaces(schema: &Schema) -> impl Iterator<Item = &Arc<Keyspace>> {
    schema.keyspaces.values().filter(|keyspace| keyspace.kind != KeyspaceKind::Virtual)
}

/// A table of a keyspace.
///
/// # Errors
/// There is none of this name.
pub fn find_table(keyspace: &Keyspace, name: &str) -> Result<Arc<Table>, Failure> {
    let table = keyspace.tables.get(name).cloned();
    table.ok_or_else(|| Failure::Failed(format!("Unknown keyspace/cf pair ({}.{name})", keyspace.name)))
}
