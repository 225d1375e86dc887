//! What the node makes of failures of the disk (`disk_failure_policy`, `commit_failure_policy`) and of a disk that fills.
//!
//! A full disk is no failure: writes of users are refused before the engine meets the end, with the answer of Cassandra's
//! guardrail, and taken again when there is space. Knows neither who serves clients nor who ends the process: it says
//! what is to be done ([`Verdict`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use basalt_coordinator::ReplicaError;
use basalt_model::TableId;
use basalt_storage::commit::{CommitError, Committer};
use basalt_storage::engine::{Condition, Engine, EngineError};
use parking_lot::Mutex;
use tokio::sync::watch;

pub use crate::config::disk::{CommitFailurePolicy, DiskFailurePolicy, DiskSettings};

/// What is to be done. A graver one stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing.
    #[default]
    GoOn,
    /// Clients are not served any more (`StorageService.stopTransports`); the process stays, for a look.
    StopTransports,
    /// The process ends, at once, with the exit code of `JVMStabilityInspector.killCurrentJVM`.
    Die,
}

/// How often the disk is looked at,
const TICK: Duration = Duration::from_secs(1);
/// and when less than so many times what is kept free is left:
const NEAR: u64 = 8;
/// so often.
const TICK_NEAR: Duration = Duration::from_millis(10);

/// While the disk is full, memtables are flushed at most every so many looks, which shortens the log.
const LOOKS_PER_FLUSH: u32 = 100;

/// What the process ends with on [`Verdict::Die`].
pub const DIE_EXIT_CODE: u8 = 100;

/// Says what a table is called, if it is there.
pub type NameOf = Box<dyn Fn(TableId) -> Option<String> + Send + Sync>;

/// What the last look saw.
#[derive(Default)]
struct Seen {
    /// Whether the usage is above `data_disk_usage_percentage_warn_threshold`.
    is_stuffed: bool,
    /// Looks at a full disk since a flush that was to shorten the log.
    looks_since_flush: u32,
    /// Why writes were not taken again, as it was logged.
    resume_failure: Option<CommitError>,
    /// The commit log's failure that was judged.
    commit_failure: Option<EngineError>,
}

/// The node's disk.
pub struct Disk {
    settings: DiskSettings,
    is_full: AtomicBool,
    seen: Mutex<Seen>,
    verdict: watch::Sender<Verdict>,
}

impl Disk {
    /// A disk of which nothing is known yet.
    pub fn new(settings: DiskSettings) -> Disk {
        Disk {
            settings,
            is_full: AtomicBool::new(false),
            seen: Mutex::default(),
            verdict: watch::Sender::new(Verdict::GoOn),
        }
    }

    /// What is to be done, and what will be.
    pub fn verdict(&self) -> watch::Receiver<Verdict> {
        self.verdict.subscribe()
    }

    /// Whether writes of users are to be refused: one load.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// A failure of data or of the engine's other files, as a replica's. The policies have their say.
    pub fn replica_error(&self, error: EngineError) -> ReplicaError {
        match error {
            EngineError::UnknownTable(table) => ReplicaError::UnknownTable(table),
            EngineError::Closed => ReplicaError::Closed,
            other => {
                tracing::error!(error = %other, "storage failed");
                self.judge(&other);
                ReplicaError::Storage(other.to_string())
            }
        }
    }

    /// The same of a commit.
    pub fn commit_error(&self, error: CommitError) -> ReplicaError {
        match error {
            CommitError::Overloaded => ReplicaError::Overloaded("too many writes wait for the commit log"),
            CommitError::Closed => ReplicaError::Closed,
            CommitError::Engine(EngineError::UnknownTable(table)) => ReplicaError::UnknownTable(table),
            CommitError::Engine(EngineError::Closed) => ReplicaError::Closed,
            CommitError::Engine(error) => {
                tracing::error!(%error, "Failed to apply mutation locally");
                self.judge_commit(&error);
                ReplicaError::Storage(error.to_string())
            }
        }
    }

