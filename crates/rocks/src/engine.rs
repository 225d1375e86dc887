//! [`RocksEngine`]: the engine's contract on RocksDB. Reads, views, cursors and table changes are
//! in their own files; here are writes, syncs, flushes and the end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use basalt_model::TableId;
use basalt_model::schema::OptionsEffect;
use basalt_storage::engine::{
    Cursor, CursorOptions, Engine, EngineError, Exported, OpKind, ReadTier, Reads, Staged, StorageOptions,
    Sync, TableInfo, TableStats, Values, WriteOptions, WriteSet,
};
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use rocksdb::{
    BottommostLevelCompaction, CompactOptions, DB, ErrorKind, FlushOptions, Range, ReadOptions, WriteBatch,
    properties,
};

use crate::cursor::{self, RocksCursor};
use crate::directory::Directory;
use crate::error;
use crate::family::Family;
use crate::open::{self, OWN_FAMILIES_MAX, RocksConfig};
use crate::open_error::OpenError;
use crate::options::{self, Kit};
use crate::options_file::FamilyOptions;
use crate::reads::{self, View};
use crate::table_map::{Home, TableMap};
use crate::tables::Wish;

/// Bytes a write batch needs beside keys and values: a header, and a few for each operation.
const BATCH_HEADER: usize = 12;
const OPERATION_OVERHEAD: usize = 16;

/// An engine on RocksDB. Dropping it releases the directory; what was written is in the log.
pub struct RocksEngine {
    tables: ArcSwap<TableMap>,
    /// The next free number; held while a table is made, dropped or truncated.
    definitions: Mutex<u32>,
    /// What the file of options says.
    kept_options: Mutex<FamilyOptions>,
    catalogue: Arc<Family>,
    shared: Arc<Family>,
    read_all: ReadOptions,
    read_cache_only: ReadOptions,
    is_closed: AtomicBool,
    log_failure: OnceLock<String>,
    db: Arc<DB>,
    kit: Kit,
    // Last: the directory is released when RocksDB has gone.
    directory: Directory,
}

impl RocksEngine {
    /// Opens the engine in `config.path`, making it if the directory is empty or not there.
    ///
    /// # Errors
    /// Whatever makes it unsafe or impossible: see [`OpenError`].
    pub fn open(config: &RocksConfig) -> Result<RocksEngine, OpenError> {
        open::open(config, OWN_FAMILIES_MAX)
    }

    /// As [`RocksEngine::open`], with another limit of families than [`OWN_FAMILIES_MAX`]: for
    /// measuring it. Tables stay where they are when it changes.
    ///
    /// # Errors
    /// As [`RocksEngine::open`].
    pub fn open_with_families(
        config: &RocksConfig,
        own_families_max: usize,
    ) -> Result<RocksEngine, OpenError> {
        open::open(config, own_families_max)
    }

    pub(crate) fn new(
        db: Arc<DB>,
        catalogue: Arc<Family>,
        shared: Arc<Family>,
        tables: TableMap,
        next: u32,
        kit: Kit,
        kept_options: FamilyOptions,
        directory: Directory,
    ) -> RocksEngine {
        RocksEngine {
            tables: ArcSwap::from_pointee(tables),
            definitions: Mutex::new(next),
            kept_options: Mutex::new(kept_options),
            catalogue,
            shared,
            read_all: options::read(false),
            read_cache_only: options::read(true),
            is_closed: AtomicBool::new(false),
            log_failure: OnceLock::new(),
            db,
            kit,
            directory,
        }
    }

    pub(crate) fn db(&self) -> &Arc<DB> {
        &self.db
    }

    pub(crate) fn kit(&self) -> &Kit {
        &self.kit
    }

    pub(crate) fn catalogue(&self) -> &Arc<Family> {
        &self.catalogue
    }

    pub(crate) fn shared(&self) -> &Arc<Family> {
        &self.shared
    }

    pub(crate) fn tables_now(&self) -> Arc<TableMap> {
        self.tables.load_full()
    }

    pub(crate) fn set_tables(&self, tables: TableMap) {
        self.tables.store(Arc::new(tables));
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn kept_options(&self) -> &Mutex<FamilyOptions> {
        &self.kept_options
    }

    /// The right to change tables, and the next free number.
    pub(crate) fn definitions(&self) -> MutexGuard<'_, u32> {
        self.definitions.lock()
    }

    pub(crate) fn log_failure(&self) -> Option<&str> {
        self.log_failure.get().map(String::as_str)
    }

    pub(crate) fn check_open(&self) -> Result<(), EngineError> {
        if self.is_closed.load(Ordering::Acquire) { Err(EngineError::Closed) } else { Ok(()) }
    }

