//! A purge: what is to be taken out of an entry. Only ever an operand, never what is stored behind it.

use basalt_model::deletion::NO_TIMESTAMP;
use basalt_model::{ColumnId, Deletion};
use smallvec::SmallVec;

use super::codec::{put_deletion, put_local_time, put_timestamp, put_unsigned};
use super::row::{ComplexDeletions, take_column};
use super::{CellData, EntryError, PURGE_TAG, Reader};

const HAS_COVERING: u8 = 1;
const HAS_DELETION: u8 = 2;
const HAS_COLUMNS: u8 = 4;
const HAS_COMPLEX_DELETIONS: u8 = 8;
const ENDS_RANGE_TOMBSTONES: u8 = 16;
const IS_WHOLE: u8 = 32;
const FLAGS: u8 = 63;

/// What goes of an entry, of everything that was written to it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeEntry {
    /// Cells that have expired by now are dead.
    pub now_s: i64,
    /// Of the dead, what died before this goes: now without `gc_grace_seconds`.
    pub gc_before_s: i64,
    /// A deletion that stands elsewhere: what it covers goes.
    pub covering: Deletion,
    /// The deletion of the row or partition that goes, if it is still just this one.
    pub deletion: Deletion,
    /// Cells and deletions of a column up to a time, which was when it was dropped. Ascending by column.
    pub columns: SmallVec<[(ColumnId, i64); 1]>,
    /// Deletions of multi-cell columns that go if they are still just these. Ascending by column.
    pub complex_deletions: ComplexDeletions,
    /// There are no range tombstones any more: nobody needs to look for them.
    pub ends_range_tombstones: bool,
    /// The entry is all there is of its row: when nothing else is left, nor is the spelling of its clustering.
    pub is_whole: bool,
}

impl PurgeEntry {
    /// Of what is dead and was so before `gc_before_s`, deletions of other keys' entries excepted.
    pub fn new(now_s: i64, gc_before_s: i64) -> PurgeEntry {
        PurgeEntry {
            now_s,
            gc_before_s,
            covering: Deletion::LIVE,
            deletion: Deletion::LIVE,
            columns: SmallVec::new(),
            complex_deletions: SmallVec::new(),
            ends_range_tombstones: false,
            is_whole: false,
        }
    }

    /// Until when cells of the column are those of an earlier one of its name.
    pub fn dropped_time(&self, column: ColumnId) -> i64 {
        match self.columns.binary_search_by_key(&column, |&(id, _)| id) {
            Ok(at) => self.columns[at].1,
            Err(_) => NO_TIMESTAMP,
        }
    }

    /// Whether a cell stays (`AbstractCell.purge`); deletions are not looked at. An expired one stays as it is where
    /// Cassandra makes it the tombstone that it is to everyone: that would be written again for little.
    pub fn keeps(&self, cell: &CellData<'_>) -> bool {
        let died_s = cell.expired().map_or(cell.local_deletion_time_s, |cell| cell.local_deletion_time_s);
        cell.is_live(self.now_s) || died_s >= self.gc_before_s
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// When the bytes are not a purge.
    pub fn parse(bytes: &[u8]) -> Result<PurgeEntry, EntryError> {
        let mut reader = Reader::behind_tag(bytes, PURGE_TAG)?;
        let flags = reader.byte()?;
        if flags & !FLAGS != 0 {
            return Err(EntryError::Malformed("unknown flags of a purge"));
        }
        let mut entry = PurgeEntry::new(reader.local_time()?, reader.local_time()?);
        if flags & HAS_COVERING != 0 {
            entry.covering = reader.deletion()?;
        }
        if flags & HAS_DELETION != 0 {
            entry.deletion = reader.deletion()?;
        }
        if flags & HAS_COLUMNS != 0 {
            each_column(&mut reader, |column, reader| {
                entry.columns.push((column, reader.timestamp()?));
                Ok(())
            })?;
        }
        if flags & HAS_COMPLEX_DELETIONS != 0 {
            each_column(&mut reader, |column, reader| {
                entry.complex_deletions.push((column, reader.deletion()?));
                Ok(())
            })?;
        }
        entry.ends_range_tombstones = flags & ENDS_RANGE_TOMBSTONES != 0;
        entry.is_whole = flags & IS_WHOLE != 0;
        if reader.is_empty() { Ok(entry) } else { Err(EntryError::Malformed("bytes behind a purge")) }
    }

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let has = |condition: bool, flag: u8| if condition { flag } else { 0 };
        out.push(PURGE_TAG);
        out.push(
            has(!self.covering.is_live(), HAS_COVERING)
                | has(!self.deletion.is_live(), HAS_DELETION)
                | has(!self.columns.is_empty(), HAS_COLUMNS)
                | has(!self.complex_deletions.is_empty(), HAS_COMPLEX_DELETIONS)
                | has(self.ends_range_tombstones, ENDS_RANGE_TOMBSTONES)
                | has(self.is_whole, IS_WHOLE),
        );
        put_local_time(self.now_s, out);
        put_local_time(self.gc_before_s, out);
        for deletion in [self.covering, self.deletion] {
            if !deletion.is_live() {
                put_deletion(deletion, out);
            }
        }
        let columns = self.columns.iter().map(|&(column, time)| (column, time));
        put_columns(columns, out, put_timestamp);
        let deletions = self.complex_deletions.iter().map(|&(column, deletion)| (column, deletion));
        put_columns(deletions, out, put_deletion);
    }
}

fn put_columns<T>(
    items: impl ExactSizeIterator<Item = (ColumnId, T)>,
    out: &mut Vec<u8>,
    put: impl Fn(T, &mut Vec<u8>),
) {
    if items.len() == 0 {
        return;
    }
    put_unsigned(items.len() as u64, out);
    let mut next = 0;
    for (column, item) in items {
        put_unsigned(u64::from(column.0.wrapping_sub(next)), out);
        next = column.0.wrapping_add(1);
        put(item, out);
    }
}

fn each_column<'a>(
    reader: &mut Reader<'a>,
    mut item: impl FnMut(ColumnId, &mut Reader<'a>) -> Result<(), EntryError>,
) -> Result<(), EntryError> {
    let count = reader.unsigned()?;
    if count == 0 {
        return Err(EntryError::Malformed("no columns where some are announced"));
    }
    let mut next_column = 0;
    for _ in 0..count {
        let column = take_column(reader.unsigned()?, &mut next_column)?;
        item(column, reader)?;
    }
    Ok(())
}
