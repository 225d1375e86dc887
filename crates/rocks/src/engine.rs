//! [`RocksEngine`]: the engine's contract on RocksDB. Reads, views, cursors and table changes are
//! in their own files; here are writes, syncs, flushes and the end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use basalt_model::TableId;
use basalt_model::schema::OptionsEffect;
use basalt_storage::engine::{
    Condition, Cursor, CursorOptions, Debt, Engine, EngineError, Exported, Metrics, OpKind, ReadTier, Reads,
    Staged, StallCause, StorageOptions, Sync, TableInfo, TableStats, Task, Values, WindowId, WriteOptions,
    WriteSet,
};
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use rocksdb::{
    BottommostLevelCompaction, CompactOptions, DB, ErrorKind, FlushOptions, Range, ReadOptions, WriteBatch,
    properties,
};

use crate::cursor::{self, RocksCursor};
use crate::debt::Stalled;
use crate::directory::Directory;
use crate::error;
use crate::events::Events;
use crate::family::Family;
use crate::logs::CutShort;
use crate::open::{self, OWN_FAMILIES_MAX, RocksConfig};
use crate::open_error::OpenError;
use crate::options::{self, Kit};
use crate::options_file::FamilyOptions;
use crate::reads::{self, View};
use crate::table_map::{Home, TableMap};
use crate::tables::Wish;
use crate::trouble::Trouble;
use crate::windows::{self, WindowsCursor};

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
    trouble: Trouble,
    stalled: Mutex<Stalled>,
    cut_short: Option<CutShort>,
    db: Arc<DB>,
    kit: Kit,
    // Last: the directory is released when RocksDB has gone.
    directory: Directory,
}

/// What opening found and made.
pub(crate) struct Opened {
    pub(crate) db: Arc<DB>,
    pub(crate) catalogue: Arc<Family>,
    pub(crate) shared: Arc<Family>,
    pub(crate) tables: TableMap,
    pub(crate) next: u32,
    pub(crate) kit: Kit,
    pub(crate) kept_options: FamilyOptions,
    pub(crate) directory: Directory,
    pub(crate) cut_short: Option<CutShort>,
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

    pub(crate) fn new(opened: Opened) -> RocksEngine {
        RocksEngine {
            tables: ArcSwap::from_pointee(opened.tables),
            definitions: Mutex::new(opened.next),
            kept_options: Mutex::new(opened.kept_options),
            catalogue: opened.catalogue,
            shared: opened.shared,
            read_all: options::read(false),
            read_cache_only: options::read(true),
            is_closed: AtomicBool::new(false),
            trouble: Trouble::default(),
            stalled: Mutex::default(),
            cut_short: opened.cut_short,
            db: opened.db,
            kit: opened.kit,
            directory: opened.directory,
        }
    }

    /// What the last crash left at the end of the log: an unfinished write, which is not there.
    pub fn cut_short(&self) -> Option<&CutShort> {
        self.cut_short.as_ref()
    }

