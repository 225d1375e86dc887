//! Past windows of a table that go as a whole: all that is in one is dead for longer than `gc_grace_seconds`, and shadows nothing that
//! is elsewhere (`CompactionController.getFullyExpiredSSTables`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use basalt_model::{Deletion, Table};

use super::{Pace, PurgeCounts, PurgeError, Purger, Terms};
use crate::cells::{
    CELL_TAG, CellEntry, EntryError, HEAD_TAG, HeadEntry, RANGE_TOMBSTONE_TAG, ROW_TAG, RangeTombstoneEntry,
    RowEntry,
};
use crate::engine::{CursorOptions, ReadTier, WindowId};
use crate::read::InTable;

/// The times of what is in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The earliest write time.
    oldest: i64,
    /// The latest write time.
    newest: i64,
    /// When the last of it is dead, seconds; `i64::MAX` for never.
    dead_s: i64,
}

impl Times {
    const NONE: Times = Times { oldest: i64::MAX, newest: i64::MIN, dead_s: i64::MIN };

    /// Adds something: what is neither deleted nor expires has [`basalt_model::deletion::NO_DELETION_TIME`], the greatest number.
    fn add(&mut self, timestamp: i64, local_deletion_time_s: i64) {
        self.oldest = self.oldest.min(timestamp);
        self.newest = self.newest.max(timestamp);
        self.dead_s = self.dead_s.max(local_deletion_time_s);
    }

    fn add_deletion(&mut self, deletion: Deletion) {
        if !deletion.is_live() {
            self.add(deletion.timestamp, deletion.local_time_s);
        }
    }

    fn add_entry(&mut self, entry: &[u8]) -> Result<(), EntryError> {
        match entry.first() {
            None => {}
            Some(&HEAD_TAG) => self.add_deletion(HeadEntry::parse(entry)?.deletion),
            Some(&ROW_TAG) => {
                let row = RowEntry::parse(entry)?;
                let liveness = row.parts.liveness;
                if !liveness.is_none() {
                    self.add(liveness.timestamp, liveness.expires_at_s);
                }
                self.add_deletion(row.parts.deletion);
                row.parts.complex_deletions.iter().for_each(|(_, deletion)| self.add_deletion(*deletion));
                for cell in row.cells() {
                    let (_, cell) = cell?;
                    self.add(cell.timestamp, cell.local_deletion_time_s);
                }
            }
            Some(&CELL_TAG) => {
                let cell = CellEntry::parse(entry)?.data;
                self.add(cell.timestamp, cell.local_deletion_time_s);
            }
            Some(&RANGE_TOMBSTONE_TAG) => {
                let tombstones = RangeTombstoneEntry::parse(entry)?;
                tombstones.covered.iter().for_each(|covered| self.add_deletion(covered.deletion));
            }
            Some(&other) => return Err(EntryError::UnknownTag(other)),
        }
        Ok(())
    }
}

/// What is known of past windows. It stays true: nothing is added to them.
pub type KnownWindows = HashMap<WindowId, Times>;

impl Purger {
    /// Drops the past windows of `table` that may go; others stay as they are. Reads each past window once for `known`, and what is
    /// written now each time one of them may go. Not for a reactor.
    ///
    /// # Errors
    /// See [`PurgeError`].
    pub fn drop_windows(
        &self,
        table: &Table,
        known: &mut KnownWindows,
        terms: Terms,
        pace: &mut Pace<'_>,
    ) -> Result<PurgeCounts, PurgeError> {
        let mut counts = PurgeCounts::default();
        let past = self.engine.past_windows(table.id)?;
        // Writes that were on their way when the last window became a past one have ended.
        drop(self.committer.watch(table.id));
        known.retain(|window, _| past.contains(window));
        for &window in &past {
            if let Entry::Vacant(unknown) = known.entry(window) {
                unknown.insert(self.times(table, Some(window), &mut counts, pace)?);
            }
        }
        let is_dead = |times: &Times| times.dead_s < terms.gc_before_s;
        if known.values().any(is_dead) {
            let watch = self.committer.watch(table.id);
            let now = self.times(table, None, &mut counts, pace)?;
            // Of what is dead as well it does not matter what it covers: it is shadowed by nothing alive.
            let staying = known.values().filter(|times| !is_dead(times)).map(|times| times.oldest);
            let oldest = staying.fold(now.oldest, i64::min).min(watch.oldest());
            let may_go = |window: &&WindowId| {
                known.get(window).is_some_and(|times| is_dead(times) && times.newest < oldest)
            };
            let gone: Vec<WindowId> = past.iter().filter(may_go).copied().collect();
            // A window that has begun meanwhile may have made a past one of what was not read.
            if !gone.is_empty() && self.engine.past_windows(table.id)? == past {
                self.engine.drop_windows(table.id, &gone)?;
                known.retain(|window, _| !gone.contains(window));
                counts.purged = gone.len() as u64;
            }
        }
        for times in known.values().filter(|times| times.dead_s != i64::MAX) {
            if is_dead(times) {
                counts.withheld += 1;
            }
            let gc_grace_s = terms.now_s.saturating_sub(terms.gc_before_s);
            counts.stays_until(times.dead_s.saturating_add(gc_grace_s).saturating_add(1).max(terms.now_s));
        }
        Ok(counts)
    }

    /// Reads one window, or with `None` what is written now.
    fn times(
        &self,
        table: &Table,
        window: Option<WindowId>,
        counts: &mut PurgeCounts,
        pace: &mut Pace<'_>,
    ) -> Result<Times, PurgeError> {
        let options = CursorOptions { tier: ReadTier::All, lower: &[], upper: None, fills_cache: false };
        let mut cursor = self.engine.window_cursor(table.id, window, options)?;
        let mut times = Times::NONE;
        let mut is_at = cursor.seek(&[])?;
        while is_at {
            times.add_entry(cursor.value()).in_table(table.id)?;
            let read = cursor.key().len() + cursor.value().len();
            counts.rows += 1;
            counts.bytes += read as u64;
            if pace(read).is_break() {
                return Err(PurgeError::Stopped);
            }
            is_at = cursor.next()?;
        }
        Ok(times)
    }
}
