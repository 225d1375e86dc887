//! Refuses mutations of more bytes than `max_mutation_size` (`Mutation.validateSize`), measured as Cassandra measures
//! them: as one node sends them to another (`Mutation.serializer`) with what the commit log puts around.
//!
//! Knows sizes, not the bytes themselves.

use std::cmp::Reverse;

use basalt_model::deletion::NO_DELETION_TIME;
use basalt_model::{
    Bound, Cell, Clustering, Column, DataType, Deletion, Mutation, PartitionUpdate, Row, Table,
};
use bytes::Bytes;

use super::size;
use crate::error::{CqlResult, bail};
use crate::literals::to_text;

/// Lengths and checksum around an entry of the commit log.
const ENTRY_OVERHEAD: usize = 12;
/// Times are sent as what they are beyond 2015-09-22T00:00:00Z, microseconds.
const TIMESTAMP_EPOCH: i64 = 1_442_880_000_000_000;
/// The same in seconds, for local deletion times.
const DELETION_TIME_EPOCH_S: i64 = 1_442_880_000;
const TABLE_ID: usize = 16;
const FLAGS: usize = 1;
/// Characters of keys the message shows, at least one of them.
const KEYS_SHOWN_MAX: usize = 1024;

/// Refuses a mutation that is too large.
pub(super) fn check(mutation: &Mutation, max_bytes: usize) -> CqlResult<()> {
    // What takes less in memory takes less on the way.
    if size::of_mutation(mutation) <= max_bytes / 2 {
        return Ok(());
    }
    let mut updates: Vec<(usize, &PartitionUpdate)> =
        mutation.updates.iter().map(|update| (of_update(update), update)).collect();
    let bytes: usize = updates.iter().map(|(bytes, _)| bytes).sum();
    let bytes = bytes + vint(updates.len() as u64) + ENTRY_OVERHEAD;
    if bytes <= max_bytes {
        return Ok(());
    }
    updates.sort_by_key(|(bytes, _)| Reverse(*bytes));
    bail!(
        "Rejected an oversized mutation ({bytes}/{max_bytes}) for keyspace: {}. Top keys are: {}",
        mutation.keyspace,
        top_keys(updates.into_iter().map(|(_, update)| update))
    )
}

fn top_keys<'u>(updates: impl Iterator<Item = &'u PartitionUpdate>) -> String {
    let names: Vec<String> =
        updates.map(|update| format!("{}.{}", update.table.name, key_text(update))).collect();
    let mut shown = String::new();
    for (index, name) in names.iter().enumerate() {
        if index > 0 && shown.len() + name.len() + 2 > KEYS_SHOWN_MAX {
            return format!("{shown} and {} more.", names.len() - index);
        }
        shown.push_str(if index > 0 { ", " } else { "" });
        shown.push_str(name);
    }
    shown
}

/// The values of a partition key, colons between (`CompositeType.getString`).
fn key_text(update: &PartitionUpdate) -> String {
    let columns = update.table.partition_key();
    let values = update.key.components(columns.len()).unwrap_or_default();
    let text = |(column, value): (&Column, &Bytes)| to_text(&column.data_type, value).unwrap_or_default();
    match columns.len() {
        1 => columns.iter().zip(&values).map(text).collect(),
        _ => columns
            .iter()
            .zip(&values)
            .map(|pair| text(pair).replace(':', "\\:"))
            .collect::<Vec<_>>()
            .join(":"),
    }
}

/// Bytes of an unsigned vint.
fn vint(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    if bits > 56 { 9 } else { bits.div_ceil(7) }
}

fn with_length(bytes: usize) -> usize {
    vint(bytes as u64) + bytes
}

/// A value, with its length unless all of its type have one.
fn value(data_type: &DataType, value: &[u8]) -> usize {
    if data_type.fixed_length().is_some() { value.len() } else { with_length(value.len()) }
}

