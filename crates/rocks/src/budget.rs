//! How one memory number is divided. Arithmetic only.

/// The least an engine works with.
const MEMORY_MIN: u64 = 32 << 20;

/// A memtable is flushed when it has grown to this, at the latest.
const MEMTABLE_MAX: u64 = 64 << 20;

/// The log is cut (by flushing the oldest memtables) between these sizes. The upper bound is what
/// a start after a crash has to replay: a few seconds' worth.
const LOG_MIN: u64 = 128 << 20;
const LOG_MAX: u64 = 1 << 30;

/// The parts of an engine's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Blocks, indexes and filters of files, and the memtables too: they are charged to the cache,
    /// so that this is the bound of both together.
    pub cache_bytes: u64,
    /// All memtables together.
    pub memtables_bytes: u64,
    /// One memtable.
    pub memtable_bytes: u64,
    /// Memtables that wait to be flushed: with so much of them writes are slowed to next to nothing.
    pub waiting_bytes: u64,
    /// The log on disk.
    pub log_bytes: u64,
}

impl Budget {
    /// How many memtables of one family there are, when RocksDB stops writes: twice as many as writers ever make.
    pub fn memtables_of_a_family(&self) -> u64 {
        self.waiting_bytes * 2 / self.memtable_bytes
    }

    /// Divides `memory_bytes`, everything the engine may keep in memory.
    pub fn of(memory_bytes: u64) -> Budget {
        let cache_bytes = memory_bytes.max(MEMORY_MIN);
        let memtables_bytes = cache_bytes / 4;
        let memtable_bytes = (memtables_bytes / 4).min(MEMTABLE_MAX);
        Budget {
            cache_bytes,
            memtables_bytes,
            memtable_bytes,
            waiting_bytes: memtables_bytes.min(memtable_bytes * 8),
            log_bytes: (memtables_bytes * 2).clamp(LOG_MIN, LOG_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    //! The parts never exceed the whole.
    use super::*;

    #[test]
    fn parts_fit_into_the_whole() {
        for memory_bytes in [0, 1 << 20, 100 << 20, 1 << 30, 64 << 30] {
            let budget = Budget::of(memory_bytes);
            assert!(budget.cache_bytes <= memory_bytes.max(MEMORY_MIN));
            assert!(budget.memtables_bytes < budget.cache_bytes);
            assert!(budget.memtable_bytes < budget.memtables_bytes);
            assert!(budget.waiting_bytes <= budget.memtables_bytes);
            assert!((8..=16).contains(&budget.memtables_of_a_family()));
            assert!((LOG_MIN..=LOG_MAX).contains(&budget.log_bytes));
        }
    }
}
