//! Schema objects as rows of `system_schema`, cell for cell and deletion for deletion as Cassandra
//! writes them (`SchemaKeyspace`). One file a table. Knows no statement.

pub mod column_masks;
pub mod columns;
pub mod dropped_columns;
pub mod keyspaces;
pub mod tables;
pub mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::{
    Cell, Clustering, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, Row, Table,
};
use bytes::Bytes;

use super::encode;

/// Every table of `system_schema` with its definition, by name.
pub type SchemaTables = BTreeMap<&'static str, Arc<Table>>;

/// Names of the tables of `system_schema`, in the order in which the digest takes them
/// (`SchemaKeyspaceTables.ALL`).
pub const ALL: [&str; 11] = [
    "column_masks",
    "columns",
    "dropped_columns",
    "triggers",
    "types",
    "functions",
    "aggregates",
    "indexes",
    "tables",
    "views",
    "keyspaces",
];

/// All that one change writes about one keyspace: one mutation.
pub struct SchemaMutation<'a> {
    tables: &'a SchemaTables,
    keyspace: Arc<str>,
    timestamp: i64,
    now_s: i64,
    updates: BTreeMap<&'static str, PartitionUpdate>,
}

/// A row being written: live from the mutation's timestamp on.
pub struct RowWriter<'a> {
    table: Arc<Table>,
    timestamp: i64,
    now_s: i64,
    row: &'a mut Row,
}

impl<'a> SchemaMutation<'a> {
    /// Nothing yet, about `keyspace`.
    pub fn new(tables: &'a SchemaTables, keyspace: &str, timestamp: i64, now_s: i64) -> SchemaMutation<'a> {
        SchemaMutation { tables, keyspace: keyspace.into(), timestamp, now_s, updates: BTreeMap::new() }
    }

    fn update(&mut self, table: &'static str) -> Option<&mut PartitionUpdate> {
        if !self.updates.contains_key(table) {
            let definition = self.tables.get(table)?.clone();
            let key = DecoratedKey::new(encode::text(&self.keyspace));
            self.updates.insert(table, PartitionUpdate::new(definition, key));
        }
        self.updates.get_mut(table)
    }

    /// Deletes everything about the keyspace in all tables.
    pub fn delete_keyspace(&mut self) {
        let deletion = Deletion { timestamp: self.timestamp, local_time_s: self.now_s };
        for table in ALL {
            if let Some(update) = self.update(table) {
                update.deletion = deletion;
            }
        }
    }

    /// The row at `clustering`, made if it is not there; `write` fills it.
    pub fn row(&mut self, table: &'static str, clustering: &[&str], write: impl FnOnce(&mut RowWriter<'_>)) {
        let (timestamp, now_s) = (self.timestamp, self.now_s);
        let Some(update) = self.update(table) else { return };
        let clustering = Clustering::from_values(clustering.iter().map(|value| encode::text(value)));
        let definition = update.table.clone();
        let place =
            update.rows.binary_search_by(|row| definition.compare_clusterings(&row.clustering, &clustering));
        let index = place.unwrap_or_else(|index| {
            update.rows.insert(index, Row::new(clustering));
            index
        });
        if let Some(row) = update.rows.get_mut(index) {
            write(&mut RowWriter { table: definition, timestamp, now_s, row });
        }
    }

    /// Deletes the row at `clustering`.
    pub fn delete_row(&mut self, table: &'static str, clustering: &[&str]) {
        self.row(table, clustering, |row| row.delete());
    }

    /// The mutation, if it does anything.
    pub fn finish(self) -> Option<Mutation> {
        let updates: Vec<PartitionUpdate> = self.updates.into_values().collect();
        let key = updates.first()?.key.clone();
        Some(Mutation { keyspace: "system_schema".into(), key, updates })
    }
}

impl RowWriter<'_> {
    /// Deletes what the row held before this change (`Row.SimpleBuilder.deletePrevious`).
    pub fn delete_previous(&mut self) {
        self.row.deletion = Deletion { timestamp: self.timestamp - 1, local_time_s: self.now_s };
        self.row.liveness = Liveness::at(self.timestamp);
    }

    /// Deletes the row.
    pub fn delete(&mut self) {
        self.row.deletion = Deletion { timestamp: self.timestamp, local_time_s: self.now_s };
        self.row.liveness = Liveness::NONE;
        self.row.cells.clear();
    }

    /// Sets a column.
    pub fn set(&mut self, column: &str, value: Bytes) {
        // The row's own deletion would shadow whatever is written with it.
        if self.row.deletion.deletes(self.timestamp) {
            return;
        }
        self.row.liveness = Liveness::at(self.timestamp);
        let Some(column) = self.table.column(column) else { return };
        let cell = Cell::live(column.id, None, self.timestamp, value);
        match self.row.cells.binary_search_by_key(&cell.column, |cell| cell.column) {
            Ok(index) => {
                if let Some(slot) = self.row.cells.get_mut(index) {
                    *slot = cell;
                }
            }
            Err(index) => self.row.cells.insert(index, cell),
        }
    }
}
