//! This node's own data as the coordinator sees it: mutations and read commands over an engine. What
//! memory answers is answered at once, on the reactor; what would wait goes to the pool.

use std::sync::Arc;

use basalt_coordinator::{OnApplied, Replica, ReplicaError, Reply, TableIds, tables_of};
use basalt_model::command::{ReadPage, ReadTarget, RowSelection, TombstoneReport};
use basalt_model::env::SharedEnv;
use basalt_model::{Deadline, Mutation, ReadCommand, TableId};
use basalt_storage::commit::{Cause, Committer, OnCommitted, Submitted};
use basalt_storage::engine::{Engine, EngineError, ReadTier, WriteSet};
use basalt_storage::read::{PAGE_BYTES_MAX, ReadError, ReadOptions, ReadOutcome, read};
use basalt_storage::write::{WriteError, Writer};
use tokio::sync::oneshot;

use crate::disk::Disk;
use crate::pool::Pool;
use crate::snapshots::Snapshots;
use crate::table_metrics::TableMetrics;
use crate::table_storage::{not_kept, on_pool};
use crate::turn;

/// A read on a reactor that gathers more than this goes on elsewhere.
const REACTOR_PAGE_BYTES: usize = 128 << 10;

/// A read on a reactor that meets more tombstones than this goes on elsewhere.
const REACTOR_TOMBSTONES: u32 = 1_000;

/// A read over partitions that may return more rows than this does not begin on a reactor.
const REACTOR_RANGE_ROWS: u32 = 100;

/// This node's own data.
pub struct LocalReplica {
    env: SharedEnv,
    engine: Arc<dyn Engine>,
    writer: Arc<Writer>,
    committer: Arc<Committer>,
    pool: Arc<Pool>,
    disk: Arc<Disk>,
    snapshots: Option<Arc<Snapshots>>,
    thresholds: TombstoneThresholds,
    metrics: Arc<TableMetrics>,
}

/// `tombstone_warn_threshold` and `tombstone_failure_threshold`.
#[derive(Clone, Copy, Debug)]
pub struct TombstoneThresholds {
    /// A read that meets more is logged, and its client is warned.
    pub warn: u32,
    /// A read that meets more fails.
    pub failure: u32,
}

impl TombstoneThresholds {
    /// What counts for a table: this node's own keyspaces have none
    /// (`SchemaConstants.isLocalSystemKeyspace`).
    fn of(self, command: &ReadCommand) -> TombstoneThresholds {
        match &*command.table.keyspace {
            "system" | "system_schema" => TombstoneThresholds { warn: u32::MAX, failure: u32::MAX },
            _ => self,
        }
    }
}

impl LocalReplica {
    /// Over an engine; the thresholds are Cassandra's settings of those names.
    pub fn new(
        env: SharedEnv,
        engine: Arc<dyn Engine>,
        writer: Arc<Writer>,
        committer: Arc<Committer>,
        pool: Arc<Pool>,
        disk: Arc<Disk>,
        thresholds: TombstoneThresholds,
    ) -> LocalReplica {
        let metrics = Arc::new(TableMetrics::new(Arc::clone(&env), 0));
        LocalReplica { env, engine, writer, committer, pool, disk, snapshots: None, thresholds, metrics }
    }

    /// Records what reads and writes cost.
    pub fn recording(self, metrics: Arc<TableMetrics>) -> LocalReplica {
        LocalReplica { metrics, ..self }
    }

    /// Takes snapshots before data goes, where that is wished.
    pub fn keeping(self, snapshots: Arc<Snapshots>) -> LocalReplica {
        LocalReplica { snapshots: Some(snapshots), ..self }
    }

    /// Reads what memory holds; `None` when that is not enough, or takes too long for a reactor.
    fn read_on_reactor(&self, command: &ReadCommand) -> Option<Result<ReadPage, ReplicaError>> {
        if !is_short(command) {
            return None;
        }
        let began_nanos = self.metrics.begin();
        let thresholds = self.thresholds.of(command);
        let options = ReadOptions {
            tier: ReadTier::CacheOnly,
            page_bytes: REACTOR_PAGE_BYTES,
            tombstone_failure_threshold: REACTOR_TOMBSTONES.min(thresholds.failure),
            // It is short.
            is_over: None,
        };
        match read(&*self.engine, command, &options) {
            Ok(outcome) if is_cut_by_bytes(&outcome, command) => None,
            Ok(outcome) => {
                record(&self.metrics, command, began_nanos, &outcome);
                Some(Ok(page_of(outcome, command, thresholds)))
            }
            Err(ReadError::Engine(EngineError::WouldBlock) | ReadError::TombstoneOverwhelming { .. }) => None,
            Err(error) => Some(Err(read_error(&self.disk, error, command))),
        }
    }
}

