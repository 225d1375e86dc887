//! Table options with Cassandra 5.0's defaults (`schema/TableParams`).
//!
//! Only kept and shown here; what each does is said in `docs/operations/table-options.md`.

use std::collections::BTreeMap;

/// `compaction`: the map as given, `class` (full Java class name) included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionOptions(pub BTreeMap<String, String>);

/// `compression`: the map as stored; empty when switched off (`enabled: false`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressionOptions(pub BTreeMap<String, String>);

/// `caching`: `keys` and `rows_per_partition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachingOptions(pub BTreeMap<String, String>);

/// `speculative_retry` and `additional_write_policy`, as canonical text (`99p`, `50ms`, `ALWAYS`, `NEVER`, `MIN(..)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeculativeRetry(pub String);

/// All options of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Free text.
    pub comment: String,
    /// Seconds a tombstone is kept.
    pub gc_grace_seconds: i32,
    /// Seconds to live of writes that name no TTL; 0 for ever.
    pub default_time_to_live: i32,
    /// Target rate of false positives.
    pub bloom_filter_fp_chance: f64,
    /// See [`CachingOptions`].
    pub caching: CachingOptions,
    /// See [`CompactionOptions`].
    pub compaction: CompactionOptions,
    /// See [`CompressionOptions`].
    pub compression: CompressionOptions,
    /// Checked fraction of compressed chunks.
    pub crc_check_chance: f64,
    /// Name of a memtable configuration; empty in 5.0 is null.
    pub memtable: Option<String>,
    /// Milliseconds; 0 never.
    pub memtable_flush_period_in_ms: i32,
    /// Index sampling.
    pub min_index_interval: i32,
    /// Index sampling.
    pub max_index_interval: i32,
    /// `BLOCKING` or `NONE`.
    pub read_repair: String,
    /// See [`SpeculativeRetry`].
    pub speculative_retry: SpeculativeRetry,
    /// See [`SpeculativeRetry`].
    pub additional_write_policy: SpeculativeRetry,
    /// Change data capture.
    pub cdc: bool,
    /// Snapshot before a drop or truncate.
    pub allow_auto_snapshot: bool,
    /// Incremental backups.
    pub incremental_backups: bool,
    /// Opaque `extensions`.
    pub extensions: BTreeMap<String, Vec<u8>>,
}

/// When the options of a table have their effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionsEffect {
    /// On files written from now on: with the next flush or compaction.
    NewFiles,
    /// Partly so; how files are merged changes when the engine is opened the next time, or the table is truncated.
    NextStart,
    /// Never: the table shares its files with others.
    Shared,
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            comment: String::new(),
            gc_grace_seconds: 864_000,
            default_time_to_live: 0,
            bloom_filter_fp_chance: 0.01,
            caching: CachingOptions(map(&[("keys", "ALL"), ("rows_per_partition", "NONE")])),
            compaction: CompactionOptions(map(&[
                ("class", "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"),
                ("max_threshold", "32"),
                ("min_threshold", "4"),
            ])),
            compression: CompressionOptions(map(&[
                ("chunk_length_in_kb", "16"),
                ("class", "org.apache.cassandra.io.compress.LZ4Compressor"),
            ])),
            crc_check_chance: 1.0,
            memtable: None,
            memtable_flush_period_in_ms: 0,
            min_index_interval: 128,
            max_index_interval: 2048,
            read_repair: "BLOCKING".to_owned(),
            speculative_retry: SpeculativeRetry("99p".to_owned()),
            additional_write_policy: SpeculativeRetry("99p".to_owned()),
            cdc: false,
            allow_auto_snapshot: true,
            incremental_backups: true,
            extensions: BTreeMap::new(),
        }
    }
}
