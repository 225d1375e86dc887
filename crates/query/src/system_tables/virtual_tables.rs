//! The tables that are computed when read: their rows are made anew for each read, put into an
//! engine in memory, and read from there as any other table's. Partitions come in the order of
//! their keys, as LocalPartitioner orders them, not by token.

mod schema_tables;
mod views;

use std::sync::Arc;

use basalt_model::command::{KeyBound, KeyRange, ReadTarget};
use basalt_model::{
    Cell, Clustering, DecoratedKey, Liveness, PartitionUpdate, ReadCommand, Row, Schema, Table, Token,
};
use bytes::Bytes;

use super::NodeFacts;
use super::local::NodeIdentity;
use super::views::{NodeViews, ViewRow};

/// What rows are made from.
pub struct VirtualContext<'a> {
    /// The schema now.
    pub schema: &'a Schema,
    /// What this node says of itself.
    pub facts: &'a NodeFacts,
    /// Host id and tokens.
    pub identity: &'a NodeIdentity,
    /// The running node.
    pub views: &'a dyn NodeViews,
    /// The write time rows are given, microseconds.
    pub timestamp: i64,
}

/// A virtual table's rows now.
pub fn rows(table: &Table, context: &VirtualContext<'_>) -> Vec<ViewRow> {
    match (&*table.keyspace, &*table.name) {
        ("system_virtual_schema", "keyspaces") => schema_tables::keyspaces(context),
        ("system_virtual_schema", "tables") => schema_tables::tables(context),
        ("system_virtual_schema", "columns") => schema_tables::columns(context),
        ("system_views", "settings") => views::settings(context),
        ("system_views", "clients") => views::clients(context),
        ("system_views", "thread_pools") => views::thread_pools(context),
        ("system_views", "gossip_info") => views::gossip_info(context),
        ("system_views", "disk_usage") => views::disk_usage(context),
        ("system_views", name) => context.views.rows(name, context.schema),
        _ => Vec::new(),
    }
}

/// The rows of the table that `command` reads, as updates, and the command to read them with.
pub fn prepare(command: ReadCommand, context: &VirtualContext<'_>) -> (Vec<PartitionUpdate>, ReadCommand) {
    let by_token = names_a_token(&command.target);
    let place = |key: Bytes| {
        if by_token { DecoratedKey::new(key) } else { at_one_token(key) }
    };
    let rows = rows(&command.table, context);
    let updates =
        rows.iter().filter_map(|row| update(&command.table, row, &place, context.timestamp)).collect();
    let target = if by_token { command.target } else { at_one_token_target(command.target) };
    (updates, ReadCommand { target, ..command })
}

/// All keys under one token are ordered by their bytes.
fn at_one_token(key: Bytes) -> DecoratedKey {
    DecoratedKey { token: Token(0), key }
}

/// A range bounded by tokens is meant in token order.
fn names_a_token(target: &ReadTarget) -> bool {
    match target {
        ReadTarget::Partition { .. } => false,
        ReadTarget::Range { range, .. } => {
            [&range.start, &range.end].iter().any(|bound| matches!(bound, KeyBound::Token { .. }))
        }
    }
}

fn at_one_token_target(target: ReadTarget) -> ReadTarget {
    let bound = |bound: KeyBound| match bound {
        KeyBound::Key { key, inclusive } => KeyBound::Key { key: at_one_token(key.key), inclusive },
        other => other,
    };
    match target {
        ReadTarget::Partition { key, filter } => ReadTarget::Partition { key: at_one_token(key.key), filter },
        ReadTarget::Range { range, filter } => {
            ReadTarget::Range { range: KeyRange { start: bound(range.start), end: bound(range.end) }, filter }
        }
    }
}

/// One row as an update; `None` when a key column is missing.
fn update(
    table: &Arc<Table>,
    row: &ViewRow,
    place: &impl Fn(Bytes) -> DecoratedKey,
    timestamp: i64,
) -> Option<PartitionUpdate> {
    let value = |name: &str| row.iter().find(|(column, _)| *column == name).map(|(_, value)| value.bytes());
    let key: Option<Vec<Bytes>> = table.partition_key().iter().map(|column| value(&column.name)).collect();
    let clustering: Option<Vec<Bytes>> =
        table.clustering().iter().map(|column| value(&column.name)).collect();
    let mut stored =
        Row { liveness: Liveness::at(timestamp), ..Row::new(Clustering::from_values(clustering?)) };
    for column in table.regulars() {
        if let Some(value) = value(&column.name) {
            stored.cells.push(Cell::live(column.id, None, timestamp, value));
        }
    }
    stored.cells.sort_by_key(|cell| cell.column);
    let mut update = PartitionUpdate::new(table.clone(), place(join_key(&key?)));
    update.rows.push(stored);
    Some(update)
}

fn join_key(values: &[Bytes]) -> Bytes {
    match values {
        [one] => one.clone(),
        several => DecoratedKey::join(several),
    }
}

#[cfg(test)]
mod tests;
