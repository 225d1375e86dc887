//! Versions of a row becoming one (`Row.Merger.merge`).

use basalt_model::{ColumnId, Deletion, Liveness};
use smallvec::SmallVec;

use super::cell::reconcile;
use super::counter;
use crate::cells::{CellData, EntryError, RowEntry, RowParts};

/// Versions of a row, folded.
#[derive(Clone, Debug)]
pub struct MergedRow<'a> {
    parts: RowParts<'a>,
    cells: SmallVec<[(ColumnId, CellData<'a>); 16]>,
    /// Versions of counters, in any order: they are folded once the row's deletion is known.
    counters: Vec<(ColumnId, CellData<'a>)>,
}

impl Default for MergedRow<'_> {
    fn default() -> Self {
        MergedRow::new()
    }
}

impl<'a> MergedRow<'a> {
    /// No version yet.
    pub fn new() -> MergedRow<'a> {
        MergedRow::of(RowParts::none())
    }

    /// One version, its cells still to be added.
    pub fn of(parts: RowParts<'a>) -> MergedRow<'a> {
        MergedRow { parts, cells: SmallVec::new(), counters: Vec::new() }
    }

    /// Adds one cell, in any order.
    pub fn add_cell(&mut self, column: ColumnId, cell: CellData<'a>) {
        if cell.is_counter {
            self.counters.push((column, cell));
            return;
        }
        match self.cells.binary_search_by_key(&column, |&(id, _)| id) {
            Ok(at) => self.cells[at].1 = reconcile(self.cells[at].1, cell),
            Err(at) => self.cells.insert(at, (column, cell)),
        }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.parts == RowParts::none() && self.cells.is_empty() && self.counters.is_empty()
    }

    /// Whether nothing but the spelling of its clustering is to be stored.
    pub fn is_spelling_only(&self) -> bool {
        self.parts.is_spelling_only() && self.cells.is_empty() && self.counters.is_empty()
    }

    /// Adds a version.
    ///
    /// # Errors
    /// When its cells are garbage.
    pub fn add(&mut self, entry: &RowEntry<'a>) -> Result<(), EntryError> {
        let parts = &entry.parts;
        if parts.liveness.supersedes(self.parts.liveness) {
            self.parts.liveness = parts.liveness;
        }
        self.parts.deletion = self.parts.deletion.merge(parts.deletion);
        for &(column, deletion) in &parts.complex_deletions {
            match self.parts.complex_deletions.binary_search_by_key(&column, |&(id, _)| id) {
                Ok(at) => {
                    let known = &mut self.parts.complex_deletions[at].1;
                    *known = known.merge(deletion);
                }
                Err(at) => self.parts.complex_deletions.insert(at, (column, deletion)),
            }
        }
        for &(index, value) in &parts.originals {
            match self.parts.originals.binary_search_by_key(&index, |&(index, _)| index) {
                // Equal values written differently: which spelling stays must only not depend on order.
                Ok(at) => self.parts.originals[at].1 = self.parts.originals[at].1.max(value),
                Err(at) => self.parts.originals.insert(at, (index, value)),
            }
        }
        self.add_cells(entry)
    }

    /// Both sides ascend by column.
    fn add_cells(&mut self, entry: &RowEntry<'a>) -> Result<(), EntryError> {
        let mut at = 0;
        for cell in entry.cells() {
            let (column, cell) = cell?;
            if cell.is_counter {
                self.counters.push((column, cell));
                continue;
            }
            while self.cells.get(at).is_some_and(|(id, _)| *id < column) {
                at += 1;
            }
            match self.cells.get_mut(at) {
                Some((id, known)) if *id == column => *known = reconcile(*known, cell),
                _ => self.cells.insert(at, (column, cell)),
            }
        }
        Ok(())
    }

    /// Appends the entry all versions make together.
    ///
    /// # Errors
    /// When counters are garbage.
    pub fn encode(mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let (cells, counters) = (&mut self.cells, &mut self.counters);
        shadow(&mut self.parts, |deletion| {
            cells.retain(|(_, cell)| !deletion.deletes(cell.timestamp));
            counters.retain(|(_, cell)| !deletion.deletes(cell.timestamp));
        });
        if self.counters.is_empty() {
            RowEntry::encode(&self.parts, &self.cells, out);
            return Ok(());
        }
        self.encode_with_counters(out)
    }

    fn encode_with_counters(mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        self.counters.sort_by_key(|(column, _)| *column);
        let counters = counter::fold(&self.counters)?;
        let mut cells: SmallVec<[_; 16]> = self.cells.iter().map(|&(column, cell)| (column, cell)).collect();
        for counter in &counters {
            // Where there is a cell it is a tombstone: it wins over a counter of any time.
            if let Err(at) = cells.binary_search_by_key(&counter.column, |&(id, _)| id) {
                cells.insert(at, (counter.column, counter.cell()));
            }
        }
        RowEntry::encode(&self.parts, &cells, out);
        Ok(())
    }
}

/// Takes away what the row's own deletion shadows: liveness, deletions of columns that say no
/// more than it, and through `retain_cells` the simple cells.
pub fn shadow(parts: &mut RowParts<'_>, retain_cells: impl FnOnce(Deletion)) {
    let deletion = parts.deletion;
    if deletion.is_live() {
        return;
    }
    if deletion.deletes(parts.liveness.timestamp) {
        parts.liveness = Liveness::NONE;
    }
    parts.complex_deletions.retain(|(_, complex)| complex.supersedes(deletion));
    retain_cells(deletion);
}
