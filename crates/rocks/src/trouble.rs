//! What keeps an engine from writing, and how it gets out of it: a log that failed stays failed until the engine is
//! opened anew; a device that was full has space again some day.
//!
//! RocksDB comes out of a full device by itself, in two steps of which this knows only the end: every few seconds it looks
//! for space, writes all memtables to files and begins a new log. Whatever the full device cut short is in a log that is
//! not needed any more then.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use basalt_model::TableId;
use basalt_storage::engine::{Condition, EngineError};
use parking_lot::Mutex;
use rocksdb::WriteBatch;

use crate::catalogue::{Entry, Place};
use crate::engine::RocksEngine;
use crate::events::{Failure, Work};
use crate::family::{CATALOGUE, SHARED, own_number};
use crate::options;

const NONE: u8 = 0;
const FULL: u8 = 1;
const FAILED: u8 = 2;

/// The device keeps this much free, beside twice what is in memtables, which is written to files and merged with others: for
/// the next log, the list of files, and what is written until somebody looks again.
const RESERVE_BYTES: u64 = 64 << 20;
/// A small device keeps this part instead.
const RESERVE_PART: u64 = 8;

/// Why nothing is written, if so.
#[derive(Default)]
pub(crate) struct Trouble {
    kind: AtomicU8,
    first: Mutex<String>,
}

impl Trouble {
    /// Whether writes are taken: one load.
    ///
    /// # Errors
    /// `LogFailed`, `OutOfSpace`.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self.kind.load(Ordering::Acquire) {
            NONE => Ok(()),
            FULL => Err(EngineError::OutOfSpace { detail: self.first.lock().clone() }),
            _ => Err(EngineError::LogFailed { detail: self.first.lock().clone() }),
        }
    }

    /// The log failed: for good.
    pub(crate) fn log_failed(&self, detail: String) {
        self.raise(FAILED, detail);
    }

    /// The device is full.
    pub(crate) fn is_full(&self, detail: String) {
        self.raise(FULL, detail);
    }

    fn raise(&self, kind: u8, detail: String) {
        let mut first = self.first.lock();
        if self.kind.load(Ordering::Acquire) < kind {
            *first = detail;
            self.kind.store(kind, Ordering::Release);
        }
    }
}

impl RocksEngine {
    /// See [`basalt_storage::engine::Engine::resume`].
    pub(crate) fn resume_writing(&self) -> Result<(), EngineError> {
        let trouble = self.trouble();
        match trouble.check() {
            Err(EngineError::OutOfSpace { .. }) => {}
            other => return other,
        }
        // A write that meets a full device meanwhile waits here, and says so afterwards.
        let _first = trouble.first.lock();
        // Past the log, which may be unusable: with something in a memtable its flush begins a new log.
        self.touch_catalogue(&options::without_log())?;
        self.flush_all_memtables()?;
        // Only a write through the new log shows that it takes any.
        self.touch_catalogue(&options::write(true, true))?;
        self.events().forget_flush_failures();
        trouble.kind.store(NONE, Ordering::Release);
        Ok(())
    }

    /// Writes what stands there.
    fn touch_catalogue(&self, how: &rocksdb::WriteOptions) -> Result<(), EngineError> {
        let next = self.definitions();
        let (key, value) = Entry::Next(*next).encode();
        let mut batch = WriteBatch::default();
        batch.put_cf(self.catalogue().handle(), key, value);
        self.db().write_opt(batch, how).map_err(crate::error::of_write)
    }

    /// See [`basalt_storage::engine::Engine::condition`].
    pub(crate) fn condition_now(&self) -> Result<Condition, EngineError> {
        let path = self.owned().database();
        let io = |error: io::Error| EngineError::Io { detail: format!("{}: {error}", path.display()) };
        self.note_new_log().map_err(io)?;
        let metrics = self.metrics_now();
        let (available_bytes, reserve_bytes) = self.look_at_device(metrics.memtable_bytes).map_err(io)?;
        Ok(Condition {
            available_bytes,
            reserve_bytes,
            used_bytes: metrics.disk_bytes.saturating_add(metrics.memtable_bytes),
            memtable_bytes: metrics.memtable_bytes,
            is_writing: self.trouble().check().is_ok(),
            failures: self.events().take().into_iter().map(|failure| self.explain(failure)).collect(),
        })
    }

