//! Rows becoming entries: one for the row, one for each cell of a multi-cell column.

use basalt_model::{Cell, Column, ColumnId, CounterContext, DataType, Deletion, PartitionUpdate, Row, Table};

use super::WriteError;
use crate::cells::{CellData, CellEntry, RowParts};
use crate::engine::{OpKind, WriteSet};
use crate::keys::clustering::{Originals, append_clustering};
use crate::keys::path::{append_column, append_path, path_type};
use crate::keys::{EntryKind, KeyError};
use crate::merge::MergedRow;

/// Appends the static row and the rows of an update.
pub fn append(update: &PartitionUpdate, prefix: &[u8], set: &mut WriteSet) -> Result<(), WriteError> {
    let mut key = Vec::with_capacity(prefix.len() + 32);
    if let Some(row) = &update.static_row {
        key.extend_from_slice(prefix);
        key.push(EntryKind::Static as u8);
        append_row(&update.table, row, &Originals::new(), &mut key, set)?;
    }
    for row in &update.rows {
        key.clear();
        key.extend_from_slice(prefix);
        key.push(EntryKind::Row as u8);
        let originals = append_clustering(&update.table, &row.clustering, &mut key)?;
        append_row(&update.table, row, &originals, &mut key, set)?;
    }
    Ok(())
}

/// `key` is the row's; it is used as scratch for those of its cells.
fn append_row(
    table: &Table,
    row: &Row,
    originals: &Originals,
    key: &mut Vec<u8>,
    set: &mut WriteSet,
) -> Result<(), WriteError> {
    let mut parts = RowParts::none();
    parts.liveness = row.liveness;
    parts.deletion = row.deletion;
    parts.complex_deletions.extend(row.complex_deletions.iter().filter(|(_, d)| !d.is_live()).copied());
    parts.complex_deletions.sort_by_key(|(column, _)| *column);
    parts.originals.extend(originals.iter().map(|(index, value)| (*index, &**value)));
    let oldest = row.cells.iter().map(|cell| cell.timestamp).chain(liveness_time(row)).min();
    if let Some(oldest) = oldest {
        set.note_data(table.id, oldest);
    }
    let mut merged = MergedRow::of(parts);

    for cell in &row.cells {
        let column = table.column_by_id(cell.column).ok_or(WriteError::UnknownColumn(cell.column))?;
        if column.data_type.is_multi_cell() != cell.path.is_some() {
            return Err(KeyError::Malformed("a path where none belongs, or none where one does").into());
        }
        if cell.path.is_none() {
            merged.add_cell(cell.column, data_of(column, cell)?);
        }
    }
    if !merged.is_empty() {
        let mut encoded = Ok(());
        set.append(
            OpKind::Merge,
            table.id,
            |buffer| buffer.extend_from_slice(key),
            |value| encoded = merged.encode(value),
        );
        encoded.map_err(|_| WriteError::Counter)?;
    }
    append_cells(table, row, key, set)
}

fn liveness_time(row: &Row) -> Option<i64> {
    (!row.liveness.is_none()).then_some(row.liveness.timestamp)
}

/// The data of a simple cell. What is stored of a counter must merge in any order.
fn data_of<'c>(column: &Column, cell: &'c Cell) -> Result<CellData<'c>, WriteError> {
    if column.data_type != DataType::Counter {
        return Ok(CellData::of(cell));
    }
    let is_settled = || CounterContext::parse(&cell.value).is_some_and(|context| context.is_settled());
    if cell.is_tombstone() || !cell.is_expiring() && is_settled() {
        return Ok(CellData::of_counter(cell));
    }
    Err(WriteError::Counter)
}

fn append_cells(table: &Table, row: &Row, key: &mut Vec<u8>, set: &mut WriteSet) -> Result<(), WriteError> {
    let row_length = key.len();
    let mut paths: Option<(ColumnId, DataType)> = None;
    for cell in &row.cells {
        let Some(path) = &cell.path else { continue };
        let column = match paths.take() {
            Some((column, data_type)) if column == cell.column => data_type,
            _ => table
                .column_by_id(cell.column)
                .and_then(|column| path_type(&column.data_type))
                .ok_or(WriteError::UnknownColumn(cell.column))?,
        };
        if !is_shadowed(row, cell) {
            key.truncate(row_length);
            append_column(cell.column, key);
            let keeps_path = append_path(&column, path, key)?;
            let entry = CellEntry { data: CellData::of(cell), original_path: keeps_path.then_some(&**path) };
            set.append(
                OpKind::Merge,
                table.id,
                |buffer| buffer.extend_from_slice(key),
                |value| entry.encode(value),
            );
        }
        paths = Some((cell.column, column));
    }
    key.truncate(row_length);
    Ok(())
}

/// Whether the row's own deletions take the cell away.
fn is_shadowed(row: &Row, cell: &Cell) -> bool {
    let complex = row.complex_deletions.iter().find(|(column, _)| *column == cell.column);
    row.deletion.deletes(cell.timestamp) && row.deletion != Deletion::LIVE
        || complex.is_some_and(|(_, deletion)| deletion.deletes(cell.timestamp))
}
