//! Reading at the moment of the call, or as of a view.

use std::cell::OnceCell;
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{Cursor, CursorOptions, EngineError, ReadTier, Reads, Values};
use bytes::Bytes;
use rocksdb::{DB, ReadOptions, Snapshot};
use smallvec::SmallVec;

use crate::cursor::RocksCursor;
use crate::engine::RocksEngine;
use crate::error;
use crate::options;
use crate::table_map::{StoredKey, TableMap};
use crate::windows::{self, WindowsCursor};

/// Read options of both tiers, made when first used.
#[derive(Default)]
pub(crate) struct Tiers {
    all: OnceCell<ReadOptions>,
    cache_only: OnceCell<ReadOptions>,
}

pub(crate) fn get(
    db: &DB,
    tables: &TableMap,
    options: &ReadOptions,
    table: TableId,
    key: &[u8],
) -> Result<Option<Bytes>, EngineError> {
    let home = tables.home(table)?;
    let handle = home.family.handle();
    let found = match home.prefix {
        None => db.get_pinned_cf_opt(handle, key, options),
        Some(_) => db.get_pinned_cf_opt(handle, home.stored(key), options),
    };
    let found = found.map_err(|error| error::of_read(Some(table), error))?;
    Ok(found.and_then(|value| something(&value)))
}

/// A copy of a value, unless it says that nothing is left.
fn something(value: &[u8]) -> Option<Bytes> {
    (!value.is_empty()).then(|| Bytes::copy_from_slice(value))
}

/// Several reads in one, from memory or disk. One family, so that RocksDB reads all keys as of one
/// sequence number.
pub(crate) fn multi_get(
    db: &DB,
    tables: &TableMap,
    options: &ReadOptions,
    table: TableId,
    keys: &[&[u8]],
) -> Result<Values, EngineError> {
    let home = tables.home(table)?;
    let handle = home.family.handle();
    let found = match home.prefix {
        None => db.batched_multi_get_cf_opt(handle, keys.iter().copied(), false, options),
        Some(_) => {
            let stored: SmallVec<[StoredKey; 4]> = keys.iter().map(|key| home.stored(key)).collect();
            db.batched_multi_get_cf_opt(handle, stored.iter().map(|key| &**key), false, options)
        }
    };
    let value = |found: Result<Option<rocksdb::DBPinnableSlice<'_>>, rocksdb::Error>| {
        let found = found.map_err(|error| error::of_read(Some(table), error))?;
        Ok(found.and_then(|value| something(&value)))
    };
    found.into_iter().map(value).collect()
}

/// Several reads, each of its own moment unless the options hold a snapshot. For memory only:
/// RocksDB's own multi-get looks at the read tier for filters and indexes, but reads data blocks
/// from the disk all the same (11.8.1, `BlockBasedTable::MultiGet`).
pub(crate) fn get_each(
    db: &DB,
    tables: &TableMap,
    options: &ReadOptions,
    table: TableId,
    keys: &[&[u8]],
) -> Result<Values, EngineError> {
    keys.iter().map(|key| get(db, tables, options, table, key)).collect()
}

/// A read point. The tables are those of its making: one that is dropped later is still shown.
pub(crate) struct View<'a> {
    engine: &'a RocksEngine,
    tables: Arc<TableMap>,
    tiers: Tiers,
    snapshot: Snapshot<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn new(engine: &'a RocksEngine, tables: Arc<TableMap>) -> View<'a> {
        View { engine, tables, tiers: Tiers::default(), snapshot: engine.db().snapshot() }
    }

    fn options(&self, tier: ReadTier) -> &ReadOptions {
        let (cell, cache_only) = match tier {
            ReadTier::All => (&self.tiers.all, false),
            ReadTier::CacheOnly => (&self.tiers.cache_only, true),
        };
        cell.get_or_init(|| {
            let mut options = options::read(cache_only);
            options.set_snapshot(&self.snapshot);
            options
        })
    }
}

impl Reads for View<'_> {
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        self.engine.check_open()?;
        let home = self.tables.home(table)?;
        if !home.past.is_empty() {
            return windows::get(self.engine.db(), home, self.options(tier), table, key);
        }
        get(self.engine.db(), &self.tables, self.options(tier), table, key)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        self.engine.check_open()?;
        if !self.tables.home(table)?.past.is_empty() {
            return keys.iter().map(|key| self.get(table, key, tier)).collect();
        }
        let read = match tier {
            ReadTier::All => multi_get,
            ReadTier::CacheOnly => get_each,
        };
        read(self.engine.db(), &self.tables, self.options(tier), table, keys)
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        self.engine.check_open()?;
        let home = self.tables.home(table)?;
        if !home.past.is_empty() {
            let cursor = WindowsCursor::new(self.engine.db(), table, home, options, &self.snapshot)?;
            return Ok(Box::new(cursor));
        }
        let mut read = crate::cursor::read_options(home, options);
        read.set_snapshot(&self.snapshot);
        Ok(Box::new(RocksCursor::new(self.engine.db(), table, Arc::clone(home), read, options.tier)))
    }
}