/// Whether a read is worth trying on a reactor: rows by name or by slice of one partition, or few
/// rows of a range, nothing that may look at many rows to return few.
fn is_short(command: &ReadCommand) -> bool {
    let is_filtered = !command.row_filter.0.is_empty();
    match &command.target {
        ReadTarget::Partition { filter, .. } => !is_filtered || matches!(filter.rows, RowSelection::Names(_)),
        ReadTarget::Range { .. } => {
            !is_filtered && !command.limits.distinct && command.limits.rows <= REACTOR_RANGE_ROWS
        }
    }
}

/// Notes what a read cost (`ReadCommand.withMetricsRecording`).
fn record(metrics: &TableMetrics, command: &ReadCommand, began_nanos: u64, outcome: &ReadOutcome) {
    let is_range = matches!(command.target, ReadTarget::Range { .. });
    let rows = outcome.live_rows + outcome.static_rows;
    metrics.read(command.table.id, began_nanos, is_range, rows, outcome.tombstones);
}

/// Whether the page ended for its bytes, not for the rows asked for.
fn is_cut_by_bytes(outcome: &ReadOutcome, command: &ReadCommand) -> bool {
    outcome.page.stopped_early && outcome.live_rows < command.limits.rows
}

/// The page, with a line in the log if it cost many tombstones (`ReadCommand.onClose`).
fn page_of(outcome: ReadOutcome, command: &ReadCommand, thresholds: TombstoneThresholds) -> ReadPage {
    if outcome.tombstones > thresholds.warn {
        tracing::warn!(
            "Read {} live rows and {} tombstone cells of {}.{} (see tombstone_warn_threshold)",
            outcome.live_rows,
            outcome.tombstones,
            command.table.keyspace,
            command.table.name
        );
    }
    let ReadOutcome { mut page, tombstones, live_rows, static_rows, last_token } = outcome;
    if tombstones > thresholds.warn {
        let (command, live_rows) = (command.clone(), live_rows + static_rows);
        page.tombstones = Some(Box::new(TombstoneReport { command, tombstones, live_rows, last_token }));
    }
    page
}

fn read_error(disk: &Disk, error: ReadError, command: &ReadCommand) -> ReplicaError {
    match error {
        ReadError::Engine(error) => {
            if let EngineError::Corruption { .. } | EngineError::Io { .. } = &error {
                tracing::error!("A read of {}.{} failed", command.table.keyspace, command.table.name);
            }
            disk.replica_error(error)
        }
        ReadError::TombstoneOverwhelming { scanned } => ReplicaError::TombstoneOverwhelming { scanned },
        ReadError::TimedOut => ReplicaError::TimedOut,
        ReadError::Command(error) => ReplicaError::Storage(error.to_string()),
    }
}

fn write_error(disk: &Disk, error: WriteError) -> ReplicaError {
    match error {
        WriteError::TooLarge { bytes, limit_bytes } => ReplicaError::MutationTooLarge { bytes, limit_bytes },
        WriteError::Engine(error) => disk.replica_error(error),
        other => ReplicaError::Storage(other.to_string()),
    }
}

/// Whether a full disk refuses the mutation: a user's. Changes of the schema may be what frees space.
fn is_of_a_user(mutation: &Mutation) -> bool {
    let systems = ["system", "system_schema", "system_auth", "system_traces", "system_distributed"];
    !systems.contains(&&*mutation.keyspace)
}

impl LocalReplica {
    /// Work for the pool, unless its deadline passes while it is queued.
    fn on_pool<T: Send + 'static>(
        &self,
        deadline: Deadline,
        work: impl FnOnce() -> Result<T, ReplicaError> + Send + 'static,
    ) -> Reply<T> {
        let env = Arc::clone(&self.env);
        on_pool(&self.pool, move || {
            if deadline.has_passed(&*env) {
                return Err(ReplicaError::TimedOut);
            }
            work()
        })
    }
}

