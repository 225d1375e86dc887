//! A walk over one partition's entries with a cursor: head, static row, rows between two encoded
//! positions, in either direction.

use basalt_model::Table;
use bytes::Bytes;

use super::InTable;
use super::stored_row::StoredRow;
use crate::cells::HeadEntry;
use crate::engine::{Cursor, EngineError, Entry};
use crate::keys::clustering::decode_clustering;
use crate::keys::{EntryKind, PARTITION_END};

/// Positions between rows, encoded: from `lower` on, before `upper`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRange {
    /// The smallest encoded clustering inside.
    pub lower: Vec<u8>,
    /// Behind the largest.
    pub upper: Vec<u8>,
}

/// A partition under a cursor. Head and static row are asked for first, in this order.
pub struct PartitionWalk<'t, 'c> {
    table: &'t Table,
    cursor: &'c mut dyn Cursor,
    /// Token and escaped partition key.
    partition: Vec<u8>,
    /// The cursor has a position, and nothing unread lies before it.
    is_at: bool,
    /// The entry under the cursor was read: move before looking.
    is_read: bool,
    is_reversed: bool,
    /// Rows may have cells in entries of their own.
    has_paths: bool,
}

impl<'t, 'c> PartitionWalk<'t, 'c> {
    /// With the cursor at the partition's first entry (`is_at`), or nowhere if it has none.
    pub fn new(
        table: &'t Table,
        cursor: &'c mut dyn Cursor,
        partition: Vec<u8>,
        is_at: bool,
        has_paths: bool,
    ) -> PartitionWalk<'t, 'c> {
        PartitionWalk { table, cursor, partition, is_at, is_read: false, is_reversed: false, has_paths }
    }

    /// What all keys of the partition begin with.
    pub fn partition(&self) -> &[u8] {
        &self.partition
    }

