//! How write sets become durable: the three modes of `commitlog_sync` over the engine's log.
//!
//! In every mode a log record has reached the kernel before anyone is told. `batch` and `group`
//! gather write sets of all threads into one synced engine write, and nothing is readable before
//! it is durable. `periodic` writes at once and syncs behind; a late sync holds writers back, and so does an engine
//! whose flushes and merges are behind: then they queue as in `batch`, unsynced.
//!
//! Once a write or sync of the log has failed nothing more is acknowledged until the engine is
//! opened anew: what is in the log then is not known. Unless the device was full: then the engine may resume, with all
//! that was acknowledged in files ([`Committer::resume`]). Knows no mutation and no runtime.

mod gate;
mod group;
mod periodic;
mod stalls;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_model::TableId;
use basalt_model::env::SharedEnv;

use crate::engine::{Engine, EngineError, Sync, WriteOptions, WriteSet};
use gate::Gate;
use group::GROUP_BYTES_MAX;

pub use gate::Watch;
pub use stalls::{Cause, StallCounts, Stalls};

/// Write sets that wait for the committer may hold this many bytes; more is refused.
pub const QUEUE_BYTES_MAX: usize = 64 << 20;

/// Write sets that wait for the committer, at most; more are refused.
pub const QUEUE_SETS_MAX: usize = 65_536;

const SYNCED: WriteOptions = WriteOptions { sync: Sync::Synced, may_block: true };

/// `commitlog_sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// Acknowledged when the kernel has it; synced every so often.
    Periodic {
        /// `commitlog_sync_period`.
        period_ms: u64,
        /// `periodic_commitlog_sync_lag_block`: writers wait when the last sync is older.
        lag_block_ms: u64,
    },
    /// Acknowledged when synced; a sync begins as soon as the last one has ended.
    Batch,
    /// Acknowledged when synced; syncs begin at least this far apart.
    Group {
        /// `commitlog_sync_group_window`.
        window_ms: u64,
    },
}

/// Why a write set was not committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Too much waits already; nothing was written.
    #[error("too many writes wait for the commit log")]
    Overloaded,
    /// The engine refused it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The committer was stopped; nothing was written.
    #[error("the commit log is closed")]
    Closed,
}

/// Told how a queued write set ended, on the committer's thread: it must not wait.
pub type OnCommitted = Box<dyn FnOnce(Result<(), CommitError>) + Send>;

/// What became of a submitted write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is committed.
    Done,
    /// It was taken; the callback will say.
    Queued,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct CommitCounters {
    /// Syncs of the log.
    pub syncs: AtomicU64,
    /// Write sets they made durable, in `batch` and `group` mode.
    pub synced_sets: AtomicU64,
    /// Nanoseconds spent in them.
    pub sync_nanos: AtomicU64,
}

impl CommitCounters {
    fn count(&self, sets: usize, nanos: u64) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.synced_sets.fetch_add(sets as u64, Ordering::Relaxed);
        self.sync_nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// The one way write sets get into the engine.
struct Way {
    engine: Arc<dyn Engine>,
    gate: Arc<Gate>,
    env: SharedEnv,
    stalls: Arc<Stalls>,
}

impl Way {
    fn write(&self, sets: &[&WriteSet], options: WriteOptions) -> Result<(), EngineError> {
        let _passage = self.gate.enter(sets.iter().copied());
        match self.engine.write(sets, WriteOptions { may_block: false, ..options }) {
            Err(EngineError::WouldStall) if options.may_block => {}
            written => return written,
        }
        let start = self.env.monotonic_nanos();
        let cause = self.stalls.cause_of(&*self.engine, &*self.env);
        let written = self.engine.write(sets, options);
        self.stalls.waited(cause, sets.len(), self.env.monotonic_nanos().saturating_sub(start));
        written
    }

    /// Synced writes of what has gathered, and the thread that makes them.
    fn in_groups(self, window_ms: u64, counters: Arc<CommitCounters>) -> std::io::Result<group::Group> {
        let (env, stalls) = (Arc::clone(&self.env), Arc::clone(&self.stalls));
        let write = move |sets: &[&WriteSet]| {
            let start = self.env.monotonic_nanos();
            let written = self.write(sets, SYNCED);
            counters.count(sets.len(), self.env.monotonic_nanos().saturating_sub(start));
            written.map_err(CommitError::from)
        };
        group::Group::start(env, stalls, window_ms, Box::new(write))
    }
}

enum Kind {
    Periodic(periodic::Periodic),
    Group(group::Group),
}

/// Commits write sets. Its thread ends with [`Committer::stop`], or when it is dropped.
pub struct Committer {
    kind: Kind,
    engine: Arc<dyn Engine>,
    gate: Arc<Gate>,
    counters: Arc<CommitCounters>,
    stalls: Arc<Stalls>,
}

impl Committer {
    /// Starts the committer's thread.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(engine: Arc<dyn Engine>, env: SharedEnv, mode: SyncMode) -> std::io::Result<Committer> {
        let counters = Arc::new(CommitCounters::default());
        let gate = Arc::new(Gate::default());
        let stalls = Arc::new(Stalls::default());
        let way = Way {
            engine: Arc::clone(&engine),
            gate: Arc::clone(&gate),
            env: Arc::clone(&env),
            stalls: Arc::clone(&stalls),
        };
        let kind = match mode {
            SyncMode::Periodic { period_ms, lag_block_ms } => Kind::Periodic(periodic::Periodic::start(
                way,
                env,
                counters.clone(),
                period_ms,
                lag_block_ms,
            )?),
            SyncMode::Batch => Kind::Group(way.in_groups(0, counters.clone())?),
            SyncMode::Group { window_ms } => Kind::Group(way.in_groups(window_ms, counters.clone())?),
        };
        Ok(Committer { kind, engine, gate, counters, stalls })
    }

