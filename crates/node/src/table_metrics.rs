//! What reads and writes of each table cost, for `system_views` (`TableMetrics`, as far as `TableMetricTables` shows it): times at
//! the coordinator and at the replica, rows and tombstones of reads.
//!
//! Each reactor records into a shard of its own, whose lock nobody else wants but who reads the tables; all other threads, which may
//! wait, share one. What a shard holds is bounded: [`TABLE_BYTES_MAX`] for a table, and only for what happened to it there.

mod reservoir;

use std::cell::Cell;
use std::collections::HashMap;

use basalt_coordinator::Observer;
use basalt_model::TableId;
use basalt_model::env::SharedEnv;
use foldhash::fast::RandomState;
use parking_lot::Mutex;

pub use reservoir::Snapshot;
use reservoir::{Meter, Reservoir, STEP_NANOS};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Timed {
    /// Reads of one partition, at the replica.
    LocalRead = 0,
    /// Reads of a range, at the replica.
    LocalScan = 1,
    /// Writes, at the replica.
    LocalWrite = 2,
    /// Reads of partitions, at the coordinator.
    CoordinatorRead = 3,
    /// Reads of a range, at the coordinator.
    CoordinatorScan = 4,
    /// Writes, at the coordinator.
    CoordinatorWrite = 5,
}

const TIMED: usize = 6;

/// What is counted for each read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counted {
    /// `tombstones_per_read`.
    Tombstones = 0,
    /// `rows_per_read`.
    Rows = 1,
}

const COUNTED: usize = 2;

/// Times are kept in units of so many nanoseconds: buckets reach from there to a minute.
const TIME_UNIT_BITS: u32 = 8;

struct Timer {
    times: Reservoir,
    rate: Meter,
}

/// What happened to a table in one shard; nothing is held for what did not.
#[derive(Default)]
struct OfTable {
    timers: [Option<Box<Timer>>; TIMED],
    counts: [Option<Box<Reservoir>>; COUNTED],
}

/// The most that a shard holds of one table, bytes.
pub const TABLE_BYTES_MAX: usize =
    size_of::<OfTable>() + TIMED * size_of::<Timer>() + COUNTED * size_of::<Reservoir>();

const _: () = assert!(TABLE_BYTES_MAX < 8 << 10);

impl OfTable {
    fn time(&mut self, what: Timed, nanos: u64, step: u64) {
        let new = || Box::new(Timer { times: Reservoir::new(step), rate: Meter::new(step) });
        let timer = self.timers[what as usize].get_or_insert_with(new);
        timer.times.record(nanos >> TIME_UNIT_BITS, step);
        timer.rate.mark(step);
    }

    fn count(&mut self, what: Counted, value: u32, step: u64) {
        let counts = self.counts[what as usize].get_or_insert_with(|| Box::new(Reservoir::new(step)));
        counts.record(u64::from(value), step);
    }
}

type Tables = HashMap<TableId, OfTable, RandomState>;
type Shard = Mutex<Tables>;

/// What all tables' reads and writes cost.
pub struct TableMetrics {
    env: SharedEnv,
    shards: Box<[Shard]>,
}

thread_local! {
    /// Which shard this thread records into; the first one is everybody's.
    static SHARD: Cell<usize> = const { Cell::new(0) };
}

/// Makes this thread a reactor's: it has a shard of its own from now on.
pub fn enter_reactor(index: usize) {
    SHARD.set(index + 1);
}

/// What is known of the times of one kind, of one table.
pub struct Times {
    /// Units of 256 ns: see [`Times::millis`].
    pub snapshot: Snapshot,
    /// Over five minutes.
    pub per_second: f64,
}

impl Times {
    /// A value of the snapshot in milliseconds.
    pub fn millis(value: u64) -> f64 {
        (((value + 1) << TIME_UNIT_BITS) - 1) as f64 / 1e6
    }
}

impl TableMetrics {
    /// Of nothing yet.
    pub fn new(env: SharedEnv, reactors: usize) -> TableMetrics {
        TableMetrics { env, shards: (0..=reactors).map(|_| Shard::default()).collect() }
    }

    /// A clock reading to begin with, nanoseconds.
    pub fn begin(&self) -> u64 {
        self.env.monotonic_nanos()
    }

    fn with(&self, now_nanos: u64, record: impl FnOnce(&mut Tables, u64)) {
        let shard = self.shards.get(SHARD.get()).or(self.shards.first());
        if let Some(shard) = shard {
            record(&mut shard.lock(), now_nanos / STEP_NANOS);
        }
    }

    /// A replica has read: live rows, static ones too, and tombstones are those it met.
    pub fn read(&self, table: TableId, began_nanos: u64, is_range: bool, rows: u32, tombstones: u32) {
        let now = self.env.monotonic_nanos();
        let nanos = now.saturating_sub(began_nanos);
        let what = if is_range { Timed::LocalScan } else { Timed::LocalRead };
        self.with(now, |tables, step| {
            let table = tables.entry(table).or_default();
            table.time(what, nanos, step);
            table.count(Counted::Rows, rows, step);
            table.count(Counted::Tombstones, tombstones, step);
        });
    }

    fn time_all(&self, tables: &[TableId], what: Timed, began_nanos: u64) {
        let now = self.env.monotonic_nanos();
        let nanos = now.saturating_sub(began_nanos);
        self.with(now, |known, step| {
            for table in tables {
                known.entry(*table).or_default().time(what, nanos, step);
            }
        });
    }

    /// A replica has written to these tables.
    pub fn wrote(&self, tables: &[TableId], began_nanos: u64) {
        self.time_all(tables, Timed::LocalWrite, began_nanos);
    }

    /// Forgets tables that are not there any more.
    pub fn keep(&self, is_there: impl Fn(TableId) -> bool) {
        for shard in &self.shards {
            shard.lock().retain(|table, _| is_there(*table));
        }
    }

    /// Whether anything happened to a table.
    pub fn knows(&self, table: TableId) -> bool {
        self.shards.iter().any(|shard| shard.lock().contains_key(&table))
    }

    /// What is known of a table's times.
    pub fn times(&self, table: TableId, what: Timed) -> Times {
        let step = self.env.monotonic_nanos() / STEP_NANOS;
        let mut times = Times { snapshot: Snapshot::default(), per_second: 0.0 };
        for shard in &self.shards {
            let tables = shard.lock();
            if let Some(timer) = tables.get(&table).and_then(|table| table.timers[what as usize].as_ref()) {
                times.snapshot.add(&timer.times);
                times.per_second += timer.rate.per_second(step);
            }
        }
        times
    }

    /// What is known of a table's reads.
    pub fn counts(&self, table: TableId, what: Counted) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for shard in &self.shards {
            let tables = shard.lock();
            if let Some(counts) = tables.get(&table).and_then(|table| table.counts[what as usize].as_ref()) {
                snapshot.add(counts);
            }
        }
        snapshot
    }
}

impl Observer for TableMetrics {
    fn read(&self, table: TableId, is_range: bool, began_nanos: u64) {
        let what = if is_range { Timed::CoordinatorScan } else { Timed::CoordinatorRead };
        self.time_all(&[table], what, began_nanos);
    }

    fn wrote(&self, tables: &[TableId], began_nanos: u64) {
        self.time_all(tables, Timed::CoordinatorWrite, began_nanos);
    }

    fn begin(&self) -> u64 {
        self.env.monotonic_nanos()
    }
}

#[cfg(test)]
mod tests;