    /// Bytes that are free on the device, and those to be kept free with so much in memtables. Gives compactions their room.
    pub(crate) fn look_at_device(&self, memtable_bytes: u64) -> io::Result<(u64, u64)> {
        let device = rustix::fs::statvfs(self.owned().database())?;
        let total_bytes = device.f_blocks.saturating_mul(device.f_frsize);
        let available_bytes = device.f_bavail.saturating_mul(device.f_frsize);
        let base_bytes = RESERVE_BYTES.min(total_bytes / RESERVE_PART);
        let reserve_bytes = base_bytes.saturating_add(memtable_bytes.saturating_mul(2));
        let compacted_bytes = self.compacted_bytes();
        let is_scarce = available_bytes < reserve_bytes.saturating_add(compacted_bytes);
        let written_bytes = if compacted_bytes > 0 && is_scarce { self.written_by_compactions() } else { 0 };
        // On a full device, too, there is some room: merging is what removes the deleted and the overwritten.
        let for_flushes = (base_bytes / 2).saturating_add(memtable_bytes);
        self.kit().room.set(available_bytes.saturating_sub(for_flushes).saturating_add(written_bytes));
        Ok((available_bytes, reserve_bytes.saturating_add(compacted_bytes.saturating_sub(written_bytes))))
    }

    /// Notes the newest log if there is a new one; on a full device the next time.
    fn note_new_log(&self) -> io::Result<()> {
        if !self.events().take_new_log() {
            return Ok(());
        }
        self.owned().note_newest_log().or_else(|error| {
            self.events().has_new_log();
            if error.kind() == io::ErrorKind::StorageFull { Ok(()) } else { Err(error) }
        })
    }

    /// A failure in the background as an engine's, with its table. A table whose compaction met damage is not
    /// compacted any more: it would only meet it again.
    fn explain(&self, failure: Failure) -> EngineError {
        let Failure { work, text } = failure;
        if crate::error::is_out_of_space(&text) {
            return EngineError::OutOfSpace { detail: text };
        }
        let found = file_number(&text).and_then(|number| self.place_of_file(number));
        let (table, family) = found.map_or((None, None), |(table, family)| (table, Some(family)));
        let mut detail = text;
        if work == Work::Compaction
            && let Some(family) = family.and_then(|name| crate::family::Family::find(self.db(), &name))
        {
            let option = [("disable_auto_compactions", "true")];
            match self.db().set_options_cf(family.handle(), &option) {
                Ok(()) => detail.push_str("; it is not compacted any more until a restart"),
                Err(error) => detail.push_str(&format!("; its compactions cannot be stopped: {error}")),
            }
        }
        if detail.starts_with("Corruption") {
            EngineError::Corruption { table, detail }
        } else {
            EngineError::Io { detail }
        }
    }

    /// The family that a file belongs to, and its table if it holds one only.
    fn place_of_file(&self, number: u64) -> Option<(Option<TableId>, String)> {
        let files = self.db().live_files().ok()?;
        let file = files.into_iter().find(|file| file_number(&file.name) == Some(number))?;
        let name = file.column_family_name;
        if name == CATALOGUE {
            return Some((None, name));
        }
        let tables = self.tables_now();
        let prefix = |key: Option<Vec<u8>>| key.and_then(|key| key.first_chunk::<4>().copied());
        let (first, last) = (prefix(file.start_key), prefix(file.end_key));
        let is_in_file = |place: Place| match place {
            Place::Own(own) => own_number(&name) == Some(own),
            Place::Shared(shared) => name == SHARED && first == last && first == Some(shared.to_be_bytes()),
        };
        let table = tables.homes.iter().find(|(_, home)| is_in_file(home.record.place));
        Some((table.map(|(table, _)| *table), name))
    }
}

/// The number of the first table file that a text names.
pub(crate) fn file_number(text: &str) -> Option<u64> {
    let end = text.find(".sst")?;
    let digits = text.get(..end)?.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    text.get(digits..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    //! Files are found in RocksDB's words; the graver trouble stands.
    use super::*;

    #[test]
    fn files_are_found_in_texts() {
        let text = "Corruption: block checksum mismatch: stored = 1, computed = 2, type = 4  in /d/db/000123.sst offset 0 size 9";
        assert_eq!(file_number(text), Some(123));
        assert_eq!(file_number("/000007.sst"), Some(7));
        assert_eq!(file_number("000007.sst"), Some(7));
        assert_eq!(file_number("IO error: /d/db/000007.log"), None);
        assert_eq!(file_number(".sst"), None);
    }

    #[test]
    fn the_graver_trouble_stands() {
        let trouble = Trouble::default();
        assert_eq!(trouble.check(), Ok(()));
        trouble.is_full("full".to_owned());
        assert_eq!(trouble.check(), Err(EngineError::OutOfSpace { detail: "full".to_owned() }));
        trouble.log_failed("gone".to_owned());
        trouble.is_full("full".to_owned());
        assert_eq!(trouble.check(), Err(EngineError::LogFailed { detail: "gone".to_owned() }));
    }
}
