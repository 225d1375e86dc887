//! The room that compactions may take on the device: one that does not fit beside what is kept free is not begun. Left alone
//! RocksDB begins it, takes the last byte, and the flushes that run beside it fail with it (`SstFileManagerImpl`). And what those that
//! run will still take, so that it is kept free for them.
//!
//! Does not know the device: it is told how much of it is left over. The binding has no such manager, so this file speaks
//! to RocksDB's C interface.
#![allow(unsafe_code, reason = "the safe binding does not wrap file managers")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use librocksdb_sys as ffi;
use rocksdb::{AsRawPtr, Options};

use crate::engine::RocksEngine;
use crate::events::Compaction;
use crate::trouble::file_number;

/// More than any device holds. RocksDB takes no write any more once its files are as large as it was allowed, so that the limit of
/// compactions is set by their buffer alone: all of this but what they may take.
const EVERYTHING: u64 = 1 << 60;

/// The room of one engine's compactions.
pub(crate) struct Room(*mut ffi::rocksdb_sst_file_manager_t);

// SAFETY: RocksDB's manager takes its own lock in each of the functions called here.
unsafe impl Send for Room {}
// SAFETY: as above.
unsafe impl Sync for Room {}

impl Room {
    /// With no room at all: what comes before the first [`Room::set`] waits.
    pub(crate) fn new() -> Room {
        // SAFETY: RocksDB's own environment outlives everything; what is destroyed here is a handle on it.
        unsafe {
            let env = ffi::rocksdb_create_default_env();
            let manager = ffi::rocksdb_sst_file_manager_create(env);
            ffi::rocksdb_env_destroy(env);
            ffi::rocksdb_sst_file_manager_set_compaction_buffer_size(manager, EVERYTHING);
            ffi::rocksdb_sst_file_manager_set_max_allowed_space_usage(manager, EVERYTHING);
            Room(manager)
        }
    }

    /// Has a database of these options keep to it.
    pub(crate) fn limit(&self, options: &mut Options) {
        // SAFETY: both are alive; the options keep a count of the manager.
        unsafe { ffi::rocksdb_options_set_sst_file_manager(options.as_raw_ptr(), self.0) };
    }

    /// From now on a compaction begins when its files, with those of the compactions that run, are at most so many bytes.
    pub(crate) fn set(&self, bytes: u64) {
        // SAFETY: the manager is alive.
        unsafe {
            let total_bytes = ffi::rocksdb_sst_file_manager_get_total_size(self.0);
            let buffer = EVERYTHING.saturating_sub(total_bytes).saturating_sub(bytes);
            ffi::rocksdb_sst_file_manager_set_compaction_buffer_size(self.0, buffer);
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and not used afterwards; databases keep their own count.
        unsafe { ffi::rocksdb_sst_file_manager_destroy(self.0) };
    }
}

impl RocksEngine {
    /// Bytes of the files that are being compacted: what comes of them takes no more.
    pub(crate) fn compacted_bytes(&self) -> u64 {
        let database = self.owned().database();
        let numbers = self.events().compactions().into_iter().flat_map(|compaction| compaction.files);
        numbers.map(|number| bytes_of(&database.join(format!("{number:06}.sst")))).sum()
    }

    /// Bytes that the compactions that run have written so far, and flushes with them. Looks at every file there is.
    pub(crate) fn written_by_compactions(&self) -> u64 {
        let newest_read = |compaction: Compaction| compaction.files.into_iter().max();
        let Some(first) = self.events().compactions().into_iter().filter_map(newest_read).min() else {
            return 0;
        };
        let files = fs::read_dir(self.owned().database()).into_iter().flatten().flatten();
        let numbered = |path: PathBuf| Some((file_number(path.to_str()?)?, path));
        // Listed before RocksDB is asked: what it is done with meanwhile is none that is being written.
        let newer: Vec<(u64, PathBuf)> =
            files.filter_map(|file| numbered(file.path())).filter(|(number, _)| *number > first).collect();
        let Ok(live) = self.db().live_files() else { return 0 };
        let live: HashSet<u64> = live.iter().filter_map(|file| file_number(&file.name)).collect();
        newer.iter().filter(|(number, _)| !live.contains(number)).map(|(_, path)| bytes_of(path)).sum()
    }
}

/// How long a file is; one that is gone takes nothing.
fn bytes_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    //! A compaction that does not fit is not begun, changes nothing, and is done when there is room.
    use basalt_storage::engine::{Engine, EngineError, Sync, WriteOptions, WriteSet};

    use crate::testing::{Scratch, table};

    #[test]
    fn what_does_not_fit_is_not_begun() -> Result<(), EngineError> {
        let scratch = Scratch::new();
        let engine = scratch.open();
        engine.create_table(table(1))?;
        for value in [b"a", b"b"] {
            let mut set = WriteSet::default();
            set.put(table(1), b"key", value);
            engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true })?;
            engine.flush(Some(table(1)))?;
        }
        let two = engine.files_by_level(table(1))?;
        engine.kit().room.set(100);
        let refused = engine.compact(table(1));
        assert!(
            matches!(&refused, Err(EngineError::Io { detail }) if detail.contains("no room")),
            "{refused:?}"
        );
        assert_eq!(engine.files_by_level(table(1))?, two);
        engine.condition()?;
        engine.compact(table(1))?;
        assert_eq!(engine.files_by_level(table(1))?.iter().sum::<usize>(), 1);
        Ok(())
    }
}
