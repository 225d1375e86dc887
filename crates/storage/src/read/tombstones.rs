//! Which range tombstone covers a row, asked row by row in reading order.

use basalt_model::{Deletion, Table, TableId};

use super::InTable;
use super::patience::Patience;
use crate::cells::{RangeTombstoneEntry, deletion_rank};
use crate::engine::{Cursor, CursorOptions, EngineError, ReadTier, Reads};
use crate::keys::EntryKind;

/// A cursor over the range tombstones of `partition`, a prefix of keys, and what their keys begin with. Its moves end when
/// `is_over` says so.
pub fn under_cursor<'r>(
    reads: &'r dyn Reads,
    table: &Table,
    partition: &[u8],
    tier: ReadTier,
    is_over: Option<&'r dyn Fn() -> bool>,
) -> Result<(Vec<u8>, Patience<'r>), EngineError> {
    let mut area = partition.to_vec();
    area.push(EntryKind::RangeTombstone as u8);
    let mut upper = partition.to_vec();
    upper.push(EntryKind::Row as u8);
    let options = CursorOptions { tier, lower: &area, upper: Some(&upper), fills_cache: true };
    let cursor = Patience::new(reads.cursor(table.id, options)?, is_over);
    Ok((area, cursor))
}

/// Range tombstones of a partition under a cursor.
pub struct TombstoneWalk<'r> {
    table: TableId,
    cursor: Patience<'r>,
    /// Partition and kind: what their keys begin with.
    area: Vec<u8>,
    is_reversed: bool,
    is_started: bool,
    is_at: bool,
    /// Ends and deletions of those that started at or before the last position asked for.
    active: Vec<(Vec<u8>, Deletion)>,
    met: u32,
    /// Those that died before this are not counted.
    counted_from_s: i64,
}

impl<'r> TombstoneWalk<'r> {
    /// Over those of `partition`, a prefix of keys.
    pub fn new(
        reads: &'r dyn Reads,
        table: &Table,
        partition: &[u8],
        tier: ReadTier,
        is_over: Option<&'r dyn Fn() -> bool>,
        is_reversed: bool,
    ) -> Result<TombstoneWalk<'r>, EngineError> {
        let (area, cursor) = under_cursor(reads, table, partition, tier, is_over)?;
        Ok(TombstoneWalk {
            table: table.id,
            cursor,
            area,
            is_reversed,
            is_started: false,
            is_at: false,
            active: Vec::new(),
            met: 0,
            counted_from_s: i64::MIN,
        })
    }

    /// Counts those only that may not be purged yet: that died at this time or later.
    pub fn counting_from(self, counted_from_s: i64) -> TombstoneWalk<'r> {
        TombstoneWalk { counted_from_s, ..self }
    }

    /// Forgets where it was: the next position may lie anywhere.
    pub fn restart(&mut self) {
        self.is_started = false;
        self.active.clear();
    }

    /// How many were met since last asked.
    pub fn take_met(&mut self) -> u32 {
        std::mem::take(&mut self.met)
    }

    /// The strongest deletion that covers `position`, an encoded clustering.
    pub fn cover(&mut self, position: &[u8]) -> Result<Deletion, EngineError> {
        if self.is_reversed {
            self.go_back(position)?
        } else {
            self.go_on(position)?
        }
        let covering = self.active.iter().filter(|(end, _)| end.as_slice() > position);
        let strongest = covering.map(|(_, deletion)| *deletion).max_by_key(|d| deletion_rank(*d));
        Ok(strongest.unwrap_or(Deletion::LIVE))
    }

    fn go_on(&mut self, position: &[u8]) -> Result<(), EngineError> {
        if !self.is_started {
            self.is_started = true;
            let from = [self.area.as_slice(), position].concat();
            self.is_at = self.cursor.seek_for_prev(&from)?;
            if !self.is_at {
                self.is_at = self.cursor.seek(&from)?;
            }
        }
        self.active.retain(|(end, _)| end.as_slice() > position);
        while self.is_at && self.start() <= position {
            self.add_here()?;
            self.is_at = self.cursor.next()?;
        }
        Ok(())
    }

    /// Backwards the nearest start at or before the position decides.
    fn go_back(&mut self, position: &[u8]) -> Result<(), EngineError> {
        if self.is_started && (!self.is_at || self.start() <= position) {
            return Ok(());
        }
        if self.is_started {
            while self.is_at && self.start() > position {
                self.is_at = self.cursor.prev()?;
            }
        } else {
            self.is_started = true;
            let from = [self.area.as_slice(), position].concat();
            self.is_at = self.cursor.seek_for_prev(&from)?;
        }
        self.active.clear();
        if self.is_at {
            self.add_here()?;
        }
        Ok(())
    }

    fn start(&self) -> &[u8] {
        self.cursor.key().get(self.area.len()..).unwrap_or_default()
    }

    fn add_here(&mut self) -> Result<(), EngineError> {
        let entry = RangeTombstoneEntry::parse(self.cursor.value()).in_table(self.table)?;
        for item in &entry.covered {
            // Each is two markers, as Cassandra counts: where it opens and where it closes.
            if item.deletion.local_time_s >= self.counted_from_s {
                self.met = self.met.saturating_add(2);
            }
            self.active.push((item.end.to_vec(), item.deletion));
        }
        Ok(())
    }
}
