//! A walk over partitions as of one moment: what can go of each row goes, then the deletions that covered it.

use basalt_model::command::ClusteringFilter;
use basalt_model::{ColumnId, Deletion, Table};
use smallvec::SmallVec;

use super::{Pace, PurgeCounts, PurgeError, Purger, Terms};
use crate::cells::{CELL_TAG, CellData, CellEntry, PurgeEntry, RowEntry};
use crate::commit::Watch;
use crate::engine::{Cursor, EngineError, ReadTier, Reads, WriteSet};
use crate::keys::EntryKind;
use crate::keys::byte_comparable::Input;
use crate::keys::path::take_column;
use crate::merge::purge;
use crate::read::partition::PartitionWalk;
use crate::read::ranges::ranges;
use crate::read::stored_row::StoredRow;
use crate::read::tombstones::TombstoneWalk;
use crate::read::{InTable, ReadError};

/// A deletion that may go if nothing as old was written meanwhile.
struct Late {
    timestamp: i64,
    key: Vec<u8>,
    purge: PurgeEntry,
}

/// One walk.
pub(super) struct Pass<'p> {
    pub(super) purger: &'p Purger,
    pub(super) table: &'p Table,
    pub(super) terms: Terms,
    pub(super) watch: &'p Watch<'p>,
    pub(super) view: &'p dyn Reads,
    pub(super) counts: PurgeCounts,
    pace: &'p mut Pace<'p>,
    /// Columns that were dropped, and when.
    dropped: SmallVec<[(ColumnId, i64); 1]>,
    /// Rows may have cells in entries of their own.
    has_paths: bool,
    /// What can be written at any time.
    set: WriteSet,
    /// What they shadow stands in `set`, or was written before.
    late: Vec<Late>,
    late_bytes: usize,
    /// The key of the entry looked at, and what is left of it.
    key: Vec<u8>,
    left: Vec<u8>,
}

