//! What statements write, gathered by partition and table: one mutation a partition key and
//! keyspace, one row a clustering (`UpdatesCollector`, `PartitionUpdate.Builder`).

use std::cmp::Ordering;
use std::sync::Arc;

use basalt_coordinator::Replication;
use basalt_model::{Cell, DecoratedKey, Mutation, PartitionUpdate, Row, Table};

use crate::operations::{add_increments, compare_paths, is_counter};

/// Updates being gathered, in the order partitions were first written to.
#[derive(Default)]
pub(crate) struct Collector {
    mutations: Vec<(Mutation, Arc<Replication>)>,
}

impl Collector {
    /// The update of a table's partition.
    pub(crate) fn update(
        &mut self,
        table: &Arc<Table>,
        key: &DecoratedKey,
        replication: &Arc<Replication>,
    ) -> &mut PartitionUpdate {
        let same = |mutation: &Mutation| mutation.key == *key && mutation.keyspace == table.keyspace;
        let index = match self.mutations.iter().position(|(mutation, _)| same(mutation)) {
            Some(index) => index,
            None => {
                let mutation =
                    Mutation { keyspace: table.keyspace.clone(), key: key.clone(), updates: Vec::new() };
                self.mutations.push((mutation, replication.clone()));
                self.mutations.len() - 1
            }
        };
        let updates = &mut self.mutations[index].0.updates;
        let index = match updates.iter().position(|update| update.table.id == table.id) {
            Some(index) => index,
            None => {
                updates.push(PartitionUpdate::new(table.clone(), key.clone()));
                updates.len() - 1
            }
        };
        &mut updates[index]
    }

    /// The mutations, each with a replication of its own.
    pub(crate) fn into_replicated(self) -> Vec<(Mutation, Replication)> {
        let own = |(mutation, replication): (Mutation, Arc<Replication>)| {
            (mutation, Arc::unwrap_or_clone(replication))
        };
        self.mutations.into_iter().map(own).collect()
    }

    /// The mutations, each with its keyspace's replication.
    pub(crate) fn into_mutations(self) -> Vec<(Mutation, Arc<Replication>)> {
        self.mutations
    }
}

/// Adds a row in its place, merged with one that is there.
pub(crate) fn add_row(update: &mut PartitionUpdate, row: Row) {
    let table = &update.table;
    match update.rows.binary_search_by(|known| table.compare_clusterings(&known.clustering, &row.clustering))
    {
        Ok(index) => merge(&mut update.rows[index], row, &update.table),
        Err(index) => update.rows.insert(index, row),
    }
}

/// Adds to the static row.
pub(crate) fn add_static(update: &mut PartitionUpdate, row: Row) {
    match &mut update.static_row {
        Some(known) => merge(known, row, &update.table),
        None => update.static_row = Some(row),
    }
}

/// Merges two writes to one row (`Rows.merge`): of two cells in one place the one that would win
/// in storage stays.
fn merge(into: &mut Row, other: Row, table: &Table) {
    if other.liveness.supersedes(into.liveness) {
        into.liveness = other.liveness;
    }
    into.deletion = into.deletion.merge(other.deletion);
    for (column, deletion) in other.complex_deletions {
        match into.complex_deletions.iter_mut().find(|(known, _)| *known == column) {
            Some(known) => known.1 = known.1.merge(deletion),
            None => into.complex_deletions.push((column, deletion)),
        }
    }
    into.complex_deletions.sort_by_key(|(column, _)| *column);
    for cell in other.cells {
        match into.cells.binary_search_by(|known| compare_places(table, known, &cell)) {
            Ok(index) => {
                let known = &mut into.cells[index];
                match (is_counter(table, known), is_counter(table, &cell)) {
                    (true, true) => add_increments(known, &cell),
                    // A deleted counter stays so, whatever the times.
                    (false, true) if known.is_tombstone() => {}
                    (true, false) => *known = cell,
                    _ if wins(&cell, known) => *known = cell,
                    _ => {}
                }
            }
            Err(index) => into.cells.insert(index, cell),
        }
    }
    let deletion = into.deletion;
    let complex = into.complex_deletions.clone();
    let covered = |cell: &Cell| {
        deletion.deletes(cell.timestamp)
            || complex
                .iter()
                .any(|(column, deletion)| *column == cell.column && deletion.deletes(cell.timestamp))
    };
    into.cells.retain(|cell| !covered(cell));
    if !deletion.is_live() && deletion.deletes(into.liveness.timestamp) {
        into.liveness = basalt_model::Liveness::NONE;
    }
}

fn compare_places(table: &Table, a: &Cell, b: &Cell) -> Ordering {
    a.column.cmp(&b.column).then_with(|| match table.column_by_id(a.column) {
        Some(column) => compare_paths(&column.data_type, a.path.as_deref(), b.path.as_deref()),
        None => a.path.cmp(&b.path),
    })
}

/// Whether `a` wins over `b` in one place (`Cells.resolveRegular`).
fn wins(a: &Cell, b: &Cell) -> bool {
    let is_plain = |cell: &Cell| !cell.is_expiring() && !cell.is_tombstone();
    a.timestamp
        .cmp(&b.timestamp)
        .then_with(|| is_plain(b).cmp(&is_plain(a)))
        .then_with(|| a.is_tombstone().cmp(&b.is_tombstone()))
        .then_with(|| {
            if is_plain(a) { Ordering::Equal } else { a.local_deletion_time_s.cmp(&b.local_deletion_time_s) }
        })
        .then_with(|| b.ttl_s.cmp(&a.ttl_s))
        .then_with(|| a.value.cmp(&b.value))
        .is_gt()
}
