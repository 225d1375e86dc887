//! A row being written: cells with their times, deletions, and what was read before
//! (`UpdateParameters`).

use std::sync::Arc;

use basalt_model::command::PartitionRows;
use basalt_model::{
    Cell, Clustering, Column, CounterContext, DataType, DecoratedKey, Deletion, Liveness, Row, Table,
};
use bytes::Bytes;

use crate::bind::Binding;
use crate::error::{CqlResult, bail};

/// With what a statement writes.
pub(crate) struct Writer<'a> {
    /// The table.
    pub(crate) table: &'a Arc<Table>,
    /// Values of the request.
    pub(crate) binding: Binding<'a>,
    /// Write time, microseconds.
    pub(crate) timestamp: i64,
    /// The statement's now, seconds.
    pub(crate) now_s: i64,
    /// Seconds to live; 0 for ever.
    pub(crate) ttl_s: i32,
    /// The latest second anything may expire at.
    pub(crate) max_deletion_time_s: i64,
    /// It is a conditional request that writes: then clusterings may have any length.
    pub(crate) is_conditional: bool,
    /// What was read, for operations that need it.
    pub(crate) read: &'a [PartitionRows],
}

impl<'a> Writer<'a> {
    /// Refuses the one write time that stands for none.
    pub(crate) fn check(&self) -> CqlResult<()> {
        if self.timestamp == i64::MIN {
            bail!("Out of bound timestamp, must be in [{}, {}]", i64::MIN + 1, i64::MAX);
        }
        Ok(())
    }

    /// A deletion now.
    pub(crate) fn deletion(&self) -> Deletion {
        Deletion { timestamp: self.timestamp, local_time_s: self.now_s }
    }

    /// Liveness of an inserted row.
    pub(crate) fn liveness(&self) -> Liveness {
        if self.ttl_s == 0 {
            return Liveness::at(self.timestamp);
        }
        Liveness { timestamp: self.timestamp, ttl_s: self.ttl_s, expires_at_s: self.expires_at_s() }
    }

    fn expires_at_s(&self) -> i64 {
        (self.now_s + i64::from(self.ttl_s)).min(self.max_deletion_time_s)
    }

    /// Adds a cell.
    pub(crate) fn put(&self, row: &mut Row, column: &Column, path: Option<Bytes>, value: Bytes) {
        let mut cell = Cell::live(column.id, path, self.timestamp, value);
        if self.ttl_s != 0 {
            cell.ttl_s = self.ttl_s;
            cell.local_deletion_time_s = self.expires_at_s();
        }
        row.cells.push(cell);
    }

    /// Adds a cell tombstone.
    pub(crate) fn delete(&self, row: &mut Row, column: &Column, path: Option<Bytes>) {
        row.cells.push(Cell::tombstone(column.id, path, self.timestamp, self.now_s));
    }

    /// Deletes all cells of a column; those of this statement survive if `for_overwrite`.
    pub(super) fn delete_all(&self, row: &mut Row, column: &Column, for_overwrite: bool) {
        let behind = i64::from(for_overwrite);
        let deletion =
            Deletion { timestamp: self.timestamp.saturating_sub(behind), local_time_s: self.now_s };
        row.complex_deletions.retain(|(known, _)| *known != column.id);
        row.complex_deletions.push((column.id, deletion));
    }

    /// The cells of a column as they were read, overlaid with what this statement wrote before.
    pub(super) fn existing(&self, key: &DecoratedKey, row: &Row, column: &Column) -> Vec<Cell> {
        let partition = self.read.iter().find(|partition| partition.key == *key);
        let is_static = column.kind == basalt_model::schema::ColumnKind::Static;
        let found = partition.and_then(|partition| {
            if is_static {
                return partition.static_row.as_ref();
            }
            let is_row =
                |found: &&Row| self.table.compare_clusterings(&found.clustering, &row.clustering).is_eq();
            partition.rows.iter().find(is_row)
        });
        let mut cells: Vec<Cell> = found.map(|row| row.cells_of(column.id).to_vec()).unwrap_or_default();
        if row.complex_deletions.iter().any(|(deleted, _)| *deleted == column.id) {
            cells.clear();
        }
        for pending in row.cells.iter().filter(|cell| cell.column == column.id) {
            cells.retain(|cell| cell.path != pending.path);
            if !pending.is_tombstone() {
                cells.push(pending.clone());
            }
        }
        sort_cells(&mut cells, &column.data_type);
        cells
    }

    /// A row with everything in its place.
    pub(crate) fn finish(&self, mut row: Row) -> Row {
        row.complex_deletions.sort_by_key(|(column, _)| *column);
        let table = self.table;
        row.cells.sort_by(|a, b| {
            a.column.cmp(&b.column).then_with(|| match table.column_by_id(a.column) {
                Some(column) => compare_paths(&column.data_type, a.path.as_deref(), b.path.as_deref()),
                None => a.path.cmp(&b.path),
            })
        });
        // Of two cells in one place the later operation's counts; increments of a counter add up.
        row.cells.reverse();
        row.cells.dedup_by(|a, b| {
            let is_same = a.column == b.column && a.path == b.path;
            if is_same && is_counter(table, b) {
                add_increments(b, a);
            }
            is_same
        });
        row.cells.reverse();
        row
    }

    /// An empty row.
    pub(crate) fn row(&self, clustering: Clustering) -> Row {
        Row::new(clustering)
    }
}

/// Whether the cell is a counter's, not deleted.
pub(crate) fn is_counter(table: &Table, cell: &Cell) -> bool {
    let column = table.column_by_id(cell.column);
    !cell.is_tombstone() && column.is_some_and(|column| column.data_type == DataType::Counter)
}

/// Two increments of a counter in one mutation become one, of the later time (`Cells.resolveCounter`).
pub(crate) fn add_increments(into: &mut Cell, other: &Cell) {
    let increments = (CounterContext::parse(&into.value), CounterContext::parse(&other.value));
    // Both were made here (`CounterContext::update`).
    if let (Some(mut sum), Some(increment)) = increments {
        sum.merge(&increment);
        into.value = sum.to_bytes();
        into.timestamp = into.timestamp.max(other.timestamp);
    }
}

/// Orders cell paths of a multi-cell column.
pub(crate) fn compare_paths(
    data_type: &DataType,
    left: Option<&[u8]>,
    right: Option<&[u8]>,
) -> std::cmp::Ordering {
    let (Some(a), Some(b)) = (left, right) else { return left.is_some().cmp(&right.is_some()) };
    match data_type {
        DataType::List { .. } => DataType::TimeUuid.compare(a, b),
        DataType::Set { element, .. } => element.compare(a, b),
        DataType::Map { key, .. } => key.compare(a, b),
        _ => a.cmp(b),
    }
}

fn sort_cells(cells: &mut [Cell], data_type: &DataType) {
    cells.sort_by(|a, b| compare_paths(data_type, a.path.as_deref(), b.path.as_deref()));
}
