//! Counters (`db/CounterMutation`): whoever changes those of a partition takes what this node has counted so
//! far, adds, and writes the sum, with nobody else doing the same in between. Knows no layout of rows on disk.
//!
//! What this node has counted is remembered for a while (`CacheService.counterCache`). A lock guards a part
//! of the partitions and what is remembered of them, and is held until the engine has the write, whoever
//! still waits for it: the next one cannot build on a count that is about to change.

mod remembered;

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, PartitionRows, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::deletion::NO_TIMESTAMP;
use basalt_model::env::SharedEnv;
use basalt_model::error::WriteType;
use basalt_model::{
    Cell, Clustering, ColumnId, Consistency, CounterContext, CounterId, CqlError, DataType, Deadline,
    Mutation, PartitionUpdate, ReadCommand, Row, Table,
};
use basalt_ring::Replication;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::consistency::Placement;
use crate::observer::tables_of;
use crate::{Coordinator, ReplicaError};
use remembered::{CounterKey, Remembered};

/// Partitions share this many locks.
const STRIPES: usize = 1024;

/// What one node has counted (`db/ClockAndCount`), and when that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockAndCount {
    clock: i64,
    count: i64,
    /// Microseconds, as the client or the coordinator gave them.
    timestamp: i64,
}

impl ClockAndCount {
    const BLANK: ClockAndCount = ClockAndCount { clock: 0, count: 0, timestamp: NO_TIMESTAMP };
}

/// What counting needs.
pub struct Counters {
    env: SharedEnv,
    id: CounterId,
    stripes: Box<[Arc<Mutex<Remembered>>]>,
    stripe_bytes: usize,
    /// What was remembered before a truncation is not so any more.
    truncations: AtomicU64,
}

impl Counters {
    /// Counts under `id`. Counts that take `cache_bytes` are remembered; with 0 none is.
    pub fn new(env: SharedEnv, id: CounterId, cache_bytes: usize) -> Counters {
        let stripes = (0..STRIPES).map(|_| Arc::default()).collect();
        Counters { env, id, stripes, stripe_bytes: cache_bytes / STRIPES, truncations: AtomicU64::new(0) }
    }

    /// Told when a table was truncated, before anyone is told.
    pub(crate) fn forget(&self) {
        self.truncations.fetch_add(1, Ordering::AcqRel);
    }

    fn stripe_of(&self, update: &PartitionUpdate) -> usize {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let hash = hasher.hash_one((update.table.id, update.key.token.0));
        usize::try_from(hash % STRIPES as u64).unwrap_or(0)
    }

    /// Waits until no other increment is at work on any of the partitions.
    async fn lock(&self, mutations: &[Mutation], deadline: Deadline) -> Result<Held, ReplicaError> {
        let updates = mutations.iter().flat_map(|mutation| &mutation.updates);
        let counting = updates.filter(|update| is_counting(update));
        let mut indexes: Vec<usize> = counting.map(|update| self.stripe_of(update)).collect();
        // In order and each once, so that two never wait for each other.
        indexes.sort_unstable();
        indexes.dedup();
        let truncations = self.truncations.load(Ordering::Acquire);
        let mut stripes = Vec::with_capacity(indexes.len());
        for index in indexes {
            let lock = Arc::clone(&self.stripes[index]).lock_owned();
            let mut remembered = self.until(deadline, lock).await?;
            remembered.forget_before(truncations);
            stripes.push((index, remembered));
        }
        Ok(Held { stripes })
    }

