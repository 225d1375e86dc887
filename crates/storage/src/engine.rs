//! The seam to what keeps ordered bytes: [`Engine`]. RocksDB (crate `rocks`), [`mem`] and
//! [`failing`] implement it; [`crate::contract`] says in tests what all of them must do.
//!
//! An engine knows tables by id, keys and values as bytes, and the one function that folds merge
//! operands, [`crate::merge::merge`]. It knows nothing of partitions, rows or columns. No value is empty: one that
//! becomes empty is no entry any more.

mod debt;
pub mod failing;
pub mod mem;
mod metrics;
pub mod options;
mod write_set;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use basalt_model::TableId;
use basalt_model::schema::OptionsEffect;
use bytes::Bytes;
use smallvec::SmallVec;

pub use debt::{Debt, StallCause, Task};
pub use metrics::Metrics;
pub use options::StorageOptions;
pub use write_set::{Op, OpKind, WriteSet};

/// Why an engine did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The write would have to wait (for a flush or a compaction) and was told not to: nothing
    /// was written.
    #[error("the write would stall")]
    WouldStall,
    /// The read needs the disk and was told to use memory only.
    #[error("the read needs the disk")]
    WouldBlock,
    /// A move of a cursor has passed over many keys of which nothing is left: see [`Cursor::pause_after`].
    #[error("passing over what was purged")]
    Paused,
    /// No such table, or it was dropped.
    #[error("table {} does not exist", .0.0)]
    UnknownTable(TableId),
    /// Stored bytes contradict themselves.
    #[error("corruption in {}: {detail}", describe_table(.table))]
    Corruption {
        /// Where, when known.
        table: Option<TableId>,
        /// What the engine says.
        detail: String,
    },
    /// The operating system refused a read or write.
    #[error("input/output error: {detail}")]
    Io {
        /// What the engine says.
        detail: String,
    },
    /// No room is left on the device.
    #[error("out of space: {detail}")]
    OutOfSpace {
        /// What the engine says.
        detail: String,
    },
    /// A write or sync of the log failed earlier. What is in the log is not known any more, so
    /// nothing is written or acknowledged until the engine is opened anew.
    #[error("the log failed: {detail}")]
    LogFailed {
        /// The first failure.
        detail: String,
    },
    /// The engine was closed.
    #[error("the engine is closed")]
    Closed,
}

fn describe_table(table: &Option<TableId>) -> String {
    match table {
        Some(table) => format!("table {}", table.0),
        None => "the engine".to_owned(),
    }
}

/// How durable a write is when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Its log record has reached the kernel: it survives the process, not the machine.
    None,
    /// Its log record, and every one before it, is on stable storage.
    Synced,
}

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Durability on return.
    pub sync: Sync,
    /// Whether to wait when the engine throttles; else [`EngineError::WouldStall`].
    pub may_block: bool,
}

/// Where a read may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadTier {
    /// Memory only; [`EngineError::WouldBlock`] when that does not suffice. Fit for a reactor.
    CacheOnly,
    /// Memory and disk.
    All,
}

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub struct CursorOptions<'a> {
    /// Where to look.
    pub tier: ReadTier,
    /// The smallest key shown; empty for the first.
    pub lower: &'a [u8],
    /// The first key beyond those shown; `None` for no end.
    pub upper: Option<&'a [u8]>,
    /// Whether what is read stays in the cache: not for scans of whole tables.
    pub fills_cache: bool,
}

/// A key and its value.
pub type Entry<'e> = (&'e [u8], &'e [u8]);

/// The values of several keys, in the order asked for.
pub type Values = SmallVec<[Option<Bytes>; 4]>;

/// Reads, all of one moment or each of its own: see who implements it.
pub trait Reads {
    /// The value of a key, merge operands folded.
    ///
    /// # Errors
    /// `WouldBlock`, `UnknownTable`, `Corruption`, `Io`, `Closed`.
    fn get(&self, table: TableId, key: &[u8], tier: ReadTier) -> Result<Option<Bytes>, EngineError>;

