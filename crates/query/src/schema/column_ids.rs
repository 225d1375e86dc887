//! How stored cells name columns: an id belongs to (table, kind, name) for life, dropped and
//! re-added columns included. Kept in `system.basalt_columns`, because a column more in
//! `system_schema` would change the schema's digest. System tables' ids are in their definitions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use basalt_model::command::PartitionRows;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Cell, Clustering, Column, ColumnId, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, Row,
    Table, TableId,
};

use super::change::ChangeTime;
use super::rows::columns::{kind_name, kind_of};
use super::stored::StoredRow;
use super::{SchemaError, encode};

/// The ids of one table's columns.
type TableColumns = BTreeMap<(ColumnKind, String), ColumnId>;

/// The ids of all tables' columns.
#[derive(Debug, Default)]
pub struct ColumnIds(HashMap<TableId, TableColumns>);

impl ColumnIds {
    /// The id of a column.
    pub fn get(&self, table: TableId, kind: ColumnKind, name: &str) -> Option<ColumnId> {
        self.0.get(&table)?.get(&(kind, name.to_owned())).copied()
    }

    /// Takes over the ids a definition has.
    pub fn define(&mut self, table: &Table) {
        let ids = self.0.entry(table.id).or_default();
        for column in &table.columns {
            ids.insert((column.kind, column.name.to_string()), column.id);
        }
    }

    /// Takes over stored ids.
    ///
    /// # Errors
    /// When a row is unreadable.
    pub fn load(&mut self, definition: &Table, partition: &PartitionRows) -> Result<(), SchemaError> {
        let damaged = || SchemaError::Damaged("system.basalt_columns is unreadable".to_owned());
        let table = TableId(encode::read_uuid(&partition.key.key).ok_or_else(damaged)?);
        let ids = self.0.entry(table).or_default();
        for row in &partition.rows {
            let row = StoredRow { table: definition, row };
            let kind = kind_of(&row.clustering(0)?).ok_or_else(damaged)?;
            let id = u32::try_from(row.int("id")?).map_err(|_| damaged())?;
            ids.insert((kind, row.clustering(1)?), ColumnId(id));
        }
        Ok(())
    }

    /// Forgets a table.
    pub fn remove(&mut self, table: TableId) {
        self.0.remove(&table);
    }
}

/// The partition of a table in `system.basalt_columns`.
pub fn key_of(table: TableId) -> DecoratedKey {
    DecoratedKey::new(encode::uuid(table.0))
}

fn mutation(update: PartitionUpdate) -> Mutation {
    Mutation { keyspace: "system".into(), key: update.key.clone(), updates: vec![update] }
}

/// Stores the ids of `table`'s columns that `known` has not; `None` when it has all.
pub fn write(
    definition: &Arc<Table>,
    table: &Table,
    known: &ColumnIds,
    time: ChangeTime,
) -> Option<Mutation> {
    let id_column = definition.column("id")?.id;
    let new = |column: &&Column| known.get(table.id, column.kind, &column.name) != Some(column.id);
    let row = |column: &Column| {
        let clustering = [encode::text(kind_name(column.kind)), encode::text(&column.name)];
        let id = encode::int(i32::try_from(column.id.0).unwrap_or(i32::MAX));
        Row {
            liveness: Liveness::at(time.timestamp),
            cells: vec![Cell::live(id_column, None, time.timestamp, id)],
            ..Row::new(Clustering::from_values(clustering))
        }
    };
    let mut update = PartitionUpdate::new(definition.clone(), key_of(table.id));
    update.rows = table.columns.iter().filter(new).map(row).collect();
    update.rows.sort_by(|a, b| definition.compare_clusterings(&a.clustering, &b.clustering));
    (!update.rows.is_empty()).then(|| mutation(update))
}

/// Removes the ids of a dropped table.
pub fn delete(definition: &Arc<Table>, table: TableId, time: ChangeTime) -> Mutation {
    let mut update = PartitionUpdate::new(definition.clone(), key_of(table));
    update.deletion = Deletion { timestamp: time.timestamp, local_time_s: time.now_s };
    mutation(update)
}
