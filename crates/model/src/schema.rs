//! Keyspaces, tables, columns: an immutable picture of the schema, replaced whole at each change.
//!
//! How the picture is stored in `system_schema` and how DDL changes it is the query crate's matter.

mod mask;
mod options;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use uuid::Uuid;

pub use mask::ColumnMask;
pub use options::{
    CachingOptions, CompactionOptions, CompressionOptions, OptionsEffect, SpeculativeRetry, TableOptions,
};
pub use table::{ClusteringOrder, Column, ColumnId, ColumnKind, Compact, DroppedColumn, Table, TableId};

use crate::types::UserType;

/// What a keyspace's rows are and who may change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyspaceKind {
    /// Made by a client.
    User,
    /// `system`, `system_schema`: this node's own, never altered.
    LocalSystem,
    /// `system_auth`, `system_traces`, `system_distributed`: replicated; replication may be altered.
    DistributedSystem,
    /// `system_views`, `system_virtual_schema`: computed when read.
    Virtual,
}

/// A keyspace (`schema/KeyspaceMetadata`).
#[derive(Clone, Debug)]
pub struct Keyspace {
    /// Its name.
    pub name: Arc<str>,
    /// Whose it is.
    pub kind: KeyspaceKind,
    /// Whether writes go to the commit log.
    pub durable_writes: bool,
    /// The replication map as the user gave it, `class` included (full Java class name).
    pub replication: BTreeMap<String, String>,
    /// By name.
    pub tables: BTreeMap<Arc<str>, Arc<Table>>,
    /// By name.
    pub types: BTreeMap<Arc<str>, Arc<UserType>>,
}

/// The whole schema at one moment.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// By name; system and virtual keyspaces included.
    pub keyspaces: BTreeMap<Arc<str>, Arc<Keyspace>>,
    /// Every table of every keyspace.
    pub tables_by_id: HashMap<TableId, Arc<Table>>,
    /// What `system.local.schema_version` shows (`SchemaKeyspace.calculateSchemaDigest`).
    pub version: Uuid,
    /// Counts changes since start; plans made under another generation are made anew.
    pub generation: u64,
}

impl Schema {
    /// The keyspace of that name.
    pub fn keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspaces.get(name)
    }

    /// The table of that name.
    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Arc<Table>> {
        self.keyspaces.get(keyspace)?.tables.get(name)
    }

    /// The table with that id.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        self.tables_by_id.get(&id)
    }

    /// The user-defined type of that name.
    pub fn user_type(&self, keyspace: &str, name: &str) -> Option<&Arc<UserType>> {
        self.keyspaces.get(keyspace)?.types.get(name)
    }
}