    /// The values of several keys, as of one moment even when called on an engine.
    ///
    /// # Errors
    /// As [`Reads::get`].
    fn multi_get(&self, table: TableId, keys: &[&[u8]], tier: ReadTier) -> Result<Values, EngineError>;

    /// A cursor over a table, not positioned yet. It shows the table as of its making, whatever
    /// is written while it lives.
    ///
    /// # Errors
    /// As [`Reads::get`].
    fn cursor<'a>(
        &'a self,
        table: TableId,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError>;
}

/// A walk over a table's entries in key order (bytes, unsigned). The moves answer whether there
/// is an entry where they arrive. After an error or a `false` the cursor has no position until
/// the next seek.
pub trait Cursor {
    /// To the first entry at or after `key`.
    ///
    /// # Errors
    /// `WouldBlock`, `Corruption`, `Io`, `Closed`.
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError>;

    /// To the last entry at or before `key`.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError>;

    /// To the next entry; `false` also when there was no position.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    fn next(&mut self) -> Result<bool, EngineError>;

    /// To the previous entry; `false` also when there was no position.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    fn prev(&mut self) -> Result<bool, EngineError>;

    /// From now on a move that has passed so many keys of which nothing is left (which were purged and await a
    /// compaction) answers [`EngineError::Paused`]; [`Cursor::next`] or [`Cursor::prev`] goes on with it. An engine
    /// that leaves no such keys does nothing.
    fn pause_after(&mut self, keys: usize) {
        let _ = keys;
    }

    /// The key here, valid until the next move; empty without a position.
    fn key(&self) -> &[u8];

    /// The value here, merge operands folded, valid until the next move; empty without a position.
    fn value(&self) -> &[u8];

    /// Key and value.
    fn entry(&self) -> Entry<'_> {
        (self.key(), self.value())
    }
}

/// What an engine knows about one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// The table.
    pub table: TableId,
    /// How often it was truncated.
    pub generation: u64,
}

/// A past window of a table; no other one of an engine ever has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId(pub u32);

/// Sizes, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// Keys.
    pub keys: u64,
    /// Bytes in memory, not yet flushed.
    pub memtable_bytes: u64,
    /// Bytes in files.
    pub disk_bytes: u64,
}

/// Files that hold a table as it was at one moment, linked into a directory by [`Engine::export_tables`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The engine's own word for where in the files the table is; opaque to everyone else.
    pub place: String,
    /// The names of the files, each with its size in bytes.
    pub files: Vec<(String, u64)>,
}

/// Data that stands ready to become a table's. Dropped, it is gone, and the table is as it was.
pub trait Staged {
    /// Replaces what the table holds, durably and in one step, as [`Engine::truncate_table`] does.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn commit(self: Box<Self>) -> Result<(), EngineError>;
}

/// What an engine says of itself to whoever watches over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Bytes that the device still takes.
    pub available_bytes: u64,
    /// So much of them the engine wants to keep for its own work: flushes and compactions of what was written.
    pub reserve_bytes: u64,
    /// Bytes of its data, those in memory included.
    pub used_bytes: u64,
    /// Bytes of it that are in memory and in the log only, until a flush.
    pub memtable_bytes: u64,
    /// Whether it takes writes, as far as it knows; if not, [`Engine::resume`] may help.
    pub is_writing: bool,
    /// Failures of work that nobody waited for, since last asked.
    pub failures: Vec<EngineError>,
}

impl Default for Condition {
    /// All is well, and there is space without end.
    fn default() -> Condition {
        Condition {
            available_bytes: u64::MAX,
            reserve_bytes: 0,
            used_bytes: 0,
            memtable_bytes: 0,
            is_writing: true,
            failures: Vec::new(),
        }
    }
}

