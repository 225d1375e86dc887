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

/// With which versions the limits of what is written agree (`StorageCompatibilityMode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageCompatibilityMode {
    /// With Cassandra 4: deletion times reach to 2038-01-19T03:14:06Z.
    #[default]
    Cassandra4,
    /// With none but the own, once all nodes are of it; a node alone is.
    Upgrading,
    /// With none but the own: deletion times reach to 2106-02-07T06:28:13Z.
    None,
}

impl StorageCompatibilityMode {
    /// The mode of a name in `cassandra.yaml`.
    pub fn of(name: &str) -> Option<StorageCompatibilityMode> {
        match name {
            "CASSANDRA_4" => Some(StorageCompatibilityMode::Cassandra4),
            "UPGRADING" => Some(StorageCompatibilityMode::Upgrading),
            "NONE" => Some(StorageCompatibilityMode::None),
            _ => None,
        }
    }

    /// The latest second anything may expire at (`Cell.getVersionedMaxDeletiontionTime`).
    pub(crate) fn max_deletion_time_s(self) -> i64 {
        match self {
            StorageCompatibilityMode::Cassandra4 => i64::from(i32::MAX) - 1,
            StorageCompatibilityMode::Upgrading | StorageCompatibilityMode::None => i64::from(u32::MAX) - 2,
        }
    }

    /// The same, as messages show it.
    pub(crate) fn max_deletion_time_text(self) -> &'static str {
        match self {
            StorageCompatibilityMode::Cassandra4 => "2038-01-19T03:14:06+00:00",
            StorageCompatibilityMode::Upgrading | StorageCompatibilityMode::None => {
                "2106-02-07T06:28:13+00:00"
            }
        }
    }
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
    /// `max_mutation_size`, bytes.
    pub max_mutation_bytes: usize,
    /// `storage_compatibility_mode`
    pub storage_compatibility_mode: StorageCompatibilityMode,
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
            max_mutation_bytes: 16 << 20,
            storage_compatibility_mode: StorageCompatibilityMode::default(),
        }
    }
}