    /// Like a reply, waiting for a lock ends at the first poll behind the deadline.
    async fn until<T>(&self, deadline: Deadline, lock: impl Future<Output = T>) -> Result<T, ReplicaError> {
        let mut lock = pin!(lock);
        poll_fn(|context| match lock.as_mut().poll(context) {
            Poll::Ready(guard) => Poll::Ready(Ok(guard)),
            Poll::Pending if deadline.has_passed(&*self.env) => Poll::Ready(Err(ReplicaError::TimedOut)),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}

/// Locks that are held, ascending.
struct Held {
    stripes: Vec<(usize, OwnedMutexGuard<Remembered>)>,
}

impl Held {
    fn remembered(&mut self, stripe: usize) -> Option<&mut Remembered> {
        let at = self.stripes.binary_search_by_key(&stripe, |(index, _)| *index).ok()?;
        self.stripes.get_mut(at).map(|(_, remembered)| &mut **remembered)
    }
}

/// A count that is being written.
struct Counted {
    stripe: usize,
    key: CounterKey,
    value: ClockAndCount,
}

/// The counters an update changes, with their rows: the static row, which has no name, then as the rows stand.
fn marks(update: &mut PartitionUpdate) -> impl Iterator<Item = (Option<&Clustering>, &mut Cell)> {
    let table = &*update.table;
    let statics = update.static_row.iter_mut().flat_map(|row| marks_of(table, row, true));
    statics.chain(update.rows.iter_mut().flat_map(|row| marks_of(table, row, false)))
}

fn marks_of<'u>(
    table: &'u Table,
    row: &'u mut Row,
    is_static: bool,
) -> impl Iterator<Item = (Option<&'u Clustering>, &'u mut Cell)> {
    let clustering = (!is_static).then_some(&row.clustering);
    let is_counter = |id| table.column_by_id(id).is_some_and(|column| column.data_type == DataType::Counter);
    let cells = row.cells.iter_mut().filter(move |cell| !cell.is_tombstone() && is_counter(cell.column));
    cells.map(move |cell| (clustering, cell))
}

fn is_counting(update: &PartitionUpdate) -> bool {
    let rows = update.static_row.iter().chain(&update.rows);
    update.table.is_counter() && rows.flat_map(|row| &row.cells).any(|cell| !cell.is_tombstone())
}

impl Coordinator {
    /// Refuses a write of counters whose level is impossible.
    ///
    /// # Errors
    /// `Invalid`, `Unavailable`.
    pub fn check_counter_write(
        &self,
        replication: &Replication,
        consistency: Consistency,
    ) -> Result<(), CqlError> {
        let placement = Placement { replication, datacenter: &self.datacenter };
        if placement.live() == 0 {
            // Nobody could count, not even for ANY.
            let required = placement.block_for(consistency);
            return Err(CqlError::Unavailable { consistency, required, alive: 0, datacenter: None });
        }
        placement.check_live(consistency)
    }

    /// Counts, and applies all mutations as one atomic step, each with its keyspace's replication. The values
    /// of counters in them are increments ([`CounterContext::update`]).
    ///
    /// # Errors
    /// What the client is told; nothing was written then, unless the storage failed or was too slow.
    pub async fn write_counters(
        &self,
        mutations: Vec<(Mutation, Replication)>,
        consistency: Consistency,
    ) -> Result<(), CqlError> {
        for (_, replication) in &mutations {
            self.check_counter_write(replication, consistency)?;
        }
        let Some((first, replication)) = mutations.first() else { return Ok(()) };
        let (keyspace, replication) = (Arc::clone(&first.keyspace), replication.clone());
        let mutations: Vec<Mutation> = mutations.into_iter().map(|(mutation, _)| mutation).collect();
        let placement = Placement { replication: &replication, datacenter: &self.datacenter };
        let (began_nanos, tables) = (self.begin(), tables_of(&mutations));
        let counted = self.count(mutations).await;
        self.has_written(&tables, began_nanos);
        counted
            .map_err(|error| self.write_error(error, placement, &keyspace, consistency, WriteType::Counter))
    }

    async fn count(&self, mut mutations: Vec<Mutation>) -> Result<(), ReplicaError> {
        let counters = &self.counters;
        let deadline = self.deadline(|timeouts| timeouts.counter_write_ms);
        let mut held = counters.lock(&mutations, deadline).await?;
        let mut counted = Vec::new();
        for update in mutations.iter_mut().flat_map(|mutation| &mut mutation.updates) {
            if is_counting(update) {
                self.count_update(update, &mut held, &mut counted, deadline).await?;
            }
        }
        let stripe_bytes = counters.stripe_bytes;
        let on_applied = Box::new(move || {
            for Counted { stripe, key, value } in counted {
                if let Some(remembered) = held.remembered(stripe) {
                    remembered.put(key, value, stripe_bytes);
                }
            }
        });
        self.until(deadline, self.replica.apply_then(mutations, deadline, on_applied)).await
    }

    /// Puts what this node has counted with the increment in the place of each increment.
    async fn count_update(
        &self,
        update: &mut PartitionUpdate,
        held: &mut Held,
        counted: &mut Vec<Counted>,
        deadline: Deadline,
    ) -> Result<(), ReplicaError> {
        let counters = &self.counters;
        let (table, partition) = (Arc::clone(&update.table), update.key.clone());
        let stripe = counters.stripe_of(update);
        // A row that may be named in several ways would be remembered under each of them.
        let is_kept = table.clustering().iter().all(|column| column.data_type.has_one_form());
        // Taken out: if the write fails, nobody knows what stands there.
        let mut take = |key: &CounterKey| held.remembered(stripe)?.take(key);
        let current: Vec<(Option<CounterKey>, Option<ClockAndCount>)> = marks(update)
            .map(|(row, cell)| {
                let key = is_kept.then(|| remembered::key(table.id, &partition, row, cell.column));
                let known = key.as_ref().and_then(&mut take);
                (key, known)
            })
            .collect();
        let found = match current.iter().any(|(_, known)| known.is_none()) {
            true => self.read_counts(update, deadline).await?,
            false => Found::default(),
        };
        let now_micros = counters.env.wall_micros();
        for ((row, cell), (key, known)) in marks(update).zip(current) {
            let current = match (known, found.cell(&table, row, cell.column)) {
                (Some(known), _) => known,
                (None, Some(stored)) => own_count(stored, counters.id)?,
                (None, None) => ClockAndCount::BLANK,
            };
            let value = ClockAndCount {
                clock: now_micros.max(current.clock.saturating_add(1)),
                count: current.count.wrapping_add(CounterContext::total(&cell.value)),
                // What holds more is never the older: a deletion takes both or leaves this one, whichever
                // of them it is merged with first.
                timestamp: cell.timestamp.max(current.timestamp),
            };
            cell.timestamp = value.timestamp;
            cell.value = CounterContext::global(counters.id, value.clock, value.count).to_bytes();
            counted.extend(key.map(|key| Counted { stripe, key, value }));
        }
        Ok(())
    }

    /// Reads the counters an update changes.
    async fn read_counts(
        &self,
        update: &mut PartitionUpdate,
        deadline: Deadline,
    ) -> Result<Found, ReplicaError> {
        let (mut statics, mut regulars, mut names) = (Vec::new(), Vec::new(), Vec::<Clustering>::new());
        for (row, cell) in marks(update) {
            let Some(row) = row else {
                statics.push(cell.column);
                continue;
            };
            regulars.push(cell.column);
            if names.last() != Some(row) {
                names.push(row.clone());
            }
        }
        let mut found = Found::default();
        if !statics.is_empty() {
            let page = self.read_rows(update, statics, Vec::new(), deadline).await?;
            found.static_row = page.0.and_then(|partition| partition.static_row);
        }
        while !names.is_empty() {
            let (page, stopped_early) =
                self.read_rows(update, regulars.clone(), names.clone(), deadline).await?;
            let rows = page.map(|partition| partition.rows).unwrap_or_default();
            // A page that is full goes on behind its last row.
            match rows.last().filter(|_| stopped_early) {
                Some(last) => {
                    names.retain(|name| update.table.compare_clusterings(name, &last.clustering).is_gt());
                }
                None => names.clear(),
            }
            found.rows.extend(rows);
        }
        Ok(found)
    }

    /// Counters of rows by name, or of the static row if there is no name; whether there is more.
    async fn read_rows(
        &self,
        update: &PartitionUpdate,
        mut columns: Vec<ColumnId>,
        names: Vec<Clustering>,
        deadline: Deadline,
    ) -> Result<(Option<PartitionRows>, bool), ReplicaError> {
        columns.sort_unstable();
        columns.dedup();
        let filter =
            ClusteringFilter { rows: RowSelection::Names(names), reversed: false, resume_after: None };
        let command = ReadCommand {
            table: Arc::clone(&update.table),
            now_s: self.counters.env.now_s(),
            columns: ColumnFilter::some(columns),
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target: ReadTarget::Partition { key: update.key.clone(), filter },
            layout: None,
        };
        let mut page = self.until(deadline, self.replica.read(command, deadline)).await?;
        Ok((page.partitions.pop(), page.stopped_early))
    }
}

/// What was read, rows ascending.
#[derive(Default)]
struct Found {
    static_row: Option<Row>,
    rows: Vec<Row>,
}

impl Found {
    fn cell(&self, table: &Table, clustering: Option<&Clustering>, column: ColumnId) -> Option<&Cell> {
        let Some(clustering) = clustering else { return self.static_row.as_ref()?.cell(column) };
        let order = |row: &Row| table.compare_clusterings(&row.clustering, clustering);
        let at = self.rows.binary_search_by(order).ok()?;
        self.rows.get(at)?.cell(column)
    }
}

/// What of a counter this node has counted.
fn own_count(cell: &Cell, id: CounterId) -> Result<ClockAndCount, ReplicaError> {
    let context = CounterContext::parse(&cell.value)
        .ok_or_else(|| ReplicaError::Storage("a stored counter is not one".to_owned()))?;
    let (clock, count) = context.shard(id).map_or((0, 0), |shard| (shard.clock, shard.count));
    Ok(ClockAndCount { clock, count, timestamp: cell.timestamp })
}

#[cfg(test)]
mod tests;
