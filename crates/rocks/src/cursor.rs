//! A walk over a table: RocksDB's iterator, with the table's prefix added to what goes in and cut
//! from what comes out.

use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{Cursor, CursorOptions, EngineError, Entry, ReadTier};
use rocksdb::{DB, DBRawIterator, ReadOptions};

use crate::error;
use crate::options;
use crate::table_map::Home;

/// Purged keys that a move with memory only passes: some tenths of a millisecond.
const REACTOR_PASSES: usize = 200;

/// The options of a walk; bounds are those of the table at most.
pub(crate) fn read_options(home: &Home, walk: CursorOptions<'_>) -> ReadOptions {
    let mut read = options::read(walk.tier == ReadTier::CacheOnly);
    read.fill_cache(walk.fills_cache);
    let lower = home.stored(walk.lower);
    if !lower.is_empty() {
        read.set_iterate_lower_bound(lower.into_vec());
    }
    match (walk.upper, home.end()) {
        (Some(upper), _) => read.set_iterate_upper_bound(home.stored(upper).into_vec()),
        (None, Some(end)) => read.set_iterate_upper_bound(end.to_vec()),
        (None, None) => {}
    }
    read
}

/// A cursor over one table.
pub(crate) struct RocksCursor<'a> {
    iterator: DBRawIterator<'a>,
    table: TableId,
    /// Keeps the family's handle, which the iterator may look at, and says the prefix.
    home: Arc<Home>,
    /// A key to seek, with its prefix: one buffer for all seeks.
    target: Vec<u8>,
    /// So many keys of which nothing is left may be passed in one move,
    passes_max: usize,
    /// and this is said then.
    at_max: EngineError,
}

impl<'a> RocksCursor<'a> {
    pub(crate) fn new(
        db: &'a DB,
        table: TableId,
        home: Arc<Home>,
        read: ReadOptions,
        tier: ReadTier,
    ) -> RocksCursor<'a> {
        // A reactor does not walk over what was purged and not compacted yet.
        let passes_max = if tier == ReadTier::CacheOnly { REACTOR_PASSES } else { usize::MAX };
        let iterator = db.raw_iterator_cf_opt(home.family.handle(), read);
        RocksCursor { iterator, table, home, target: Vec::new(), passes_max, at_max: EngineError::WouldBlock }
    }

    /// Goes on until there is an entry and says whether there is one; RocksDB says errors and the end in the same way.
    fn arrive(&mut self, go_on: fn(&mut DBRawIterator<'a>)) -> Result<bool, EngineError> {
        let mut passed = 0;
        while let Some(value) = self.iterator.value() {
            if !value.is_empty() {
                return Ok(true);
            }
            // Nothing is left under this key.
            if passed == self.passes_max {
                return Err(self.at_max.clone());
            }
            passed += 1;
            go_on(&mut self.iterator);
        }
        self.iterator.status().map_err(|error| error::of_read(Some(self.table), error))?;
        Ok(false)
    }

    fn aim(&mut self, key: &[u8]) {
        self.target.clear();
        self.target.extend_from_slice(self.home.prefix());
        self.target.extend_from_slice(key);
    }
}

impl Cursor for RocksCursor<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.aim(key);
        self.iterator.seek(&self.target);
        self.arrive(DBRawIterator::next)
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        self.aim(key);
        self.iterator.seek_for_prev(&self.target);
        self.arrive(DBRawIterator::prev)
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        self.iterator.next();
        self.arrive(DBRawIterator::next)
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        self.iterator.prev();
        self.arrive(DBRawIterator::prev)
    }

    fn pause_after(&mut self, keys: usize) {
        if keys < self.passes_max {
            (self.passes_max, self.at_max) = (keys, EngineError::Paused);
        }
    }

    fn key(&self) -> &[u8] {
        let stored = self.iterator.key().unwrap_or_default();
        stored.strip_prefix(self.home.prefix()).unwrap_or_default()
    }

    fn value(&self) -> &[u8] {
        self.iterator.value().unwrap_or_default()
    }

    fn entry(&self) -> Entry<'_> {
        let (stored, value) = self.iterator.item().unwrap_or_default();
        (stored.strip_prefix(self.home.prefix()).unwrap_or_default(), value)
    }
}