/// The smallest times of an update, which others are relative to (`EncodingStats`).
struct Base {
    timestamp: Option<i64>,
    local_time_s: Option<i64>,
    ttl_s: Option<i32>,
}

impl Base {
    fn of(update: &PartitionUpdate) -> Base {
        let mut base = Base { timestamp: None, local_time_s: None, ttl_s: None };
        base.add_deletion(update.deletion);
        update.range_tombstones.iter().for_each(|range| base.add_deletion(range.deletion));
        for row in update.rows.iter().chain(&update.static_row) {
            if !row.liveness.is_none() {
                base.add(row.liveness.timestamp, row.liveness.expires_at_s, row.liveness.ttl_s);
            }
            base.add_deletion(row.deletion);
            row.complex_deletions.iter().for_each(|(_, deletion)| base.add_deletion(*deletion));
            for cell in &row.cells {
                base.add(cell.timestamp, cell.local_deletion_time_s, cell.ttl_s);
            }
        }
        base
    }

    fn add(&mut self, timestamp: i64, local_time_s: i64, ttl_s: i32) {
        self.timestamp = Some(self.timestamp.map_or(timestamp, |known| known.min(timestamp)));
        if local_time_s != NO_DELETION_TIME {
            self.local_time_s = Some(self.local_time_s.map_or(local_time_s, |known| known.min(local_time_s)));
        }
        if ttl_s > 0 {
            self.ttl_s = Some(self.ttl_s.map_or(ttl_s, |known| known.min(ttl_s)));
        }
    }

    fn add_deletion(&mut self, deletion: Deletion) {
        if !deletion.is_live() {
            self.add(deletion.timestamp, deletion.local_time_s, 0);
        }
    }

    fn size(&self) -> usize {
        let beyond = |value: i64, epoch: i64| vint(value.wrapping_sub(epoch) as u64);
        beyond(self.timestamp.unwrap_or(TIMESTAMP_EPOCH), TIMESTAMP_EPOCH)
            + beyond(self.local_time_s.unwrap_or(DELETION_TIME_EPOCH_S), DELETION_TIME_EPOCH_S)
            + beyond(self.ttl_s.unwrap_or(0).into(), 0)
    }

    fn timestamp(&self, timestamp: i64) -> usize {
        vint(timestamp.wrapping_sub(self.timestamp.unwrap_or(TIMESTAMP_EPOCH)) as u64)
    }

    fn local_time(&self, local_time_s: i64) -> usize {
        vint(local_time_s.wrapping_sub(self.local_time_s.unwrap_or(DELETION_TIME_EPOCH_S)) as u64)
    }

    fn ttl(&self, ttl_s: i32) -> usize {
        vint(i64::from(ttl_s).wrapping_sub(self.ttl_s.unwrap_or(0).into()) as u64)
    }

    fn deletion(&self, deletion: Deletion) -> usize {
        self.timestamp(deletion.timestamp) + self.local_time(deletion.local_time_s)
    }
}

fn of_update(update: &PartitionUpdate) -> usize {
    let table = &*update.table;
    let base = Base::of(update);
    let regulars = written(table.regulars(), update.rows.iter());
    let mut size = TABLE_ID + with_length(update.key.key.len()) + FLAGS + base.size() + names(&regulars);
    if !update.deletion.is_live() {
        size += base.deletion(update.deletion);
    }
    if let Some(row) = &update.static_row {
        let statics = written(table.statics(), std::iter::once(row));
        // One byte more of flags says that the row is static.
        size += names(&statics) + FLAGS + of_row(row, &statics, &base);
    }
    size += vint(update.rows.len() as u64);
    for row in &update.rows {
        size += clustering(table, &row.clustering) + of_row(row, &regulars, &base);
    }
    for range in &update.range_tombstones {
        let ends = [&range.slice.start, &range.slice.end];
        size +=
            ends.iter().map(|bound| of_bound(table, bound) + base.deletion(range.deletion)).sum::<usize>();
    }
    size + FLAGS
}

