//! The schema's version as Cassandra computes it (`SchemaKeyspace.calculateSchemaDigest`): MD5
//! over the live rows of `system_schema`, table by table, partitions in token order, without the
//! local system keyspaces; then a name-based UUID of the digest.
//!
//! The input is kept partition by partition, so that a change reads only its own keyspace again.

use std::collections::BTreeMap;

use basalt_model::command::PartitionRows;
use basalt_model::deletion::NO_TIMESTAMP;
use basalt_model::{Cell, Column, DecoratedKey, Liveness, Row, Table};
use md5::{Digest, Md5};
use uuid::Uuid;

use super::rows::ALL;

/// `Clustering.Kind.CLUSTERING` and `STATIC_CLUSTERING`, by ordinal.
const CLUSTERING: u8 = 4;
const STATIC_CLUSTERING: u8 = 3;

/// The digest's input: for each table of [`ALL`], what each partition adds.
#[derive(Debug, Default)]
pub struct SchemaDigest {
    partitions: [BTreeMap<DecoratedKey, Vec<u8>>; ALL.len()],
}

impl SchemaDigest {
    /// Takes over what a read of one partition gave; no rows means that it is gone.
    pub fn set(&mut self, table: &Table, key: &DecoratedKey, rows: Option<&PartitionRows>) {
        let index = ALL.iter().position(|name| *name == &*table.name);
        let Some(partitions) = index.and_then(|index| self.partitions.get_mut(index)) else { return };
        match rows {
            Some(rows) if !is_local(key) && (!rows.rows.is_empty() || rows.static_row.is_some()) => {
                partitions.insert(key.clone(), partition_input(table, rows));
            }
            _ => {
                partitions.remove(key);
            }
        }
    }

    /// The version.
    pub fn version(&self) -> Uuid {
        let mut digest = Md5::new();
        for partition in self.partitions.iter().flat_map(BTreeMap::values) {
            digest.update(partition);
        }
        name_uuid(&digest.finalize())
    }
}

/// `UUID.nameUUIDFromBytes`: version 3 over the MD5 of `bytes`.
pub fn name_uuid(bytes: &[u8]) -> Uuid {
    uuid::Builder::from_md5_bytes(Md5::digest(bytes).into()).into_uuid()
}

/// `system` and `system_schema` describe this node alone.
fn is_local(key: &DecoratedKey) -> bool {
    matches!(key.key.as_ref(), b"system" | b"system_schema")
}

/// `RowIterators.digest`.
fn partition_input(table: &Table, partition: &PartitionRows) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    out.extend_from_slice(&partition.key.key);
    let mut columns: Vec<&Column> = table.regulars().iter().collect();
    // Simple columns come before those stored by element; each by name.
    columns.sort_by_key(|column| column.data_type.is_multi_cell());
    columns.iter().for_each(|column| out.extend_from_slice(column.name.as_bytes()));
    table.statics().iter().for_each(|column| out.extend_from_slice(column.name.as_bytes()));
    put_boolean(&mut out, false);
    match &partition.static_row {
        Some(row) => put_row(&mut out, &columns, row, STATIC_CLUSTERING),
        None => put_row(&mut out, &columns, &Row::new(Default::default()), STATIC_CLUSTERING),
    }
    partition.rows.iter().for_each(|row| put_row(&mut out, &columns, row, CLUSTERING));
    out
}

/// `AbstractRow.digest`; deletions are never among live rows.
fn put_row(out: &mut Vec<u8>, columns: &[&Column], row: &Row, clustering_kind: u8) {
    // Unfiltered.Kind.ROW
    out.push(0);
    row.clustering.0.iter().flatten().for_each(|value| out.extend_from_slice(value));
    out.push(clustering_kind);
    out.extend_from_slice(&NO_TIMESTAMP.to_be_bytes());
    put_boolean(out, false);
    put_liveness(out, row.liveness);
    for column in columns {
        row.cells_of(column.id).iter().for_each(|cell| put_cell(out, cell));
    }
}

fn put_liveness(out: &mut Vec<u8>, liveness: Liveness) {
    out.extend_from_slice(&liveness.timestamp.to_be_bytes());
    if liveness.is_expiring() {
        out.extend_from_slice(&(liveness.expires_at_s as u32).to_be_bytes());
        out.extend_from_slice(&liveness.ttl_s.to_be_bytes());
    }
}

fn put_cell(out: &mut Vec<u8>, cell: &Cell) {
    out.extend_from_slice(&cell.value);
    out.extend_from_slice(&cell.timestamp.to_be_bytes());
    out.extend_from_slice(&cell.ttl_s.to_be_bytes());
    put_boolean(out, false);
    if let Some(path) = &cell.path {
        out.extend_from_slice(path);
    }
}

/// `Digest.updateWithBoolean` writes 0 for true.
fn put_boolean(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(!value));
}

#[cfg(test)]
mod tests;