    /// `DefaultFSErrorHandler`.
    fn judge(&self, error: &EngineError) {
        use DiskFailurePolicy::{BestEffort, Die, Ignore, Stop, StopParanoid};
        let policy = self.settings.disk_failure_policy;
        let verdict = match (error, policy) {
            (EngineError::LogFailed { .. }, _) => return self.judge_commit(error),
            (EngineError::Corruption { .. } | EngineError::Io { .. }, Die) => Verdict::Die,
            (EngineError::Corruption { .. }, StopParanoid) => Verdict::StopTransports,
            (EngineError::Corruption { .. }, Stop | BestEffort | Ignore) => Verdict::GoOn,
            // There is one directory: without it there is none left to write to, which ends `best_effort` too.
            (EngineError::Io { .. }, StopParanoid | Stop | BestEffort) => Verdict::StopTransports,
            _ => Verdict::GoOn,
        };
        self.pass(verdict, || format!("disk_failure_policy is {}", policy.name()));
    }

    /// `CommitLog.handleCommitError`.
    fn judge_commit(&self, error: &EngineError) {
        let policy = self.settings.commit_failure_policy;
        let verdict = match error {
            EngineError::OutOfSpace { .. } | EngineError::WouldStall => Verdict::GoOn,
            _ => match policy {
                CommitFailurePolicy::Die => Verdict::Die,
                CommitFailurePolicy::Stop => Verdict::StopTransports,
                // Nothing is acknowledged any more, whatever they say.
                CommitFailurePolicy::StopCommit | CommitFailurePolicy::Ignore => Verdict::GoOn,
            },
        };
        self.pass(verdict, || format!("commit_failure_policy is {}", policy.name()));
    }

    fn pass(&self, verdict: Verdict, why: impl Fn() -> String) {
        let is_new = self.verdict.send_if_modified(|standing| {
            let is_graver = verdict > *standing;
            if is_graver {
                *standing = verdict;
            }
            is_graver
        });
        match verdict {
            Verdict::StopTransports if is_new => tracing::error!("Stopping transports as {}", why()),
            Verdict::Die if is_new => tracing::error!("Exiting forcefully as {}", why()),
            _ => {}
        }
    }

    /// Looks after the engine and the commit log: judges what failed while nobody waited, and takes writes again when a
    /// full disk has space. Waits for the disk. Answers when to look again: what can be written meanwhile must fit into what
    /// is kept free.
    pub fn look(&self, engine: &dyn Engine, committer: &Committer, name_of: &NameOf) -> Duration {
        let condition = match engine.condition() {
            Ok(condition) => condition,
            Err(EngineError::Closed) => return TICK,
            Err(error) => {
                tracing::error!(%error, "the disk cannot be looked at");
                self.judge(&error);
                return TICK;
            }
        };
        for error in &condition.failures {
            let table = match error {
                EngineError::Corruption { table: Some(table), .. } => name_of(*table),
                _ => None,
            };
            tracing::error!(%error, table, "storage failed in the background");
            self.judge(error);
        }
        if self.look_at_space(&condition)
            && let Err(error) = engine.flush(None)
        {
            tracing::warn!(%error, "the disk is full, and the log cannot be shortened");
        }
        self.look_at_log(&condition, committer);
        let is_near = condition.available_bytes / NEAR < condition.reserve_bytes;
        if is_near { TICK_NEAR } else { TICK }
    }