/// The columns any of the rows says something about.
fn written<'t, 'r>(columns: &'t [Column], rows: impl Iterator<Item = &'r Row> + Clone) -> Vec<&'t Column> {
    columns.iter().filter(|column| rows.clone().any(|row| says(row, column))).collect()
}

fn says(row: &Row, column: &Column) -> bool {
    !row.cells_of(column.id).is_empty() || row.complex_deletions.iter().any(|(id, _)| *id == column.id)
}

fn names(columns: &[&Column]) -> usize {
    vint(columns.len() as u64) + columns.iter().map(|column| with_length(column.name.len())).sum::<usize>()
}

/// Values, and for 32 of them two bits each of which are null or empty.
fn clustering(table: &Table, clustering: &Clustering) -> usize {
    let mut size = 0;
    for (columns, values) in table.clustering().chunks(32).zip(clustering.0.chunks(32)) {
        let mut header = 0_u64;
        for (index, (column, component)) in columns.iter().zip(values).enumerate() {
            match component.as_deref() {
                None => header |= 2 << (2 * index),
                Some([]) => header |= 1 << (2 * index),
                Some(bytes) => size += value(&column.data_type, bytes),
            }
        }
        size += vint(header);
    }
    size
}

/// Flags, kind, number of values, values.
fn of_bound(table: &Table, bound: &Bound) -> usize {
    FLAGS + 1 + 2 + clustering(table, &bound.prefix)
}

fn of_row(row: &Row, columns: &[&Column], base: &Base) -> usize {
    let liveness = &row.liveness;
    let mut size = FLAGS;
    if !liveness.is_none() {
        size += base.timestamp(liveness.timestamp);
    }
    if liveness.is_expiring() {
        size += base.ttl(liveness.ttl_s) + base.local_time(liveness.expires_at_s);
    }
    if !row.deletion.is_live() {
        size += base.deletion(row.deletion);
    }
    let missing = columns.iter().enumerate().filter(|(_, column)| !says(row, column));
    let bits = missing.fold(0_u64, |bits, (index, _)| bits | 1_u64.checked_shl(index as u32).unwrap_or(0));
    if bits != 0 {
        size += vint(bits);
    }
    for column in columns.iter().filter(|column| says(row, column)) {
        let cells = row.cells_of(column.id);
        if column.data_type.is_multi_cell() {
            if !row.complex_deletions.is_empty() {
                let own = row.complex_deletions.iter().find(|(id, _)| *id == column.id);
                size += own.map_or(2, |(_, deletion)| base.deletion(*deletion));
            }
            size += vint(cells.len() as u64);
        }
        size += cells.iter().map(|cell| of_cell(cell, column, row, base)).sum::<usize>();
    }
    size
}

fn of_cell(cell: &Cell, column: &Column, row: &Row, base: &Base) -> usize {
    let liveness = &row.liveness;
    let shares_time = !liveness.is_none() && cell.timestamp == liveness.timestamp;
    let shares_ttl = cell.is_expiring()
        && liveness.is_expiring()
        && cell.ttl_s == liveness.ttl_s
        && cell.local_deletion_time_s == liveness.expires_at_s;
    let mut size = FLAGS;
    if !shares_time {
        size += base.timestamp(cell.timestamp);
    }
    if cell.local_deletion_time_s != NO_DELETION_TIME && !shares_ttl {
        size += base.local_time(cell.local_deletion_time_s);
    }
    if cell.is_expiring() && !shares_ttl {
        size += base.ttl(cell.ttl_s);
    }
    size += cell.path.as_ref().map_or(0, |path| with_length(path.len()));
    // Cells of a collection have its type there, and so a length each.
    if !cell.value.is_empty() {
        size += value(&column.data_type, &cell.value);
    }
    size
}
