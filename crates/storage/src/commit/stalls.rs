//! Writes that waited or were refused, counted by cause. A write that does neither touches nothing here.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use basalt_model::env::Env;

use crate::engine::{Engine, StallCause};

/// What a write waited for, or was refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cause {
    /// See [`StallCause::Memtables`].
    Memtables = 0,
    /// See [`StallCause::Level0Files`].
    Level0Files = 1,
    /// See [`StallCause::PendingCompaction`].
    PendingCompaction = 2,
    /// The engine did not say.
    Engine = 3,
    /// The log's last sync is older than `periodic_commitlog_sync_lag_block`.
    LogSync = 4,
    /// Too much waits for the log.
    LogQueue = 5,
    /// The disk is full.
    DiskFull = 6,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 7] = [
        Cause::Memtables,
        Cause::Level0Files,
        Cause::PendingCompaction,
        Cause::Engine,
        Cause::LogSync,
        Cause::LogQueue,
        Cause::DiskFull,
    ];

    /// Its name in `system_views.write_stalls`.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Memtables => "memtables",
            Cause::Level0Files => "level0_files",
            Cause::PendingCompaction => "pending_compaction",
            Cause::Engine => "engine",
            Cause::LogSync => "commitlog_sync",
            Cause::LogQueue => "commitlog_queue",
            Cause::DiskFull => "disk_full",
        }
    }

    fn of(cause: Option<StallCause>) -> Cause {
        match cause {
            Some(StallCause::Memtables) => Cause::Memtables,
            Some(StallCause::Level0Files) => Cause::Level0Files,
            Some(StallCause::PendingCompaction) => Cause::PendingCompaction,
            None => Cause::Engine,
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    waited: AtomicU64,
    refused: AtomicU64,
    nanos: AtomicU64,
    longest_nanos: AtomicU64,
}

/// What one cause has cost since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    /// Writes that waited.
    pub waited: u64,
    /// Writes that were refused.
    pub refused: u64,
    /// Nanoseconds waited, of all together.
    pub nanos: u64,
    /// Nanoseconds of the longest wait.
    pub longest_nanos: u64,
}

/// The engine is asked for its cause at most this often: it looks at every table.
const ASKED_EVERY_NANOS: u64 = 100_000_000;

/// The counts of one committer.
#[derive(Debug, Default)]
pub struct Stalls {
    counts: [Counts; Cause::ALL.len()],
    /// When the engine may be asked again, and what it last said.
    ask_at_nanos: AtomicU64,
    last_said: AtomicU8,
}

impl Stalls {
    /// A write was refused.
    pub fn refused(&self, cause: Cause) {
        self.counts[cause as usize].refused.fetch_add(1, Ordering::Relaxed);
    }

    /// What a cause has cost.
    pub fn of(&self, cause: Cause) -> StallCounts {
        let counts = &self.counts[cause as usize];
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        StallCounts {
            waited: load(&counts.waited),
            refused: load(&counts.refused),
            nanos: load(&counts.nanos),
            longest_nanos: load(&counts.longest_nanos),
        }
    }

    /// So many writes waited so long.
    pub(super) fn waited(&self, cause: Cause, writes: usize, nanos: u64) {
        let counts = &self.counts[cause as usize];
        counts.waited.fetch_add(writes as u64, Ordering::Relaxed);
        counts.nanos.fetch_add(nanos.saturating_mul(writes as u64), Ordering::Relaxed);
        counts.longest_nanos.fetch_max(nanos, Ordering::Relaxed);
    }

    /// Why the engine holds a write back that begins to wait now.
    pub(super) fn cause_of(&self, engine: &dyn Engine, env: &dyn Env) -> Cause {
        let now = env.monotonic_nanos();
        let ask_at = self.ask_at_nanos.load(Ordering::Relaxed);
        let next = now.saturating_add(ASKED_EVERY_NANOS);
        let is_due = now >= ask_at
            && self.ask_at_nanos.compare_exchange(ask_at, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due {
            let cause = Cause::of(engine.stall_cause());
            self.last_said.store(cause as u8, Ordering::Relaxed);
            return cause;
        }
        let said = usize::from(self.last_said.load(Ordering::Relaxed));
        Cause::ALL.get(said).copied().unwrap_or(Cause::Engine)
    }
}
