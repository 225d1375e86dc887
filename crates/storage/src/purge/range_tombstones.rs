//! Range tombstones that may go, and the mark of a partition that there are some.
//!
//! They are not merged but rewritten under the lock of their partition, and so they are here. Only those go that stood
//! in the walk's view: only what these cover has been taken out.

use basalt_model::Deletion;
use smallvec::SmallVec;

use super::PurgeError;
use super::pass::Pass;
use crate::cells::{Covered, PurgeEntry, RangeTombstoneEntry};
use crate::engine::{CursorOptions, ReadTier, WriteSet};
use crate::keys::{EntryKind, decode_partition};
use crate::read::InTable;

/// Writers of range tombstones wait while so many are looked at.
const BATCH: usize = 1_000;

impl Pass<'_> {
    /// Purges those of a partition whose rows were purged.
    pub(super) fn range_tombstones(&mut self, prefix: &[u8]) -> Result<(), PurgeError> {
        let token = decode_partition(prefix).in_table(self.table.id)?.token;
        let area = [prefix, &[EntryKind::RangeTombstone as u8]].concat();
        let end = [prefix, &[EntryKind::Row as u8]].concat();
        let options =
            CursorOptions { tier: ReadTier::All, lower: &area, upper: Some(&end), fills_cache: false };
        let purger = self.purger;
        let mut from = area.clone();
        while !from.is_empty() {
            let _guards = purger.writer.lock_partition(self.table.id, token);
            from = self.some_range_tombstones(&from, options)?;
        }
        let _guards = purger.writer.lock_partition(self.table.id, token);
        if purger.engine.cursor(self.table.id, options)?.seek(&area)? {
            return Ok(());
        }
        let terms = self.terms;
        let mut value = Vec::new();
        PurgeEntry { ends_range_tombstones: true, ..PurgeEntry::new(terms.now_s, terms.gc_before_s) }
            .encode(&mut value);
        let mut set = WriteSet::new();
        set.merge(self.table.id, &[prefix, &[EntryKind::Head as u8]].concat(), &value);
        self.counts.purged += 1;
        Ok(purger.committer.commit(set)?)
    }

    /// Looks at some from `from` on, under the lock; answers where to go on, nothing at the end.
    fn some_range_tombstones(
        &mut self,
        from: &[u8],
        options: CursorOptions<'_>,
    ) -> Result<Vec<u8>, PurgeError> {
        let table = self.table.id;
        let mut seen = self.view.cursor(table, options)?;
        let mut is_seen = seen.seek(from)?;
        let mut stored = self.purger.engine.cursor(table, options)?;
        let mut is_stored = stored.seek(from)?;
        let mut set = WriteSet::new();
        let mut looked_at = 0;
        while is_stored && looked_at < BATCH {
            looked_at += 1;
            while is_seen && seen.key() < stored.key() {
                is_seen = seen.next()?;
            }
            let is_known = is_seen && seen.key() == stored.key() && seen.value() == stored.value();
            self.one_range_tombstone(stored.key(), stored.value(), is_known, &mut set)?;
            is_stored = stored.next()?;
        }
        let next = if is_stored { stored.key().to_vec() } else { Vec::new() };
        self.counts.purged += set.len() as u64;
        if !set.is_empty() {
            self.purger.committer.commit(set)?;
        }
        Ok(next)
    }

    fn one_range_tombstone(
        &mut self,
        key: &[u8],
        value: &[u8],
        is_known: bool,
        set: &mut WriteSet,
    ) -> Result<(), PurgeError> {
        let table = self.table.id;
        let entry = RangeTombstoneEntry::parse(value).in_table(table)?;
        let stays = |item: &&Covered<'_>| !self.goes(item.deletion, is_known);
        let covered: SmallVec<[Covered<'_>; 1]> = entry.covered.iter().filter(stays).copied().collect();
        if covered.is_empty() {
            set.delete(table, key);
        } else if covered.len() < entry.covered.len() {
            let mut left = Vec::new();
            RangeTombstoneEntry { covered }.encode(&mut left);
            set.put(table, key, &left);
        }
        Ok(())
    }

    fn goes(&mut self, deletion: Deletion, is_known: bool) -> bool {
        if !self.is_due(deletion) {
            return false;
        }
        let goes = is_known && deletion.timestamp < self.watch.oldest();
        if !goes {
            self.counts.withheld += 1;
            self.counts.stays_until(self.terms.now_s);
        }
        goes
    }
}