    /// Commits a write set, or queues it: then it is taken out of `set`, and what `on_committed`
    /// gives is called once. Waits only if `may_block`; else a write that would wait is queued.
    ///
    /// # Errors
    /// The set is not committed, and not taken.
    pub fn submit(
        &self,
        set: &mut WriteSet,
        may_block: bool,
        on_committed: impl FnOnce() -> OnCommitted,
    ) -> Result<Submitted, CommitError> {
        match &self.kind {
            Kind::Periodic(periodic) => periodic.submit(set, may_block, on_committed),
            Kind::Group(group) => group.queue(set, on_committed).map(|()| Submitted::Queued),
        }
    }

    /// Whether a write set that is submitted is mostly committed when that returns.
    pub fn writes_at_once(&self) -> bool {
        matches!(self.kind, Kind::Periodic(_))
    }

    /// Commits write sets that came together, in as few steps as their size allows, without waiting: those that would have
    /// to wait are queued. Each owner is told of its own.
    pub fn submit_all(&self, mut gathered: Vec<(WriteSet, OnCommitted)>) {
        while !gathered.is_empty() {
            let mut bytes = 0;
            let fits = |(set, _): &&(WriteSet, OnCommitted)| {
                bytes += set.bytes();
                bytes <= GROUP_BYTES_MAX
            };
            let count = gathered.iter().take_while(fits).count().max(1);
            let rest = gathered.split_off(count);
            match &self.kind {
                Kind::Periodic(periodic) => periodic.submit_all(gathered),
                Kind::Group(group) => {
                    gathered.into_iter().for_each(|(set, told)| group.queue_or_tell(set, told))
                }
            }
            gathered = rest;
        }
    }

    /// Commits a write set, waiting for it.
    ///
    /// # Errors
    /// The set is not known to be committed.
    pub fn commit(&self, mut set: WriteSet) -> Result<(), CommitError> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let submitted = self.submit(&mut set, true, || {
            // The receiver waits below: sending into one free place neither waits nor fails.
            Box::new(move |result| drop(sender.send(result)))
        })?;
        match submitted {
            Submitted::Done => Ok(()),
            Submitted::Queued => receiver.recv().unwrap_or(Err(CommitError::Closed)),
        }
    }

    /// Watches how old the data is that is written to a table from now on; see [`Watch`]. Waits for writes on their
    /// way, not on a reactor.
    pub fn watch(&self, table: TableId) -> Watch<'_> {
        self.gate.watch(table)
    }

    /// Why nothing is committed any more, if so.
    pub fn failure(&self) -> Option<EngineError> {
        match &self.kind {
            Kind::Periodic(periodic) => periodic.failure(),
            Kind::Group(group) => group.failure(),
        }
    }

    /// Commits again after the device was full, if there is space now. Waits for the engine. Does nothing when all is
    /// well.
    ///
    /// # Errors
    /// Not yet, or not before the engine is opened anew.
    pub fn resume(&self) -> Result<(), CommitError> {
        if let Some(failure) = self.failure()
            && !matches!(failure, EngineError::OutOfSpace { .. })
        {
            return Err(failure.into());
        }
        self.engine.resume()?;
        match &self.kind {
            Kind::Periodic(periodic) => periodic.resume(),
            Kind::Group(group) => group.resume(),
        }
        Ok(())
    }

    /// What was done so far.
    pub fn counters(&self) -> &CommitCounters {
        &self.counters
    }

    /// Writes that waited or were refused.
    pub fn stalls(&self) -> &Stalls {
        &self.stalls
    }

    /// Commits what is queued, syncs, and ends the thread. Later writes are refused.
    ///
    /// # Errors
    /// When the last sync fails.
    pub fn stop(&self) -> Result<(), CommitError> {
        match &self.kind {
            Kind::Periodic(periodic) => periodic.stop(),
            Kind::Group(group) => group.stop(),
        }
    }
}

/// Whether after this error the log's contents are not known any more.
fn is_fatal(error: &EngineError) -> bool {
    match error {
        EngineError::Io { .. }
        | EngineError::OutOfSpace { .. }
        | EngineError::Corruption { .. }
        | EngineError::LogFailed { .. } => true,
        EngineError::WouldStall
        | EngineError::WouldBlock
        | EngineError::UnknownTable(_)
        | EngineError::Paused
        | EngineError::Closed => false,
    }
}

/// What later writes are refused with after `first` has failed.
fn log_failed(first: &EngineError) -> EngineError {
    match first {
        EngineError::LogFailed { .. } | EngineError::OutOfSpace { .. } => first.clone(),
        other => EngineError::LogFailed { detail: other.to_string() },
    }
}

#[cfg(test)]
mod tests;