    pub(crate) fn check_writable(&self) -> Result<(), EngineError> {
        self.check_open()?;
        match self.log_failure.get() {
            Some(detail) => Err(EngineError::LogFailed { detail: detail.clone() }),
            None => Ok(()),
        }
    }

    /// What a failed write or sync means. A failure of the device leaves the log's end unknown:
    /// from then on nothing is acknowledged. Unless a flush or compaction failed before: then
    /// RocksDB refused the write before it touched the log.
    pub(crate) fn failed_write(&self, error: rocksdb::Error) -> EngineError {
        let is_device = error.kind() == ErrorKind::IOError;
        let error = error::of_write(error);
        if is_device && self.background_errors() == 0 {
            self.log_failure.get_or_init(|| error.to_string());
        }
        error
    }

    fn read_options(&self, tier: ReadTier) -> &ReadOptions {
        match tier {
            ReadTier::All => &self.read_all,
            ReadTier::CacheOnly => &self.read_cache_only,
        }
    }

    pub(crate) fn flush_families(&self, families: &[&Arc<Family>]) -> Result<(), EngineError> {
        let handles: Vec<_> = families.iter().map(|family| family.handle()).collect();
        self.db.flush_cfs_opt(&handles, &FlushOptions::default()).map_err(|error| self.failed_write(error))
    }

    fn flush_all(&self) -> Result<(), EngineError> {
        let tables = self.tables_now();
        let own = tables.homes.values().filter(|home| home.prefix.is_none()).map(|home| &home.family);
        self.flush_families(&own.chain([&self.shared, &self.catalogue]).collect::<Vec<_>>())
    }

    /// Compacts the keys of a table from `from` to `to`, those included; all without. For tests; see [`Engine::compact`].
    ///
    /// # Errors
    /// As [`Engine::compact`].
    pub fn compact_between(
        &self,
        table: TableId,
        from: Option<&[u8]>,
        to: Option<&[u8]>,
    ) -> Result<(), EngineError> {
        self.check_writable()?;
        let home = Arc::clone(self.tables.load().home(table)?);
        let start = from.map(|key| home.stored(key).into_vec()).or(home.prefix.map(Vec::from));
        let end = to.map(|key| home.stored(key).into_vec()).or(home.end().map(Vec::from));
        let mut options = CompactOptions::default();
        options.set_exclusive_manual_compaction(false);
        // What was purged since its last compaction lies in the last level.
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        // RocksDB's C interface does not say how it ended.
        let before = self.background_errors();
        self.db.compact_range_cf_opt(home.family.handle(), start, end, &options);
        if self.background_errors() > before {
            return Err(EngineError::Io { detail: format!("a compaction of table {} failed", table.0) });
        }
        Ok(())
    }

    fn family_number(&self, home: &Home, property: &properties::PropName) -> Result<u64, EngineError> {
        let value = self.db.property_int_value_cf(home.family.handle(), property);
        Ok(value.map_err(|error| error::other(None, error))?.unwrap_or(0))
    }
}

fn add(batch: &mut WriteBatch, home: &Home, kind: OpKind, key: &[u8], value: &[u8]) {
    let handle = home.family.handle();
    match kind {
        OpKind::Put => batch.put_cf(handle, key, value),
        OpKind::Merge => batch.merge_cf(handle, key, value),
        OpKind::Delete => batch.delete_cf(handle, key),
    }
}

impl Reads for RocksEngine {
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError> {
        self.check_open()?;
        reads::get(&self.db, &self.tables.load(), self.read_options(tier), table, key)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        self.check_open()?;
        let tables = self.tables.load();
        if tier == ReadTier::All {
            return reads::multi_get(&self.db, &tables, &self.read_all, table, keys);
        }
        // A snapshot takes RocksDB's lock. Without a write in between there is no need of one.
        let before = self.db.latest_sequence_number();
        let values = reads::get_each(&self.db, &tables, &self.read_cache_only, table, keys)?;
        if keys.len() < 2 || self.db.latest_sequence_number() == before {
            return Ok(values);
        }
        View::new(self, self.tables_now()).multi_get(table, keys, tier)
    }

    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        self.check_open()?;
        let home = Arc::clone(self.tables.load().home(table)?);
        let read = cursor::read_options(&home, options);
        Ok(Box::new(RocksCursor::new(&self.db, table, home, read, options.tier)))
    }
}

impl Engine for RocksEngine {
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError> {
        self.check_writable()?;
        let bytes: usize = sets.iter().map(|set| set.bytes() + set.len() * OPERATION_OVERHEAD).sum();
        let mut batch = WriteBatch::with_capacity_bytes(BATCH_HEADER + bytes);
        let tables = self.tables.load();
        for op in sets.iter().flat_map(|set| set.ops()) {
            let home = tables.home(op.table)?;
            match home.prefix {
                None => add(&mut batch, home, op.kind, op.key, op.value),
                Some(_) => add(&mut batch, home, op.kind, &home.stored(op.key), op.value),
            }
        }
        let is_synced = options.sync == Sync::Synced;
        if batch.is_empty() {
            return if is_synced { self.sync_log() } else { Ok(()) };
        }
        let written = self.db.write_opt(batch, &options::write(is_synced, options.may_block));
        written.map_err(|error| self.failed_write(error))
    }

