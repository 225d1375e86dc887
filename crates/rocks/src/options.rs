//! RocksDB's options, all made here from a [`Budget`]. What differs from RocksDB's defaults says
//! why; numbers that were measured are in `docs/decisions/0002-column-families.md`.

use std::sync::Arc;

use basalt_storage::engine::StorageOptions;
use rocksdb::{
    BlockBasedOptions, Cache, DBRecoveryMode, LogLevel, Options, ReadOptions, ReadTier as RocksTier,
    WriteBufferManager, WriteOptions,
};

use crate::budget::Budget;
use crate::events::{self, Events};
use crate::family_options;
use crate::merge;
use crate::open::{LogRecovery, RocksConfig};
use crate::pace::Pace;
use crate::room::Room;

/// A memtable takes memory in pieces of this size. RocksDB's own choice, an eighth of a memtable,
/// would cost a megabyte and more for each table that has one row.
const ARENA_BLOCK: usize = 64 << 10;

/// Sync files and log in the background while they grow, so that the sync at the end is short.
const BYTES_PER_SYNC: u64 = 1 << 20;

/// Flushes and merges at a time, at least: two and six. Not for speed, they share the processors there are: a merge of all
/// that a table has takes minutes, and meanwhile what is flushed must go on being merged, in three or four sizes.
const BACKGROUND_JOBS: usize = 8;

/// RocksDB's own text log, `db/LOG`.
const TEXT_LOG_BYTES: usize = 8 << 20;
const TEXT_LOGS: usize = 4;

/// File descriptors left to everything that is not a table file.
const DESCRIPTORS_KEPT: u64 = 512;

/// What all families of an engine share, and from which their options are made.
pub(crate) struct Kit {
    pub(crate) budget: Budget,
    cores: usize,
    pub(crate) own_families_max: usize,
    pub(crate) cache: Cache,
    pub(crate) memtables: WriteBufferManager,
    pub(crate) pace: Pace,
    pub(crate) room: Room,
    pub(crate) events: Arc<Events>,
}

impl Kit {
    pub(crate) fn new(config: &RocksConfig, own_families_max: usize) -> Kit {
        let budget = Budget::of(config.memory_bytes);
        let cache_bytes = usize::try_from(budget.cache_bytes).unwrap_or(usize::MAX);
        let memtables_bytes = usize::try_from(budget.memtables_bytes).unwrap_or(usize::MAX);
        // No locks on the way to a block. 0: it finds the size of its table by itself.
        let cache = Cache::new_hyper_clock_cache(cache_bytes, 0);
        // Writers are slowed by our own rule, not stopped by this manager.
        let memtables =
            WriteBufferManager::new_write_buffer_manager_with_cache(memtables_bytes, false, cache.clone());
        let pace = Pace::new(budget.waiting_bytes);
        Kit {
            budget,
            cores: config.cores,
            own_families_max,
            cache,
            memtables,
            pace,
            room: Room::new(),
            events: Arc::default(),
        }
    }

    /// Options of the database.
    pub(crate) fn database(
        &self,
        must_create: bool,
        recovery: LogRecovery,
    ) -> Result<Options, rocksdb::Error> {
        // The binding has no word for it. Without, a flush or merge fills the device's queue with what it has written in one
        // go, and a sync of the log waits behind it.
        let mut options = Options::default().get_options_from_string("strict_bytes_per_sync=true")?;
        options.create_if_missing(must_create);
        options.create_missing_column_families(must_create);
        options.set_write_buffer_manager(&self.memtables);
        events::listen(&mut options, &self.events);
        self.room.limit(&mut options);
        options.set_max_total_wal_size(self.budget.log_bytes);
        options.set_max_background_jobs(i32::try_from(self.cores.max(BACKGROUND_JOBS)).unwrap_or(i32::MAX));
        options.set_max_open_files(open_files(
            &std::fs::read_to_string("/proc/self/limits").unwrap_or_default(),
        ));

        // Damage is found, and found early.
        options.set_paranoid_checks(true);
        options.set_track_and_verify_wals_in_manifest(true);
        options.set_wal_recovery_mode(match recovery {
            LogRecovery::RefuseDamage => DBRecoveryMode::TolerateCorruptedTailRecords,
            LogRecovery::UpToDamage => DBRecoveryMode::PointInTime,
        });

        // Files are removed on RocksDB's threads, never on the one that drops a cursor.
        options.set_avoid_unnecessary_blocking_io(true);
        options.set_bytes_per_sync(BYTES_PER_SYNC);
        options.set_wal_bytes_per_sync(BYTES_PER_SYNC);

        // Start: nothing that reads all files, and no page of text for each family.
        options.set_skip_stats_update_on_db_open(true);
        options.set_log_level(LogLevel::Warn);
        options.set_max_log_file_size(TEXT_LOG_BYTES);
        options.set_keep_log_file_num(TEXT_LOGS);
        options.set_stats_dump_period_sec(0);
        options.set_stats_persist_period_sec(0);
        Ok(options)
    }