/// Ordered bytes in tables, written atomically and read as of one moment.
///
/// Its own [`Reads`] are each as of the moment of the call.
pub trait Engine: Reads + Send + std::marker::Sync {
    /// Applies all sets as one atomic step, in order. Visible when it returns.
    ///
    /// # Errors
    /// `WouldStall`, `UnknownTable` (nothing is written), `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError>;

    /// A read point: every read through it is of the moment of this call.
    ///
    /// # Errors
    /// `Closed`.
    fn view(&self) -> Result<Box<dyn Reads + '_>, EngineError>;

    /// Makes a table, durably, before it returns. One that exists stays as it is.
    ///
    /// # Errors
    /// `Io`, `OutOfSpace`, `Closed`.
    fn create_table(&self, table: TableId) -> Result<(), EngineError>;

    /// As [`Engine::create_table`], with options for its files.
    ///
    /// # Errors
    /// As [`Engine::create_table`] and [`Engine::set_options`].
    fn create_table_with(
        &self,
        table: TableId,
        options: &StorageOptions,
    ) -> Result<OptionsEffect, EngineError> {
        self.create_table(table)?;
        self.set_options(table, options)
    }

    /// Gives a table other options; says when they have their effect. They stay with it when it is truncated and
    /// when the engine is opened anew. An engine without files has nothing to do.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `Closed`.
    fn set_options(&self, table: TableId, options: &StorageOptions) -> Result<OptionsEffect, EngineError> {
        let _ = (table, options);
        Ok(OptionsEffect::NewFiles)
    }

    /// Makes tables that are expected to stay small, as system tables are: an engine may keep such
    /// tables together and make all of them in one step. Those that exist stay as they are.
    ///
    /// # Errors
    /// As [`Engine::create_table`]; some of the tables may have been made.
    fn create_small_tables(&self, tables: &[TableId]) -> Result<(), EngineError> {
        tables.iter().try_for_each(|table| self.create_table(*table))
    }

    /// Removes a table and its data, durably. One that does not exist is no error. Cursors and
    /// views made before keep showing it.
    ///
    /// # Errors
    /// `Io`, `OutOfSpace`, `Closed`.
    fn drop_table(&self, table: TableId) -> Result<(), EngineError>;

    /// Empties a table, durably and at once: a new generation of it replaces the old one. After a
    /// crash it is either as before or empty. A write that returned before this call is gone.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `Closed`.
    fn truncate_table(&self, table: TableId) -> Result<(), EngineError>;

    /// The tables there are, by id.
    ///
    /// # Errors
    /// `Closed`.
    fn tables(&self) -> Result<Vec<TableInfo>, EngineError>;

    /// Brings every write that has returned to stable storage.
    ///
    /// # Errors
    /// `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn sync_log(&self) -> Result<(), EngineError>;

    /// Writes memtables to files, waiting for it: of one table, or of all.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn flush(&self, table: Option<TableId>) -> Result<(), EngineError>;

    /// Rewrites a table's files, so that what was overwritten, deleted or purged gives its space back; waits for it.
    /// A key of which nothing is left may need a second time to go.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn compact(&self, table: TableId) -> Result<(), EngineError>;

    /// Keeps what is written from now on apart from what was, if the table's options ask for windows of time and the last one has
    /// ended by `now_s`; says whether it does. What was is then a past window: nothing is added to it any more, by writes that begin
    /// after this.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn begin_window(&self, _table: TableId, _now_s: i64) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// The past windows of a table, youngest first.
    ///
    /// # Errors
    /// `UnknownTable`, `Closed`.
    fn past_windows(&self, _table: TableId) -> Result<Vec<WindowId>, EngineError> {
        Ok(Vec::new())
    }

