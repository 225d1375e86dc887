//! Puts a [`Table`] together from columns in any order, and takes one apart to change it.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::schema::{ColumnKind, Compact, DroppedColumn, TableOptions};
use basalt_model::{Column, ColumnId, Schema, Table, TableId};

/// A table in the making.
#[derive(Clone, Debug)]
pub struct TableDraft {
    /// Its id.
    pub id: TableId,
    /// Its keyspace.
    pub keyspace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its columns, in any order.
    pub columns: Vec<Column>,
    /// By name.
    pub dropped_columns: BTreeMap<Arc<str>, DroppedColumn>,
    /// Its options.
    pub options: TableOptions,
    /// Its flags.
    pub flags: Vec<String>,
    /// Computed when read.
    pub is_virtual: bool,
}

impl TableDraft {
    /// A draft that makes `table` again.
    pub fn of(table: &Table) -> TableDraft {
        TableDraft {
            id: table.id,
            keyspace: table.keyspace.clone(),
            name: table.name.clone(),
            columns: table.columns.clone(),
            dropped_columns: table.dropped_columns.clone(),
            options: table.options.clone(),
            flags: table.flags.clone(),
            is_virtual: table.is_virtual,
        }
    }

    /// The table: key columns by position, static and regular columns by name.
    pub fn finish(mut self) -> Table {
        self.columns.sort_by(|a, b| {
            (a.kind, a.position)
                .cmp(&(b.kind, b.position))
                .then_with(|| a.name.as_bytes().cmp(b.name.as_bytes()))
        });
        let count = |kind| self.columns.iter().filter(|column| column.kind == kind).count();
        Table {
            partition_key_count: count(ColumnKind::PartitionKey),
            clustering_count: count(ColumnKind::Clustering),
            static_count: count(ColumnKind::Static),
            id: self.id,
            keyspace: self.keyspace,
            name: self.name,
            columns: self.columns,
            dropped_columns: self.dropped_columns,
            options: self.options,
            compact: Compact::of(&self.flags),
            flags: self.flags,
            is_virtual: self.is_virtual,
        }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| &*column.name == name)
    }
}

/// An id no column of the table has or had, as far as `table` tells.
pub fn next_column_id(columns: &[Column], dropped: &BTreeMap<Arc<str>, DroppedColumn>) -> ColumnId {
    let present = columns.iter().map(|column| column.id.0);
    let gone = dropped.values().map(|dropped| dropped.column.id.0);
    ColumnId(present.chain(gone).max().map_or(0, |id| id + 1))
}

/// Fills `tables_by_id` from the keyspaces.
pub fn index_tables(schema: &mut Schema) {
    schema.tables_by_id = schema
        .keyspaces
        .values()
        .flat_map(|keyspace| keyspace.tables.values())
        .map(|table| (table.id, table.clone()))
        .collect();
}