    /// Where the engine's files are, and who owns it.
    pub(crate) fn owned(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    pub(crate) fn events(&self) -> &Events {
        &self.kit.events
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

    /// Whether somebody has that right.
    #[cfg(test)]
    pub(crate) fn is_defining(&self) -> bool {
        self.definitions.is_locked()
    }

    pub(crate) fn check_open(&self) -> Result<(), EngineError> {
        if self.is_closed.load(Ordering::Acquire) { Err(EngineError::Closed) } else { Ok(()) }
    }

    pub(crate) fn check_writable(&self) -> Result<(), EngineError> {
        self.check_open()?;
        self.trouble.check()
    }

    /// What a failed write or sync means. A failure of the device leaves the log's end unknown: from then on nothing is
    /// acknowledged, until there is space again if it was full. Unless a flush failed before: then RocksDB refused the write
    /// before it touched the log, and goes on refusing as long as it must.
    pub(crate) fn failed_write(&self, error: rocksdb::Error) -> EngineError {
        let is_device = error.kind() == ErrorKind::IOError;
        let error = error::of_write(error);
        match &error {
            EngineError::OutOfSpace { detail } => self.trouble.is_full(detail.clone()),
            _ if is_device && !self.events().flush_failed() => self.trouble.log_failed(error.to_string()),
            _ => {}
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
        self.write_memtables(families).map_err(|error| self.failed_write(error))
    }

    /// Of a family that is dropped meanwhile nothing is left to write.
    fn write_memtables(&self, families: &[&Arc<Family>]) -> Result<(), rocksdb::Error> {
        let write = |families: &[&Arc<Family>]| {
            let handles: Vec<_> = families.iter().map(|family| family.handle()).collect();
            self.db.flush_cfs_opt(&handles, &FlushOptions::default())
        };
        let is_dropped = |error: &rocksdb::Error| error.kind() == ErrorKind::ColumnFamilyDropped;
        match write(families) {
            // RocksDB has left the others out.
            Err(error) if is_dropped(&error) => {
                families.iter().try_for_each(|family| match write(&[family]) {
                    Err(error) if is_dropped(&error) => Ok(()),
                    written => written,
                })
            }
            written => written,
        }
    }

    fn flush_all(&self) -> Result<(), EngineError> {
        self.flush_every_family().map_err(|error| self.failed_write(error))
    }

    /// As a flush of all, and whatever it says changes nothing here.
    pub(crate) fn flush_all_memtables(&self) -> Result<(), EngineError> {
        self.flush_every_family().map_err(error::of_write)
    }

    fn flush_every_family(&self) -> Result<(), rocksdb::Error> {
        let tables = self.tables_now();
        let own = tables.homes.values().filter(|home| home.prefix.is_none()).flat_map(|home| home.families());
        self.write_memtables(&own.chain([&self.shared, &self.catalogue]).collect::<Vec<_>>())
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
        for family in home.families() {
            self.db.compact_range_cf_opt(family.handle(), start.as_deref(), end.as_deref(), &options);
        }
        if self.background_errors() > before {
            // One that was not begun is no event.
            let not_begun = || "there is no room for it on the device, or see db/LOG".to_owned();
            let why = self.events().last_compaction().unwrap_or_else(not_begun);
            let detail = format!("a compaction of table {} failed: {why}", table.0);
            return Err(match why.starts_with("Corruption") {
                true => EngineError::Corruption { table: Some(table), detail: why },
                false => EngineError::Io { detail },
            });
        }
        Ok(())
    }

    fn family_number(&self, home: &Home, property: &properties::PropName) -> Result<u64, EngineError> {
        let mut sum = 0;
        for family in home.families() {
            let value = self.db.property_int_value_cf(family.handle(), property);
            sum += value.map_err(|error| error::other(None, error))?.unwrap_or(0);
        }
        Ok(sum)
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
        let tables = self.tables.load();
        if !tables.home(table)?.past.is_empty() {
            return View::new(self, self.tables_now()).get(table, key, tier);
        }
        reads::get(&self.db, &tables, self.read_options(tier), table, key)
    }

    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError> {
        self.check_open()?;
        let tables = self.tables.load();
        if !tables.home(table)?.past.is_empty() {
            return View::new(self, self.tables_now()).multi_get(table, keys, tier);
        }
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
        if !home.past.is_empty() {
            let snapshot = self.db.snapshot();
            let cursor = WindowsCursor::new(&self.db, table, &home, options, &snapshot)?;
            return Ok(Box::new(cursor.keeping(snapshot)));
        }
        let read = cursor::read_options(&home, options);
        Ok(Box::new(RocksCursor::new(&self.db, table, home, read, options.tier)))
    }
}

impl Engine for RocksEngine {
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError> {
        self.check_writable()?;
        let bytes: usize = sets.iter().map(|set| set.bytes() + set.len() * OPERATION_OVERHEAD).sum();
        let tables = self.tables.load();
        self.keep_pace(&tables, bytes, options.may_block)?;
        let mut batch = WriteBatch::with_capacity_bytes(BATCH_HEADER + bytes);
        for op in sets.iter().flat_map(|set| set.ops()) {
            let home = tables.home(op.table)?;
            match home.prefix {
                None => {
                    add(&mut batch, home, op.kind, op.key, op.value);
                    windows::take_out(&mut batch, home, op.kind, op.key);
                }
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

    fn begin_window(&self, table: TableId, now_s: i64) -> Result<bool, EngineError> {
        self.check_writable()?;
        self.new_window(table, now_s)
    }

    fn past_windows(&self, table: TableId) -> Result<Vec<WindowId>, EngineError> {
        self.check_open()?;
        let tables = self.tables.load();
        Ok(tables.home(table)?.past.iter().map(|window| WindowId(window.number)).collect())
    }

    fn window_cursor<'a>(
        &'a self,
        table: TableId,
        window: Option<WindowId>,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        self.check_open()?;
        let home = Arc::clone(self.tables.load().home(table)?);
        Ok(Box::new(windows::cursor_of(&self.db, table, home, window, options)?))
    }

    fn drop_windows(&self, table: TableId, windows: &[WindowId]) -> Result<(), EngineError> {
        self.check_writable()?;
        self.remove_windows(table, windows)
    }

    fn drop_table(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.remove_table(table)
    }

    fn truncate_table(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.empty_table(table)
    }

    fn may_have_heads(&self, table: TableId) -> bool {
        let tables = self.tables.load();
        tables.homes.get(&table).is_none_or(|home| home.heads.load(Ordering::Acquire))
    }

    fn expect_heads(&self, table: TableId) -> Result<(), EngineError> {
        self.check_writable()?;
        self.expect_heads_of(table)
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
            Some(table) => {
                self.flush_families(&self.tables.load().home(table)?.families().collect::<Vec<_>>())
            }
            None => self.flush_all(),
        }
    }

    fn compact(&self, table: TableId) -> Result<(), EngineError> {
        self.compact_between(table, None, None)
    }

    fn condition(&self) -> Result<Condition, EngineError> {
        self.check_open()?;
        self.condition_now()
    }

    fn resume(&self) -> Result<(), EngineError> {
        self.check_open()?;
        self.resume_writing()
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

    fn debts(&self) -> Result<HashMap<TableId, Debt>, EngineError> {
        self.debts_now()
    }

    fn tasks(&self) -> Result<Vec<Task>, EngineError> {
        self.running_tasks()
    }

    fn metrics(&self) -> Metrics {
        self.metrics_now()
    }

    fn stall_cause(&self) -> Option<StallCause> {
        self.cause_of_stalls(&self.stalled)
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
        if let Err(failed @ EngineError::LogFailed { .. }) = self.trouble.check() {
            return Err(failed);
        }
        let flushed = self.flush_all();
        let synced = self.db.flush_wal(true).map_err(|error| self.failed_write(error));
        self.db.cancel_all_background_work(true);
        flushed.and(synced)
    }
}
