//! A partition as it is stored: rows with their dead cells and deletions, and range tombstones,
//! in clustering order or against it (`UnfilteredRowIterator`). For digests, repair, streaming.

use basalt_model::command::ClusteringFilter;
use basalt_model::mutation::RangeTombstone;
use basalt_model::{DecoratedKey, Deletion, Row, Slice, Table};
use bytes::Bytes;

use super::partition::{EncodedRange, PartitionWalk};
use super::projection::Projection;
use super::ranges::ranges;
use super::stored_row::StoredRow;
use super::tombstones::TombstoneWalk;
use super::{InTable, ReadError};
use crate::cells::RangeTombstoneEntry;
use crate::engine::{Cursor, CursorOptions, EngineError, ReadTier, Reads};
use crate::keys::clustering::decode_bound;
use crate::keys::{EntryKind, PARTITION_END, append_partition};

/// What a walk over a partition meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfiltered {
    /// A row: what is live and what is dead of it, without what a stronger deletion covers.
    Row(Row),
    /// A range tombstone, not cut to what was asked for: forward it comes before the first row it
    /// may cover, backward likewise.
    RangeTombstone(RangeTombstone),
}

/// What stands before a partition's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionStart {
    /// Deletion of the partition.
    pub deletion: Deletion,
    /// The static row, whole.
    pub static_row: Option<Row>,
}

/// Walks a partition: `start` is handed what stands before the rows, then `item` each row and
/// range tombstone until it answers `false`. `reads` must be a view.
///
/// # Errors
/// As of [`super::read`].
pub fn walk(
    reads: &dyn Reads,
    table: &Table,
    key: &DecoratedKey,
    filter: &ClusteringFilter,
    tier: ReadTier,
    start: impl FnOnce(PartitionStart),
    mut item: impl FnMut(Unfiltered) -> bool,
) -> Result<(), ReadError> {
    let mut partition = Vec::new();
    append_partition(key, &mut partition);
    let mut lower = partition.clone();
    lower.push(EntryKind::Head as u8);
    let mut upper = partition.clone();
    upper.push(PARTITION_END);
    let options = CursorOptions { tier, lower: &lower, upper: Some(&upper), fills_cache: true };
    let mut cursor = reads.cursor(table.id, options)?;
    let is_at = cursor.seek(&lower)?;
    let mut rows = PartitionWalk::new(table, &mut *cursor, partition.clone(), is_at, true);

    let head = rows.head()?;
    let statics = Projection::everything(table, table.statics());
    let static_row = match rows.static_row()? {
        Some(row) => row.whole(table.id, head.deletion, &statics)?,
        None => None,
    };
    start(PartitionStart { deletion: head.deletion, static_row });

    let regulars = Projection::everything(table, table.regulars());
    let mut covers = TombstoneWalk::new(reads, table, &partition, tier, filter.reversed)?;
    let mut tombstones = Tombstones::new(reads, table, partition, tier)?;
    let mut row = StoredRow::default();
    for range in ranges(table, filter, true).map_err(ReadError::Command)? {
        if head.has_range_tombstones {
            tombstones.start(&range, filter.reversed)?;
            covers.restart();
        }
        rows.start(range.clone(), filter.reversed)?;
        loop {
            let is_row = rows.next_row(&mut row)?;
            let upto = is_row.then_some(row.key.as_slice());
            while let Some(tombstone) = tombstones.next_before(upto, &range, filter.reversed)? {
                if !item(Unfiltered::RangeTombstone(tombstone)) {
                    return Ok(());
                }
            }
            if !is_row {
                break;
            }
            let mut covering = head.deletion;
            if head.has_range_tombstones {
                covering = covering.merge(covers.cover(&row.key)?);
            }
            if let Some(row) = row.whole(table.id, covering, &regulars)?
                && !item(Unfiltered::Row(row))
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The range tombstones of a partition, one after the other.
struct Tombstones<'r> {
    table: &'r Table,
    cursor: Box<dyn Cursor + 'r>,
    area: Vec<u8>,
    is_at: bool,
    /// Those that start at one bound, not handed out yet.
    queue: Vec<(Vec<u8>, Vec<u8>, RangeTombstone)>,
}

impl<'r> Tombstones<'r> {
    fn new(
        reads: &'r dyn Reads,
        table: &'r Table,
        partition: Vec<u8>,
        tier: ReadTier,
    ) -> Result<Tombstones<'r>, EngineError> {
        let mut area = partition.clone();
        area.push(EntryKind::RangeTombstone as u8);
        let mut upper = partition;
        upper.push(EntryKind::Row as u8);
        let options = CursorOptions { tier, lower: &area, upper: Some(&upper), fills_cache: true };
        let cursor = reads.cursor(table.id, options)?;
        Ok(Tombstones { table, cursor, area, is_at: false, queue: Vec::new() })
    }

    /// To the first that may reach into the range, in reading direction.
    fn start(&mut self, range: &EncodedRange, is_reversed: bool) -> Result<(), EngineError> {
        let edge = if is_reversed { &range.upper } else { &range.lower };
        let at = [&self.area, edge.as_slice()].concat();
        self.queue.clear();
        self.is_at = self.cursor.seek_for_prev(&at)?;
        if !self.is_at && !is_reversed {
            self.is_at = self.cursor.seek(&at)?;
        }
        Ok(())
    }

    /// The next that begins, in reading direction, before the row at `upto`, or within the range.
    fn next_before(
        &mut self,
        upto: Option<&[u8]>,
        range: &EncodedRange,
        is_reversed: bool,
    ) -> Result<Option<RangeTombstone>, EngineError> {
        loop {
            if self.queue.is_empty() {
                if !self.is_at {
                    return Ok(None);
                }
                self.fill()?;
                if is_reversed {
                    self.is_at = self.cursor.prev()?;
                } else {
                    self.queue.reverse();
                    self.is_at = self.cursor.next()?;
                }
            }
            let Some((start, end, _)) = self.queue.last() else { return Ok(None) };
            if *end <= range.lower || *start >= range.upper {
                self.queue.pop();
                continue;
            }
            let is_due = match upto {
                None => true,
                Some(row) if is_reversed => end.as_slice() > row,
                Some(row) => start.as_slice() < row,
            };
            return Ok(if is_due { self.queue.pop().map(|(_, _, tombstone)| tombstone) } else { None });
        }
    }

    fn fill(&mut self) -> Result<(), EngineError> {
        let id = self.table.id;
        let start = self.cursor.key().get(self.area.len()..).unwrap_or_default().to_vec();
        let value = Bytes::copy_from_slice(self.cursor.value());
        for item in RangeTombstoneEntry::parse(&value).in_table(id)?.covered {
            let mut slice = Slice {
                start: decode_bound(self.table, &start, true).in_table(id)?,
                end: decode_bound(self.table, item.end, false).in_table(id)?,
            };
            item.restore(&value, &mut slice).in_table(id)?;
            let tombstone = RangeTombstone { slice, deletion: item.deletion };
            self.queue.push((start.clone(), item.end.to_vec(), tombstone));
        }
        Ok(())
    }
}