    /// Options of a family that holds rows.
    pub(crate) fn rows(&self, table: &StorageOptions) -> Result<Options, rocksdb::Error> {
        let mut options = Options::default();
        merge::set_operator(&mut options);
        options.set_block_based_table_factory(&self.blocks(table));
        options.set_write_buffer_size(usize::try_from(self.budget.memtable_bytes).unwrap_or(usize::MAX));
        let memtables_max = self.budget.memtables_of_a_family();
        options.set_max_write_buffer_number(i32::try_from(memtables_max).unwrap_or(i32::MAX));
        options.set_arena_block_size(ARENA_BLOCK);
        family_options::with(options, table)
    }

    /// Options of the catalogue's family.
    pub(crate) fn catalogue(&self) -> Options {
        let mut options = Options::default();
        options.set_block_based_table_factory(&self.blocks(&StorageOptions::default()));
        options.set_arena_block_size(ARENA_BLOCK);
        options
    }

    fn blocks(&self, table: &StorageOptions) -> BlockBasedOptions {
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(&self.cache);
        blocks.set_format_version(6);
        blocks.set_cache_index_and_filter_blocks(true);
        family_options::set_blocks(&mut blocks, table);
        blocks
    }
}

/// How many files to keep open, given the text of `/proc/self/limits`: all (-1) where the process
/// may have many, else what its limit leaves.
fn open_files(limits: &str) -> i32 {
    const PLENTY: u64 = 1 << 16;
    let soft = limits.lines().find_map(|line| {
        let soft = line.strip_prefix("Max open files")?.split_whitespace().next()?;
        if soft == "unlimited" { Some(u64::MAX) } else { soft.parse::<u64>().ok() }
    });
    match soft {
        Some(soft) if soft >= PLENTY => -1,
        Some(soft) => i32::try_from(soft.saturating_sub(DESCRIPTORS_KEPT).max(soft / 4)).unwrap_or(-1),
        None => 512,
    }
}

/// Options of a read.
pub(crate) fn read(cache_only: bool) -> ReadOptions {
    let mut options = ReadOptions::default();
    if cache_only {
        options.set_read_tier(RocksTier::BlockCache);
    }
    options
}

/// Options of a write that is not logged: it is durable with the next flush.
pub(crate) fn without_log() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.disable_wal(true);
    options
}

/// Options of a write.
pub(crate) fn write(synced: bool, may_block: bool) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(synced);
    options.set_no_slowdown(!may_block);
    // A family may be dropped between our look at the table map and RocksDB's: its part of the
    // write has nowhere to go then, and the other tables' parts must not fail for it.
    options.set_ignore_missing_column_families(true);
    options
}

#[cfg(test)]
mod tests {
    //! The descriptor limit is read as the kernel writes it.
    use super::open_files;

    #[test]
    fn open_files_follow_the_limit() {
        let line = |soft: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax open files   {soft}   524288   files\n")
        };
        assert_eq!(open_files(&line("1024")), 512);
        assert_eq!(open_files(&line("256")), 64);
        assert_eq!(open_files(&line("524288")), -1);
        assert_eq!(open_files(&line("unlimited")), -1);
        assert_eq!(open_files(""), 512);
    }
}
