//! Limits of statements, and what they may do to the schema, by the names and with the defaults of
//! `cassandra.yaml`. Does not know where they are configured.

/// What statements may do to the schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaSettings {
    /// `drop_compact_storage_enabled`
    pub drop_compact_storage_enabled: bool,
    /// `dynamic_data_masking_enabled`: whether masks may be given to columns.
    pub dynamic_data_masking_enabled: bool,
}

/// Limits of statements.
#[derive(Clone, Debug)]
pub struct QuerySettings {
    /// `prepared_statements_cache_size`, bytes.
    pub prepared_statements_cache_bytes: usize,
    /// `batch_size_warn_threshold`, bytes.
    pub batch_size_warn_threshold_bytes: usize,
    /// `batch_size_fail_threshold`, bytes.
    pub batch_size_fail_threshold_bytes: usize,
    /// `unlogged_batch_across_partitions_warn_threshold`, partitions.
    pub unlogged_batch_across_partitions_warn_threshold: usize,
    /// `tombstone_warn_threshold`, tombstones a query.
    pub tombstone_warn_threshold: u32,
    /// `tombstone_failure_threshold`, tombstones a query.
    pub tombstone_failure_threshold: u32,
    /// Bytes of live data gathered before a page is cut short, so that a page never holds more
    /// memory than this beyond one row.
    pub page_bytes_max: usize,
}

impl Default for QuerySettings {
    fn default() -> QuerySettings {
        QuerySettings {
            prepared_statements_cache_bytes: 10 << 20,
            batch_size_warn_threshold_bytes: 5 << 10,
            batch_size_fail_threshold_bytes: 50 << 10,
            unlogged_batch_across_partitions_warn_threshold: 10,
            tombstone_warn_threshold: 1_000,
            tombstone_failure_threshold: 100_000,
            page_bytes_max: 64 << 20,
        }
    }
}
