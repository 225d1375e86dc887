//! The room that compactions may take on the device: one that does not fit beside what is kept free is not begun. Left alone
//! RocksDB begins it, takes the last byte, and the flushes that run beside it fail with it (`SstFileManagerImpl`).
//!
//! Knows neither the device nor what is kept free: it is told how much is left over. The binding has no such manager, so
//! this file speaks to RocksDB's C interface.
#![allow(unsafe_code, reason = "the safe binding does not wrap file managers")]

use librocksdb_sys as ffi;
use rocksdb::{AsRawPtr, Options};

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
    /// Without a limit.
    pub(crate) fn new() -> Room {
        // SAFETY: RocksDB's own environment outlives everything; what is destroyed here is a handle on it.
        unsafe {
            let env = ffi::rocksdb_create_default_env();
            let manager = ffi::rocksdb_sst_file_manager_create(env);
            ffi::rocksdb_env_destroy(env);
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
            ffi::rocksdb_sst_file_manager_set_max_allowed_space_usage(self.0, EVERYTHING);
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and not used afterwards; databases keep their own count.
        unsafe { ffi::rocksdb_sst_file_manager_destroy(self.0) };
    }
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