impl LocalReplica {
    fn write(
        &self,
        mutations: Vec<Mutation>,
        deadline: Deadline,
        on_applied: Option<OnApplied>,
    ) -> Reply<()> {
        let applied = Applied {
            began_nanos: self.metrics.begin(),
            tables: tables_of(&mutations),
            metrics: Arc::clone(&self.metrics),
            then: on_applied,
        };
        if self.disk.is_full() && mutations.iter().any(is_of_a_user) {
            self.committer.stalls().refused(Cause::DiskFull);
            return Reply::ready(Err(ReplicaError::DiskFull));
        }
        let mut set = WriteSet::new();
        if self.writer.waits(&mutations) {
            let (writer, committer) = (Arc::clone(&self.writer), Arc::clone(&self.committer));
            let disk = Arc::clone(&self.disk);
            return self.on_pool(deadline, move || {
                let encoded = writer.lock_and_encode(&mutations, &mut set);
                let _guards = encoded.map_err(|error| write_error(&disk, error))?;
                let committed = committer.commit(set).map_err(|error| disk.commit_error(error));
                committed.inspect(|()| applied.done())
            });
        }
        if let Err(error) = self.writer.encode(&mutations, &mut set) {
            return Reply::ready(Err(write_error(&self.disk, error)));
        }
        let mut later = None;
        let mut applied = Some(applied);
        let mut on_committed = || -> OnCommitted {
            let (sender, receiver) = oneshot::channel();
            later = Some(receiver);
            let (applied, disk) = (applied.take(), Arc::clone(&self.disk));
            Box::new(move |result| {
                let result = result.map_err(|error| disk.commit_error(error)).inspect(|()| done(applied));
                // Who asked may be gone: then nobody wants the answer.
                drop(sender.send(result));
            })
        };
        // Alone it would be a record of the log, and a call of the system.
        if self.committer.writes_at_once() && turn::gather(&mut set, &mut on_committed) {
            return later.map_or_else(|| Reply::ready(Err(ReplicaError::Closed)), Reply::Pending);
        }
        match self.committer.submit(&mut set, false, on_committed) {
            Ok(Submitted::Done) => {
                done(applied);
                Reply::ready(Ok(()))
            }
            Ok(Submitted::Queued) => match later {
                Some(receiver) => Reply::Pending(receiver),
                None => Reply::ready(Err(ReplicaError::Closed)),
            },
            Err(error) => Reply::ready(Err(self.disk.commit_error(error))),
        }
    }
}

/// What is to be done when a write is applied.
struct Applied {
    began_nanos: u64,
    tables: TableIds,
    metrics: Arc<TableMetrics>,
    then: Option<OnApplied>,
}

impl Applied {
    fn done(self) {
        self.metrics.wrote(&self.tables, self.began_nanos);
        if let Some(then) = self.then {
            then();
        }
    }
}

fn done(applied: Option<Applied>) {
    if let Some(applied) = applied {
        applied.done();
    }
}

impl Replica for LocalReplica {
    fn apply(&self, mutations: Vec<Mutation>, deadline: Deadline) -> Reply<()> {
        self.write(mutations, deadline, None)
    }

    fn end_turn(&self) -> bool {
        let gathered = turn::take();
        let is_something = !gathered.is_empty();
        self.committer.submit_all(gathered);
        is_something
    }

    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        self.write(mutations, deadline, Some(on_applied))
    }

    fn read(&self, command: ReadCommand, deadline: Deadline) -> Reply<ReadPage> {
        if let Some(answer) = self.read_on_reactor(&command) {
            return Reply::ready(answer);
        }
        let (engine, env) = (Arc::clone(&self.engine), Arc::clone(&self.env));
        let (disk, metrics) = (Arc::clone(&self.disk), Arc::clone(&self.metrics));
        let thresholds = self.thresholds.of(&command);
        self.on_pool(deadline, move || {
            let began_nanos = metrics.begin();
            let is_over = || deadline.has_passed(&*env);
            let options = ReadOptions {
                tier: ReadTier::All,
                page_bytes: PAGE_BYTES_MAX,
                tombstone_failure_threshold: thresholds.failure,
                is_over: Some(&is_over),
            };
            match read(&*engine, &command, &options) {
                Ok(outcome) => {
                    record(&metrics, &command, began_nanos, &outcome);
                    Ok(page_of(outcome, &command, thresholds))
                }
                Err(error) => {
                    if let ReadError::TombstoneOverwhelming { scanned } = &error {
                        tracing::error!(
                            "Scanned over {scanned} tombstones of {}.{}; query aborted (see tombstone_failure_threshold)",
                            command.table.keyspace,
                            command.table.name
                        );
                    }
                    Err(read_error(&disk, error, &command))
                }
            }
        })
    }

    fn truncate(&self, table: TableId, deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        let (engine, disk) = (Arc::clone(&self.engine), Arc::clone(&self.disk));
        let snapshots = self.snapshots.clone();
        self.on_pool(deadline, move || {
            let kept = snapshots.map_or(Ok(()), |snapshots| snapshots.before_truncate(table));
            kept.map_err(|error| not_kept(&disk, error))?;
            let truncated = engine.truncate_table(table).map_err(|error| disk.replica_error(error));
            truncated.inspect(|()| on_truncated())
        })
    }
}