    fn look_at_log(&self, condition: &Condition, committer: &Committer) {
        let failure = committer.failure();
        let is_out_of_space = matches!(failure, Some(EngineError::OutOfSpace { .. }));
        if let Some(failure) = failure.filter(|_| !is_out_of_space) {
            let mut seen = self.seen.lock();
            if seen.commit_failure.as_ref() != Some(&failure) {
                tracing::error!(error = %failure, "nothing is committed any more");
                self.judge_commit(&failure);
                seen.commit_failure = Some(failure);
            }
        } else if (is_out_of_space || !condition.is_writing)
            && condition.available_bytes >= condition.reserve_bytes
        {
            match committer.resume() {
                Ok(()) => tracing::info!("There is space on the disk: writes are taken again"),
                Err(error) => {
                    let mut seen = self.seen.lock();
                    if seen.resume_failure.as_ref() != Some(&error) {
                        tracing::warn!(%error, "there is space on the disk, and writes are not taken yet");
                        seen.resume_failure = Some(error);
                    }
                }
            }
        }
    }

    /// Answers whether a flush may help: what is in memory fits on the disk, and the log then goes.
    fn look_at_space(&self, condition: &Condition) -> bool {
        let Condition { available_bytes, reserve_bytes, used_bytes, .. } = *condition;
        let (was_full, mut seen) = (self.is_full(), self.seen.lock());
        let percent = usage_percent(used_bytes, available_bytes, self.settings.max_disk_bytes);
        let exceeds = |threshold: Option<u8>| threshold.filter(|threshold| percent > u64::from(*threshold));
        // Once full, some more than the reserve must be free: or it would be full again at once.
        let needed_bytes =
            if was_full { reserve_bytes.saturating_add(reserve_bytes / 4) } else { reserve_bytes };
        let is_out = available_bytes < needed_bytes;
        let fail = exceeds(self.settings.usage_fail_percent);
        let warn = exceeds(self.settings.usage_warn_percent);
        let is_full = is_out || fail.is_some();
        if is_full && !was_full {
            match fail {
                Some(threshold) => tracing::error!(
                    "Guardrail local_data_disk_usage violated: Local data disk usage {percent}%(FULL) exceeds failure \
                     threshold of {threshold}%, will stop accepting writes"
                ),
                None => tracing::error!(
                    "The disk is full: {available_bytes} bytes are free, of {reserve_bytes} that are kept for flushes \
                     and compactions. Writes are refused until there is space; TRUNCATE and DROP free some, of tables that leave no \
                     snapshot, and nodetool clearsnapshot does"
                ),
            }
        }
        if !is_full && was_full {
            tracing::info!("The disk has space again: {available_bytes} bytes are free");
        }
        if let Some(threshold) = warn.filter(|_| !is_full && !seen.is_stuffed) {
            tracing::warn!(
                "Guardrail local_data_disk_usage violated: Local data disk usage {percent}%(STUFFED) exceeds warning \
                 threshold of {threshold}%"
            );
        }
        seen.is_stuffed = warn.is_some();
        self.is_full.store(is_full, Ordering::Relaxed);
        let is_due = !was_full || seen.looks_since_flush >= LOOKS_PER_FLUSH;
        // It begins a new log as well, for which RocksDB reserves some.
        let takes_bytes = condition.memtable_bytes.saturating_add(reserve_bytes / 2);
        let helps = is_full && is_due && available_bytes > takes_bytes;
        seen.looks_since_flush = if helps { 0 } else { seen.looks_since_flush.saturating_add(1) };
        helps
    }
}

/// `DiskUsageMonitor.getDiskUsage`: what is used of what could be, rounded up.
fn usage_percent(used_bytes: u64, available_bytes: u64, max_disk_bytes: Option<u64>) -> u64 {
    let total = used_bytes.saturating_add(available_bytes).min(max_disk_bytes.unwrap_or(u64::MAX));
    let percent = (u128::from(used_bytes) * 100).div_ceil(u128::from(total.max(1)));
    u64::try_from(percent).unwrap_or(u64::MAX)
}

/// The tables by name, for lines in the log.
pub fn names(tables: impl Fn() -> Vec<Arc<basalt_model::Table>> + Send + Sync + 'static) -> NameOf {
    Box::new(move |id| {
        let table = tables().into_iter().find(|table| table.id == id)?;
        Some(format!("{}.{}", table.keyspace, table.name))
    })
}

#[cfg(test)]
mod tests;
