//! Counts that are remembered, as many as memory was given for; when it is full all are forgotten.

use std::collections::HashMap;

use basalt_model::{Clustering, ColumnId, DecoratedKey, TableId};

use super::ClockAndCount;

/// What a remembered count takes beside its key, about.
const ENTRY_BYTES: usize = 64;

/// Table, partition, row and column as bytes: parts of requests would keep the requests in memory.
pub type CounterKey = Box<[u8]>;

/// Which counter that is; `row` is `None` for the static row.
pub fn key(
    table: TableId,
    partition: &DecoratedKey,
    row: Option<&Clustering>,
    column: ColumnId,
) -> CounterKey {
    let mut key = Vec::with_capacity(16 + 4 + 4 + partition.key.len() + 16);
    key.extend_from_slice(table.0.as_bytes());
    // A column is static or not for life.
    key.extend_from_slice(&column.0.to_be_bytes());
    let mut put = |part: &[u8]| {
        key.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        key.extend_from_slice(part);
    };
    put(&partition.key);
    row.into_iter().flat_map(|row| &row.0).for_each(|value| put(value.as_deref().unwrap_or_default()));
    key.into()
}

/// Counts of some partitions.
#[derive(Default)]
pub struct Remembered {
    counts: HashMap<CounterKey, ClockAndCount>,
    bytes: usize,
    truncations: u64,
}

impl Remembered {
    /// Forgets what is older than the last truncation.
    pub fn forget_before(&mut self, truncations: u64) {
        if self.truncations < truncations {
            *self = Remembered { truncations, ..Remembered::default() };
        }
    }

    /// Takes a count out.
    pub fn take(&mut self, key: &CounterKey) -> Option<ClockAndCount> {
        let count = self.counts.remove(key)?;
        self.bytes -= key.len() + ENTRY_BYTES;
        Some(count)
    }

    /// Remembers a count that was taken out, or is new.
    pub fn put(&mut self, key: CounterKey, count: ClockAndCount, bytes_max: usize) {
        let bytes = key.len() + ENTRY_BYTES;
        if self.bytes + bytes > bytes_max {
            self.counts.clear();
            self.bytes = 0;
        }
        if bytes <= bytes_max && self.counts.insert(key, count).is_none() {
            self.bytes += bytes;
        }
    }
}