impl<'p> Pass<'p> {
    pub(super) fn new(
        purger: &'p Purger,
        table: &'p Table,
        terms: Terms,
        watch: &'p Watch<'p>,
        view: &'p dyn Reads,
        pace: &'p mut Pace<'p>,
    ) -> Pass<'p> {
        let dropped = dropped_columns(table);
        // Cells of a dropped collection may still stand behind their rows.
        let has_paths =
            !dropped.is_empty() || table.columns.iter().any(|column| column.data_type.is_multi_cell());
        Pass {
            purger,
            table,
            terms,
            watch,
            view,
            counts: PurgeCounts::default(),
            pace,
            dropped,
            has_paths,
            set: WriteSet::new(),
            late: Vec::new(),
            late_bytes: 0,
            key: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Writes what is left to write.
    pub(super) fn end(mut self) -> Result<PurgeCounts, PurgeError> {
        self.flush()?;
        Ok(self.counts)
    }

    /// Purges the partition the cursor is at the beginning of and moves it behind; answers whether there is another.
    pub(super) fn partition(&mut self, cursor: &mut dyn Cursor, prefix: &[u8]) -> Result<bool, PurgeError> {
        let table = self.table;
        // Partitions without rows cost and count too.
        self.advance(prefix.len())?;
        let mut walk = PartitionWalk::new(table, cursor, prefix.to_vec(), true, self.has_paths);
        let head = walk.head()?;
        if let Some(row) = walk.static_row()? {
            self.row(prefix, EntryKind::Static, &row, head.deletion)?;
        }
        let mut covers = match head.has_range_tombstones {
            true => Some(TombstoneWalk::new(self.view, table, prefix, ReadTier::All, None, false)?),
            false => None,
        };
        let mut row = StoredRow::default();
        for range in ranges(table, &ClusteringFilter::all(), true).map_err(ReadError::Command)? {
            walk.start(&range, false)?;
            while walk.next_row(&range, &mut row)? {
                let mut covering = head.deletion;
                if let Some(covers) = &mut covers {
                    covering = covering.merge(covers.cover(&row.key)?);
                }
                self.row(prefix, EntryKind::Row, &row, covering)?;
            }
        }
        if head.has_range_tombstones {
            self.flush()?;
            self.range_tombstones(prefix)?;
        }
        if self.is_due(head.deletion) {
            self.key.clear();
            self.key.extend_from_slice(prefix);
            self.key.push(EntryKind::Head as u8);
            let purge = PurgeEntry { deletion: head.deletion, ..self.entry(Deletion::LIVE) };
            self.later(head.deletion.timestamp, purge);
        }
        Ok(walk.leave()?)
    }

    /// Whether a deletion is old enough to go; notes when it will be if it is not.
    pub(super) fn is_due(&mut self, deletion: Deletion) -> bool {
        if deletion.is_live() {
            return false;
        }
        let is_due = deletion.local_time_s < self.terms.gc_before_s;
        if !is_due {
            self.counts.stays_until(self.due_s(deletion.local_time_s));
        }
        is_due
    }

    /// When something may go that is dead since `time_s`.
    fn due_s(&self, time_s: i64) -> i64 {
        time_s.saturating_add(self.terms.now_s.saturating_sub(self.terms.gc_before_s))
    }

    fn entry(&self, covering: Deletion) -> PurgeEntry {
        PurgeEntry { covering, ..PurgeEntry::new(self.terms.now_s, self.terms.gc_before_s) }
    }

    /// For the entry at `self.key`, once what its deletions shadow is written.
    fn later(&mut self, timestamp: i64, purge: PurgeEntry) {
        self.late_bytes += self.key.len() + size_of::<Late>();
        self.late.push(Late { timestamp, key: self.key.clone(), purge });
    }

    fn row(
        &mut self,
        prefix: &[u8],
        kind: EntryKind,
        row: &StoredRow,
        covering: Deletion,
    ) -> Result<(), PurgeError> {
        self.key.clear();
        self.key.extend_from_slice(prefix);
        self.key.push(kind as u8);
        self.key.extend_from_slice(&row.key);
        let length = self.key.len();
        let mut read = 0;
        let (mut covering_cells, mut of_columns) = (covering, SmallVec::new());
        if let Some(bytes) = &row.row {
            read += length + bytes.len();
            let entry = RowEntry::parse(bytes).in_table(self.table.id)?;
            // What follows costs as much as a merge: only where anything could go.
            if entry.is_mortal() || !covering.is_live() || !self.dropped.is_empty() {
                self.row_entry(&entry, bytes, covering)?;
            }
            covering_cells = covering.merge(entry.parts.deletion);
            of_columns = entry.parts.complex_deletions;
        }
        for (cell, value) in &row.cells {
            read += length + cell.len() + value.len();
            let column = take_column(&mut Input::new(cell)).in_table(self.table.id)?;
            let of_column = of_columns.iter().find(|(id, _)| *id == column);
            let covering = of_column.map_or(covering_cells, |(_, deletion)| covering_cells.merge(*deletion));
            let purge = self.entry(covering.merge(self.dropping(column)));
            self.key.truncate(length);
            self.key.extend_from_slice(cell);
            self.take_out(&purge, value)?;
        }
        self.counts.rows += 1;
        self.advance(read)
    }

    /// So much more was read: asks whether to go on, and writes what has become a batch.
    fn advance(&mut self, read: usize) -> Result<(), PurgeError> {
        self.counts.bytes += read as u64;
        if (self.pace)(read).is_break() {
            return Err(PurgeError::Stopped);
        }
        if self.set.bytes() + self.late_bytes >= self.terms.batch_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// The drop of a column, as a deletion of its cells.
    fn dropping(&self, column: ColumnId) -> Deletion {
        match self.dropped.binary_search_by_key(&column, |&(id, _)| id) {
            Ok(at) => Deletion { timestamp: self.dropped[at].1, local_time_s: self.terms.now_s },
            Err(_) => Deletion::LIVE,
        }
    }

    fn row_entry(
        &mut self,
        entry: &RowEntry<'_>,
        bytes: &[u8],
        covering: Deletion,
    ) -> Result<(), PurgeError> {
        let mut purge = PurgeEntry { columns: self.dropped.clone(), ..self.entry(covering) };
        let parts = &entry.parts;
        let own = if self.is_due(parts.deletion) { parts.deletion } else { Deletion::LIVE };
        let mut complex = parts.complex_deletions.clone();
        complex.retain(|(_, deletion)| self.is_due(*deletion));
        if !self.has_paths {
            // All that the row's deletion shadows is in this one entry.
            purge.deletion = own;
            purge.is_whole = true;
        } else if !own.is_live() || !complex.is_empty() {
            let timestamp =
                complex.iter().map(|(_, deletion)| deletion.timestamp).fold(own.timestamp, i64::max);
            self.later(timestamp, PurgeEntry { deletion: own, complex_deletions: complex, ..purge.clone() });
        }
        self.take_out(&purge, bytes)
    }

    /// Writes the purge of the entry at `self.key` if it changes it.
    fn take_out(&mut self, entry: &PurgeEntry, bytes: &[u8]) -> Result<(), PurgeError> {
        let table = self.table.id;
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        purge(bytes, entry, &mut left)
            .map_err(|error| EngineError::Corruption { table: Some(table), detail: error.to_string() })?;
        if left != bytes {
            let mut value = Vec::new();
            entry.encode(&mut value);
            self.set.merge(table, &self.key, &value);
            self.counts.purged += 1;
        }
        self.note_what_stays(&left)?;
        self.left = left;
        Ok(())
    }

    /// Notes when the first of what is left of an entry may go, deletions excepted.
    fn note_what_stays(&mut self, left: &[u8]) -> Result<(), PurgeError> {
        match left.first() {
            None => {}
            Some(&CELL_TAG) => self.cell_stays(&CellEntry::parse(left).in_table(self.table.id)?.data),
            Some(_) => {
                let entry = RowEntry::parse(left).in_table(self.table.id)?;
                let liveness = entry.parts.liveness;
                if liveness.is_expiring() {
                    self.counts.stays_until(self.due_s(liveness.expires_at_s));
                }
                for cell in entry.cells() {
                    self.cell_stays(&cell.in_table(self.table.id)?.1);
                }
            }
        }
        Ok(())
    }

    fn cell_stays(&mut self, cell: &CellData<'_>) {
        match cell.expired() {
            Some(tombstone) => {
                let due_s = self.due_s(tombstone.local_deletion_time_s);
                self.counts.stays_until(due_s.max(cell.local_deletion_time_s));
            }
            None if cell.is_tombstone() => self.counts.stays_until(self.due_s(cell.local_deletion_time_s)),
            None => {}
        }
    }

    /// Writes what was gathered, and of the deletions those that may go now.
    pub(super) fn flush(&mut self) -> Result<(), PurgeError> {
        let oldest = self.watch.oldest();
        self.late_bytes = 0;
        for late in self.late.drain(..) {
            if late.timestamp < oldest {
                let mut value = Vec::new();
                late.purge.encode(&mut value);
                self.set.merge(self.table.id, &late.key, &value);
                self.counts.purged += 1;
            } else {
                self.counts.withheld += 1;
                self.counts.stays_until(self.terms.now_s);
            }
        }
        if !self.set.is_empty() {
            self.purger.committer.commit(std::mem::take(&mut self.set))?;
        }
        Ok(())
    }
}

/// Columns that were dropped, each with the last time, ascending.
fn dropped_columns(table: &Table) -> SmallVec<[(ColumnId, i64); 1]> {
    let mut dropped: SmallVec<[(ColumnId, i64); 1]> =
        table.dropped_columns.values().map(|d| (d.column.id, d.dropped_time)).collect();
    dropped.sort_unstable_by_key(|&(id, time)| (id, std::cmp::Reverse(time)));
    dropped.dedup_by_key(|(id, _)| *id);
    dropped
}
