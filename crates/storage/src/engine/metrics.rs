//! What an engine holds and does, in numbers for whoever watches a node. Words only.

/// Numbers of the moment, of all tables together. What an engine does not have is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Bytes that the cache may hold.
    pub cache_capacity_bytes: u64,
    /// Bytes in the cache, memtables charged to it included.
    pub cache_bytes: u64,
    /// Bytes of memtables.
    pub memtable_bytes: u64,
    /// Bytes of files that hold live data.
    pub disk_bytes: u64,
    /// Bytes that compaction is behind.
    pub compaction_pending_bytes: u64,
    /// Flushes running.
    pub flushes_running: u64,
    /// Compactions running.
    pub compactions_running: u64,
    /// How far writes are slowed for what waits to be flushed and compacted, in thousandths.
    pub brake: u64,
    /// Bytes a second to which the engine slows writes beyond that; 0 when it does not.
    pub delayed_write_rate: u64,
    /// For how long writers waited for it since it was opened, milliseconds.
    pub stalled_ms: u64,
    /// Flushes and compactions that failed.
    pub background_errors: u64,
    /// Tables.
    pub tables: u64,
    /// Tables with files of their own.
    pub own_families: u64,
}