    fn key_of(&self, kind: u8, rest: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.partition.len() + 1 + rest.len());
        key.extend_from_slice(&self.partition);
        key.push(kind);
        key.extend_from_slice(rest);
        key
    }

    /// What stands behind partition and kind in the key here; `None` elsewhere.
    fn rest(&self, kind: EntryKind) -> Option<&[u8]> {
        if !self.is_at {
            return None;
        }
        let (first, rest) = self.cursor.key().strip_prefix(self.partition.as_slice())?.split_first()?;
        (*first == kind as u8).then_some(rest)
    }

    fn step(&mut self) -> Result<(), EngineError> {
        self.is_read = false;
        self.is_at = if self.is_reversed { self.cursor.prev()? } else { self.cursor.next()? };
        Ok(())
    }

    /// The head.
    pub fn head(&mut self) -> Result<HeadEntry, EngineError> {
        if self.rest(EntryKind::Head).is_none() {
            return Ok(HeadEntry::NONE);
        }
        let head = HeadEntry::parse(self.cursor.value()).in_table(self.table.id)?;
        self.step()?;
        Ok(head)
    }

    /// The static row.
    pub fn static_row(&mut self) -> Result<Option<StoredRow>, EngineError> {
        let mut row = StoredRow::default();
        let mut is_there = false;
        while let Some(rest) = self.rest(EntryKind::Static) {
            is_there = true;
            add_entry(&mut row, rest, self.cursor.value());
            self.step()?;
        }
        Ok(is_there.then_some(row))
    }

    /// Starts on the rows of a range. Forward ranges ascend, backward ones descend.
    pub fn start(&mut self, range: &EncodedRange, is_reversed: bool) -> Result<(), EngineError> {
        self.is_read = false;
        if is_reversed {
            self.is_reversed = true;
            let last = self.key_of(EntryKind::Row as u8, &range.upper);
            self.is_at = self.cursor.seek_for_prev(&last)?;
            // The end of a range is outside: it is a row's own key when a page ended there.
            if self.is_at && self.cursor.key() == last.as_slice() {
                self.is_at = self.cursor.prev()?;
            }
            return Ok(());
        }
        // Nothing unread lies before the cursor: if it is far enough, it is right.
        if self.is_at && self.is_before(EntryKind::Row as u8, &range.lower) {
            let first = self.key_of(EntryKind::Row as u8, &range.lower);
            self.is_at = self.cursor.seek(&first)?;
        }
        Ok(())
    }

    /// Whether the cursor, which moves forward, has not come to this place of the partition.
    fn is_before(&self, kind: u8, rest: &[u8]) -> bool {
        // Behind the partition's first entry keys that do not begin as its own are behind all of it.
        let Some(behind) = self.cursor.key().strip_prefix(self.partition.as_slice()) else { return false };
        behind.split_first().is_none_or(|(&first, behind)| (first, behind) < (kind, rest))
    }

    /// The next row of the range that was started, where rows are one entry each: its encoded clustering and its entry. `None`
    /// at the end.
    pub fn next_entry(&mut self, range: &EncodedRange) -> Result<Option<Entry<'_>>, EngineError> {
        if self.is_read {
            self.step()?;
        }
        self.is_read = true;
        if !self.is_at {
            return Ok(None);
        }
        let (key, value) = self.cursor.entry();
        let rest = key.strip_prefix(self.partition.as_slice()).and_then(<[u8]>::split_first);
        let rest = rest.and_then(|(kind, rest)| (*kind == EntryKind::Row as u8).then_some(rest));
        Ok(rest.filter(|rest| !self.is_beyond(range, rest)).map(|rest| (rest, value)))
    }

    fn is_beyond(&self, range: &EncodedRange, row: &[u8]) -> bool {
        if self.is_reversed { row < range.lower.as_slice() } else { row >= range.upper.as_slice() }
    }

    /// Reads the next row of the range that was started into `row`; `false` at its end.
    pub fn next_row(&mut self, range: &EncodedRange, row: &mut StoredRow) -> Result<bool, EngineError> {
        if self.is_read {
            self.step()?;
        }
        let table = self.table;
        let Some(rest) = self.rest(EntryKind::Row) else { return Ok(false) };
        if self.is_beyond(range, rest) {
            return Ok(false);
        }
        let (clustering, length) = decode_clustering(table, rest).in_table(table.id)?;
        let (key, _) = rest.split_at_checked(length).unwrap_or_default();
        row.key.clear();
        row.key.extend_from_slice(key);
        row.clustering = clustering;
        row.row = None;
        row.cells.clear();

        // A reader that stops here has not touched the next entry, which may be on disk.
        let may_have_more = self.has_paths;
        while let Some(cell) =
            self.rest(EntryKind::Row).and_then(|rest| rest.strip_prefix(row.key.as_slice()))
        {
            let is_last_backwards = cell.is_empty();
            add_entry(row, cell, self.cursor.value());
            if !may_have_more || (self.is_reversed && is_last_backwards) {
                self.is_read = true;
                break;
            }
            self.step()?;
        }
        if self.is_reversed {
            row.cells.reverse();
        }
        Ok(true)
    }

    /// Moves the cursor to the first entry behind the partition; answers whether there is one.
    pub fn leave(self) -> Result<bool, EngineError> {
        if !self.is_reversed && !self.is_at {
            return Ok(false);
        }
        if !self.is_reversed && !self.is_before(PARTITION_END, &[]) {
            return Ok(true);
        }
        let end = self.key_of(PARTITION_END, &[]);
        self.cursor.seek(&end)
    }
}

/// Adds an entry: the row's own if nothing stands behind its key, else a cell's.
fn add_entry(row: &mut StoredRow, behind_row: &[u8], value: &[u8]) {
    let value = Bytes::copy_from_slice(value);
    if behind_row.is_empty() {
        row.row = Some(value);
    } else {
        row.cells.push((Bytes::copy_from_slice(behind_row), value));
    }
}
