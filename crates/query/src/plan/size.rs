//! How large Cassandra takes a mutation to be (`IMutation.dataSize`), for the thresholds of
//! batches.

use basalt_model::{Mutation, PartitionUpdate, Row, Table};

const TIMESTAMP: usize = 8;
const DELETION_TIME: usize = 12;
/// Write time, TTL and local deletion time of a cell.
const CELL_TIMES: usize = 8 + 4 + 8;
/// A row without anything: liveness and deletion.
const ROW: usize = TIMESTAMP + DELETION_TIME + 1;

/// Bytes of a mutation's data.
pub(crate) fn of_mutation(mutation: &Mutation) -> usize {
    mutation.updates.iter().map(of_update).sum()
}

fn of_update(update: &PartitionUpdate) -> usize {
    let rows: usize = update.rows.iter().map(|row| of_row(row, &update.table)).sum();
    let static_row = update.static_row.as_ref().map_or(ROW, |row| of_row(row, &update.table));
    let prefix = |values: &basalt_model::Clustering| -> usize {
        values.0.iter().map(|value| value.as_ref().map_or(0, bytes::Bytes::len)).sum()
    };
    let ranges: usize = update
        .range_tombstones
        .iter()
        .map(|range| prefix(&range.slice.start.prefix) + prefix(&range.slice.end.prefix) + TIMESTAMP + 4)
        .sum();
    let ranges = if update.range_tombstones.is_empty() { 0 } else { ranges + 4 };
    rows + static_row + TIMESTAMP + ranges
}

fn of_row(row: &Row, table: &Table) -> usize {
    let clustering: usize =
        row.clustering.0.iter().map(|value| value.as_ref().map_or(0, bytes::Bytes::len)).sum();
    let liveness = if row.liveness.is_expiring() { 4 + 8 } else { 0 };
    let cells: usize = row
        .cells
        .iter()
        .map(|cell| CELL_TIMES + cell.value.len() + cell.path.as_ref().map_or(0, bytes::Bytes::len))
        .sum();
    // Each multi-cell column written to carries a deletion time, real or not.
    let is_complex = |column: &&basalt_model::Column| {
        column.data_type.is_multi_cell()
            && (!row.cells_of(column.id).is_empty()
                || row.complex_deletions.iter().any(|(deleted, _)| *deleted == column.id))
    };
    let complex = table.columns.iter().filter(is_complex).count() * DELETION_TIME;
    clustering + ROW + liveness + cells + complex
}