    fn view(&self) -> Result<Box<dyn Reads + '_>, EngineError> {
        self.check_open()?;
        Ok(Box::new(View::new(self, self.tables_now())))
    }

    fn create_table(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.make_tables(&[table], Wish::Own, &StorageOptions::default())
    }

    fn create_table_with(
        &self,
        table: TableId,
        options: &StorageOptions,
    ) -> Result<OptionsEffect, EngineError> {
        self.check_writable()?;
        self.make_tables(&[table], Wish::Own, options)?;
        // One that was there keeps its data, not its options; one that has to share says so.
        self.change_options(table, options)
    }

    fn set_options(&self, table: TableId, options: &StorageOptions) -> Result<OptionsEffect, EngineError> {
        self.check_writable()?;
        self.change_options(table, options)
    }

    fn create_small_tables(&self, tables: &[TableId]) -> Result<(), EngineError> {
        self.check_writable()?;
        self.make_tables(tables, Wish::Shared, &StorageOptions::default())
    }

    fn drop_table(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.remove_table(table)
    }

    fn truncate_table(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.empty_table(table)
    }

    fn tables(&self) -> Result<Vec<TableInfo>, EngineError> {
        self.check_open()?;
        let tables = self.tables.load();
        let info = |(table, home): (&TableId, &Arc<Home>)| TableInfo {
            table: *table,
            generation: home.record.generation,
        };
        let mut infos: Vec<TableInfo> = tables.homes.iter().map(info).collect();
        infos.sort_unstable_by_key(|info| info.table);
        Ok(infos)
    }

    fn sync_log(&self) -> Result<(), EngineError> {
        self.check_writable()?;
        self.db.flush_wal(true).map_err(|error| self.failed_write(error))
    }

    fn flush(&self, table: Option<TableId>) -> Result<(), EngineError> {
        self.check_writable()?;
        match table {
            Some(table) => self.flush_families(&[&self.tables.load().home(table)?.family]),
            None => self.flush_all(),
        }
    }

    fn compact(&self, table: TableId) -> Result<(), EngineError> {
        self.compact_between(table, None, None)
    }

    fn stats(&self, table: TableId) -> Result<TableStats, EngineError> {
        self.check_open()?;
        let tables = self.tables.load();
        let home = tables.home(table)?;
        let of_family = TableStats {
            keys: self.family_number(home, properties::ESTIMATE_NUM_KEYS)?,
            memtable_bytes: self.family_number(home, properties::CUR_SIZE_ALL_MEM_TABLES)?,
            disk_bytes: self.family_number(home, properties::LIVE_SST_FILES_SIZE)?,
        };
        if home.prefix.is_none() {
            return Ok(of_family);
        }
        // A table in the shared family: its part of the files, and the same part of the rest.
        let (start, end) = (home.prefix(), home.end().unwrap_or([0xff; 4]));
        let sizes = self.db.get_approximate_sizes_cf(home.family.handle(), &[Range::new(start, &end)]);
        let disk_bytes = sizes.first().copied().unwrap_or(0);
        let part = |whole: u64| {
            let share = u128::from(whole) * u128::from(disk_bytes) / u128::from(of_family.disk_bytes.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        Ok(TableStats {
            keys: part(of_family.keys),
            memtable_bytes: part(of_family.memtable_bytes),
            disk_bytes,
        })
    }

    fn files(&self) -> Option<&Path> {
        Some(self.db.path())
    }

    fn export_tables(
        &self,
        tables: &[(TableId, PathBuf)],
        flush: bool,
    ) -> Result<Vec<Exported>, EngineError> {
        self.check_writable()?;
        self.export(tables, flush)
    }

    fn stage_table(
        &self,
        table: TableId,
        directory: &Path,
        exported: &Exported,
    ) -> Result<Box<dyn Staged + '_>, EngineError> {
        self.check_writable()?;
        Ok(Box::new(self.stage(table, directory, exported)?))
    }

    fn close(&self) -> Result<(), EngineError> {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let _definitions = self.definitions();
        if let Some(detail) = self.log_failure.get() {
            return Err(EngineError::LogFailed { detail: detail.clone() });
        }
        let flushed = self.flush_all();
        let synced = self.db.flush_wal(true).map_err(|error| self.failed_write(error));
        self.db.cancel_all_background_work(true);
        flushed.and(synced)
    }
}
