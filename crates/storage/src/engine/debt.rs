//! What an engine says of work it has put off, and of writes it holds back for it. Words only.

use basalt_model::TableId;

/// Why an engine holds writes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// Memtables are filled faster than they are flushed.
    Memtables,
    /// Flushes make files faster than those of the first level are merged.
    Level0Files,
    /// Compaction is behind by too many bytes.
    PendingCompaction,
}

/// Work that a table's data still asks for, and what it cost writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Debt {
    /// Bytes that compaction has to rewrite until the table is in shape, estimated.
    pub pending_bytes: u64,
    /// Files of the first level, each of which a read may have to look into.
    pub level0_files: u64,
    /// Full memtables that wait for their flush.
    pub memtables: u64,
    /// How often since the start writes began to be slowed for this table,
    pub delays: u64,
    /// and how often they were stopped.
    pub stops: u64,
    /// Whether these are of files that several tables share: all of those have the same.
    pub is_shared: bool,
}

/// A rewrite of files that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Whose files; `None` if they are several tables' or the engine's own.
    pub table: Option<TableId>,
    /// The engine's number for it; no other task since the start has the same.
    pub job: u64,
    /// How many files are read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}