    /// Walks over one past window of a table, or with `None` over what is in none.
    ///
    /// # Errors
    /// As [`Reads::cursor`]; `UnknownTable` when there is no such window.
    fn window_cursor<'a>(
        &'a self,
        table: TableId,
        _window: Option<WindowId>,
        options: CursorOptions<'_>,
    ) -> Result<Box<dyn Cursor + 'a>, EngineError> {
        self.cursor(table, options)
    }

    /// Removes past windows of a table with all that is in them, durably and without rewriting anything.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn drop_windows(&self, _table: TableId, _windows: &[WindowId]) -> Result<(), EngineError> {
        Ok(())
    }

    /// Whether partitions of a table may have heads: entries that every look-up of a row has to ask for beside the row. `false` only if
    /// nobody was told of one by [`Engine::expect_heads`]; once `true` it stays so, also after a truncation.
    fn may_have_heads(&self, _table: TableId) -> bool {
        true
    }

    /// Has [`Engine::may_have_heads`] be `true`, durably. Comes before the first head is written: whoever then finds something of a write
    /// with a head, and asks afterwards, is told that there may be one.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`: no head may be written.
    fn expect_heads(&self, _table: TableId) -> Result<(), EngineError> {
        Ok(())
    }

    /// Where its files are; `None` for an engine that has none.
    fn files(&self) -> Option<&Path> {
        None
    }

    /// Links the files that hold tables now into directories, one for each table, empty and on the same file system. They
    /// hold every write that was flushed before the call, or with `flush` every one that had returned; of later ones
    /// those up to some moment, another for each table. What is linked never changes any more.
    ///
    /// # Errors
    /// `UnknownTable`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn export_tables(
        &self,
        _tables: &[(TableId, PathBuf)],
        _flush: bool,
    ) -> Result<Vec<Exported>, EngineError> {
        Err(EngineError::Io { detail: "this engine has no files".to_owned() })
    }

    /// Makes ready what was exported into `directory`, from this table or another one of any directory, to take the place
    /// of what `table` holds. Reads all of the files: one that is damaged, missing or not of its size is an error.
    ///
    /// # Errors
    /// `UnknownTable`, `Corruption`, `Io`, `OutOfSpace`, `LogFailed`, `Closed`.
    fn stage_table(
        &self,
        _table: TableId,
        _directory: &Path,
        _exported: &Exported,
    ) -> Result<Box<dyn Staged + '_>, EngineError> {
        Err(EngineError::Io { detail: "this engine has no files".to_owned() })
    }

    /// How it is, and what went wrong since last asked. Looks at the disk.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    fn condition(&self) -> Result<Condition, EngineError> {
        Ok(Condition::default())
    }

    /// Takes writes again after the device was full: when it returns, all that was acknowledged is in files. Does
    /// nothing if writes are taken.
    ///
    /// # Errors
    /// `OutOfSpace`, `Io`: not yet. `LogFailed`: not before it is opened anew. `Closed`.
    fn resume(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Estimated sizes.
    ///
    /// # Errors
    /// `UnknownTable`, `Closed`.
    fn stats(&self, table: TableId) -> Result<TableStats, EngineError>;

    /// The work that the tables' data still asks for. An engine that puts nothing off names none.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    fn debts(&self) -> Result<HashMap<TableId, Debt>, EngineError> {
        Ok(HashMap::new())
    }

    /// Rewrites of files that run now.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    fn tasks(&self) -> Result<Vec<Task>, EngineError> {
        Ok(Vec::new())
    }

    /// What it holds and does. Looks at every table: once in a second at most.
    fn metrics(&self) -> Metrics {
        Metrics::default()
    }

    /// Why writes are held back, or were when they last were; `None` if they never were. Looks at every table: for a
    /// write that has to wait anyway.
    fn stall_cause(&self) -> Option<StallCause> {
        None
    }

    /// Flushes, syncs and closes; later calls answer `Closed`. A second call does nothing.
    ///
    /// # Errors
    /// `Io`, `OutOfSpace`, `LogFailed`.
    fn close(&self) -> Result<(), EngineError>;
}
