//! Increments over a replica that is told when to apply: whatever is late, lost or given up, none is lost that
//! was applied, and none is counted twice.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Waker};

use basalt_model::command::ReadPage;
use basalt_model::schema::{ClusteringOrder, ColumnKind, TableOptions};
use basalt_model::{Column, DecoratedKey, Deletion, TableId};
use bytes::Bytes;
use parking_lot::Mutex as Lock;
use tokio::sync::oneshot;

use super::*;
use crate::testing::Clock;
use crate::{OnApplied, Replica, Reply, Timeouts};

const ID: CounterId = CounterId([7; 16]);
const N: ColumnId = ColumnId(4);
const S: ColumnId = ColumnId(3);

/// A write that was taken and not applied yet.
struct Taken {
    mutations: Vec<Mutation>,
    on_applied: OnApplied,
    sender: oneshot::Sender<Result<(), ReplicaError>>,
}

type Place = (Bytes, Option<Bytes>, ColumnId);

/// Keeps contexts; applies writes when the test says so.
#[derive(Default)]
struct Kept {
    cells: Lock<BTreeMap<Place, (i64, Bytes)>>,
    taken: Lock<Vec<Taken>>,
    reads: AtomicU64,
    rows_of_a_page: AtomicU64,
    reads_fail: AtomicBool,
}

fn clustering_of(row: &Row) -> Option<Bytes> {
    row.clustering.0.first().cloned().flatten()
}

impl Kept {
    fn store(&self, mutations: &[Mutation]) {
        let mut cells = self.cells.lock();
        for update in mutations.iter().flat_map(|mutation| &mutation.updates) {
            let statics = update.static_row.iter().map(|row| (None, row));
            for (row, cells_of) in statics.chain(update.rows.iter().map(|row| (clustering_of(row), row))) {
                for cell in &cells_of.cells {
                    let place = (update.key.key.clone(), row.clone(), cell.column);
                    cells.insert(place, (cell.timestamp, cell.value.clone()));
                }
            }
        }
    }

    /// The oldest write that waits.
    fn apply_next(&self) {
        let Taken { mutations, on_applied, sender } = self.taken.lock().remove(0);
        self.store(&mutations);
        on_applied();
        drop(sender.send(Ok(())));
    }

    fn fail_next(&self) {
        let Taken { sender, .. } = self.taken.lock().remove(0);
        drop(sender.send(Err(ReplicaError::Storage("told to fail".to_owned()))));
    }

    fn count(&self, partition: &'static str, row: Option<u8>) -> i64 {
        let row = row.map(|row| Bytes::copy_from_slice(&[row]));
        let column = if row.is_some() { N } else { S };
        let cells = self.cells.lock();
        cells
            .get(&(Bytes::from(partition), row, column))
            .map_or(0, |(_, context)| CounterContext::total(context))
    }
}

impl Replica for Kept {
    fn apply(&self, _mutations: Vec<Mutation>, _deadline: Deadline) -> Reply<()> {
        panic!("counters are applied with something to do afterwards")
    }

    fn apply_then(&self, mutations: Vec<Mutation>, _deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        let (sender, receiver) = oneshot::channel();
        self.taken.lock().push(Taken { mutations, on_applied, sender });
        Reply::Pending(receiver)
    }

    fn read(&self, command: ReadCommand, _deadline: Deadline) -> Reply<ReadPage> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.reads_fail.load(Ordering::Relaxed) {
            return Reply::ready(Err(ReplicaError::Storage("told to fail".to_owned())));
        }
        let ReadTarget::Partition { key, filter } = &command.target else { panic!("one partition") };
        let RowSelection::Names(names) = &filter.rows else { panic!("by name") };
        let ColumnFilter::Some(columns) = &command.columns else { panic!("some columns") };
        let columns = &columns.fetched;
        let cells = self.cells.lock();
        let row = |clustering: Clustering, name: Option<Bytes>| {
            let mut row = Row::new(clustering);
            for column in columns {
                let value = cells.get(&(key.key.clone(), name.clone(), *column));
                row.cells.extend(value.map(|(time, value)| Cell::live(*column, None, *time, value.clone())));
            }
            (!row.cells.is_empty()).then_some(row)
        };
        let static_row = if names.is_empty() { row(Clustering::empty(), None) } else { None };
        let mut rows: Vec<Row> =
            names.iter().filter_map(|name| row(name.clone(), name.0.first().cloned().flatten())).collect();
        let limit = usize::try_from(self.rows_of_a_page.load(Ordering::Relaxed)).unwrap();
        let stopped_early = limit > 0 && rows.len() >= limit;
        if stopped_early {
            rows.truncate(limit);
        }
        let partitions = vec![PartitionRows { key: key.clone(), static_row, rows, packed: None }];
        Reply::ready(Ok(ReadPage { partitions, stopped_early, tombstones: None }))
    }

    fn truncate(&self, _table: TableId, _deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        self.cells.lock().clear();
        on_truncated();
        Reply::ready(Ok(()))
    }
}

struct World {
    clock: Arc<Clock>,
    replica: Arc<Kept>,
    coordinator: Coordinator,
    table: Arc<Table>,
}

type Increment<'w> = Pin<Box<dyn Future<Output = Result<(), CqlError>> + 'w>>;

fn world(cache_bytes: usize) -> World {
    let (clock, replica) = (Arc::new(Clock::default()), Arc::new(Kept::default()));
    let counters = Counters::new(Arc::clone(&clock) as SharedEnv, ID, cache_bytes);
    let timeouts = Timeouts { read_ms: 5, range_ms: 5, write_ms: 2, counter_write_ms: 4, truncate_ms: 60 };
    let coordinator = Coordinator::new(Arc::clone(&replica) as Arc<dyn Replica>, "dc1".into(), counters)
        .with_timeouts(Arc::clone(&clock) as SharedEnv, timeouts);
    World { clock, replica, coordinator, table: table() }
}

fn table() -> Arc<Table> {
    let column = |name: &str, data_type, kind, id| Column {
        name: name.into(),
        data_type,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    };
    Arc::new(Table {
        id: TableId(uuid::Uuid::from_u128(7)),
        keyspace: "ks".into(),
        name: "t".into(),
        columns: vec![
            column("k", DataType::Blob, ColumnKind::PartitionKey, 1),
            column("c", DataType::Blob, ColumnKind::Clustering, 2),
            column("s", DataType::Counter, ColumnKind::Static, S.0),
            column("n", DataType::Counter, ColumnKind::Regular, N.0),
        ],
        partition_key_count: 1,
        clustering_count: 1,
        static_count: 1,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: vec!["compound".to_owned(), "counter".to_owned()],
        is_virtual: false,
        compact: None,
    })
}

fn replication() -> Replication {
    let map = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    Replication::from_map(&map.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

fn poll<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>) -> Poll<T> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

impl World {
    /// Of one partition: of its rows, and of the static row without one.
    fn mutation(&self, partition: &'static str, increments: &[(Option<u8>, i64)]) -> (Mutation, Replication) {
        let key = DecoratedKey::new(Bytes::from(partition));
        let mut update = PartitionUpdate::new(Arc::clone(&self.table), key.clone());
        for &(row, increment) in increments {
            let value = CounterContext::update(increment).to_bytes();
            let clustering = Clustering::from_values(row.map(|row| Bytes::copy_from_slice(&[row])));
            let mut written = Row::new(clustering);
            let column = if row.is_some() { N } else { S };
            written.cells.push(Cell::live(column, None, 5, value));
            match row {
                Some(_) => update.rows.push(written),
                None => update.static_row = Some(written),
            }
        }
        (Mutation { keyspace: "ks".into(), key, updates: vec![update] }, replication())
    }

    fn add(&self, partition: &'static str, row: u8, increment: i64) -> Increment<'_> {
        let mutations = vec![self.mutation(partition, &[(Some(row), increment)])];
        Box::pin(self.coordinator.write_counters(mutations, Consistency::One))
    }

    /// Begins it, applies it, ends it.
    fn add_now(&self, partition: &'static str, row: u8, increment: i64) {
        let mut add = self.add(partition, row, increment);
        assert!(poll(&mut add).is_pending());
        self.replica.apply_next();
        assert_eq!(poll(&mut add), Poll::Ready(Ok(())));
    }

    fn pass(&self, millis: u64) {
        self.clock.nanos.fetch_add(millis * 1_000_000, Ordering::Relaxed);
    }

    fn waiting(&self) -> usize {
        self.replica.taken.lock().len()
    }
}

fn timed_out(result: &Poll<Result<(), CqlError>>) -> bool {
    matches!(result, Poll::Ready(Err(CqlError::WriteTimeout { write_type: WriteType::Counter, .. })))
}

#[test]
fn one_builds_on_the_other() {
    for cache_bytes in [0, 1 << 20] {
        let world = world(cache_bytes);
        let (mut first, mut second) = (world.add("p", 1, 5), world.add("p", 1, 2));
        assert!(poll(&mut first).is_pending());
        assert!(poll(&mut second).is_pending());
        assert_eq!(world.waiting(), 1, "the second one waits for its turn");
        world.replica.apply_next();
        assert!(poll(&mut second).is_pending());
        world.replica.apply_next();
        assert_eq!((poll(&mut first), poll(&mut second)), (Poll::Ready(Ok(())), Poll::Ready(Ok(()))));
        assert_eq!(world.replica.count("p", Some(1)), 7);
        let reads = world.replica.reads.load(Ordering::Relaxed);
        assert_eq!(reads, if cache_bytes == 0 { 2 } else { 1 }, "what was counted is remembered");
    }
}

/// The client was told of a timeout; the write may still come, and nobody builds on what was before it.
#[test]
fn a_write_that_nobody_waits_for_is_still_waited_for() {
    let world = world(1 << 20);
    let (mut late, mut gone, mut next) = (world.add("p", 1, 5), world.add("q", 1, 5), world.add("p", 1, 2));
    assert!(poll(&mut late).is_pending());
    assert!(poll(&mut gone).is_pending());
    drop(gone);
    world.pass(4);
    assert!(timed_out(&poll(&mut late)));
    drop(late);
    assert!(poll(&mut next).is_pending());
    let mut after_gone = world.add("q", 1, 1);
    assert!(poll(&mut after_gone).is_pending());
    assert_eq!(world.waiting(), 2, "the ones that were given up");
    world.replica.apply_next();
    world.replica.apply_next();
    assert!(poll(&mut next).is_pending());
    assert!(poll(&mut after_gone).is_pending());
    world.replica.apply_next();
    world.replica.apply_next();
    assert_eq!(poll(&mut next), Poll::Ready(Ok(())));
    assert_eq!(poll(&mut after_gone), Poll::Ready(Ok(())));
    assert_eq!((world.replica.count("p", Some(1)), world.replica.count("q", Some(1))), (7, 6));
}

#[test]
fn who_waits_too_long_for_a_turn_writes_nothing() {
    let world = world(1 << 20);
    let (mut first, mut second) = (world.add("p", 1, 5), world.add("p", 1, 2));
    assert!(poll(&mut first).is_pending());
    assert!(poll(&mut second).is_pending());
    world.pass(4);
    assert!(timed_out(&poll(&mut second)));
    world.replica.apply_next();
    assert_eq!(poll(&mut first), Poll::Ready(Ok(())));
    assert_eq!(world.waiting(), 0);
    world.add_now("p", 1, 1);
    assert_eq!(world.replica.count("p", Some(1)), 6);
}

#[test]
fn after_a_failure_the_count_is_read_again() {
    let world = world(1 << 20);
    world.add_now("p", 1, 5);
    let mut failing = world.add("p", 1, 100);
    assert!(poll(&mut failing).is_pending());
    world.replica.fail_next();
    assert!(matches!(poll(&mut failing), Poll::Ready(Err(CqlError::WriteFailure { .. }))));
    let reads = world.replica.reads.load(Ordering::Relaxed);
    world.add_now("p", 1, 2);
    assert_eq!(world.replica.count("p", Some(1)), 7);
    assert_eq!(world.replica.reads.load(Ordering::Relaxed), reads + 1);

    world.replica.reads_fail.store(true, Ordering::Relaxed);
    let mut unread = world.add("other", 1, 1);
    assert!(matches!(poll(&mut unread), Poll::Ready(Err(CqlError::WriteFailure { .. }))));
    assert_eq!(world.waiting(), 0, "what is not known is not counted");
}

#[test]
fn truncated_tables_are_counted_from_nothing() {
    let world = world(1 << 20);
    world.add_now("p", 1, 5);
    let mut truncate: Pin<Box<dyn Future<Output = _>>> = Box::pin(world.coordinator.truncate(world.table.id));
    assert_eq!(poll(&mut truncate), Poll::Ready(Ok(())));
    world.add_now("p", 1, 2);
    assert_eq!(world.replica.count("p", Some(1)), 2);
}

/// Batches over the same partitions, named in any order, wait for each other and never for ever.
#[test]
fn batches_over_the_same_partitions_follow_each_other() {
    let world = world(0);
    let batch = |partitions: [&'static str; 3]| -> Increment<'_> {
        let of = |partition| world.mutation(partition, &[(None, 1), (Some(1), 10), (Some(2), 100)]);
        Box::pin(world.coordinator.write_counters(partitions.map(of).into(), Consistency::One))
    };
    let mut batches = [batch(["a", "b", "c"]), batch(["c", "b", "a"]), batch(["b", "c", "a"])];
    for _ in 0..3 {
        assert!(batches.iter_mut().all(|batch| poll(batch).is_pending()));
        assert_eq!(world.waiting(), 1, "the others wait for their turn");
        world.replica.apply_next();
        // Who is done must not be asked again.
        let done = batches.iter_mut().position(|batch| poll(batch).is_ready()).unwrap();
        batches[done] = Box::pin(std::future::pending());
    }
    for partition in ["a", "b", "c"] {
        let rows = [None, Some(1), Some(2)].map(|row| world.replica.count(partition, row));
        assert_eq!(rows, [3, 30, 300]);
    }
}

#[test]
fn rows_of_several_pages_are_all_read() {
    let world = world(0);
    world.replica.rows_of_a_page.store(2, Ordering::Relaxed);
    for _ in 0..2 {
        let increments: Vec<_> = (1..=7).map(|row| (Some(row), i64::from(row))).collect();
        let mutations = vec![world.mutation("p", &increments)];
        let mut add: Increment<'_> = Box::pin(world.coordinator.write_counters(mutations, Consistency::One));
        assert!(poll(&mut add).is_pending());
        world.replica.apply_next();
        assert_eq!(poll(&mut add), Poll::Ready(Ok(())));
    }
    for row in 1..=7 {
        assert_eq!(world.replica.count("p", Some(row)), 2 * i64::from(row), "row {row}");
    }
}

/// The clock is the microsecond, or one more than it was; what other nodes counted is left to them.
#[test]
fn clocks_grow_and_shards_of_others_are_not_written() {
    let world = world(0);
    let other = CounterContext::global(CounterId([9; 16]), 1_000_000, 50);
    let mut stored = CounterContext::global(ID, 4_000, 7);
    stored.merge(&other);
    let place = (Bytes::from("p"), Some(Bytes::from_static(&[1])), N);
    world.replica.cells.lock().insert(place.clone(), (1, stored.to_bytes()));
    world.add_now("p", 1, 2);
    let written = CounterContext::parse(&world.replica.cells.lock()[&place].1).unwrap();
    assert_eq!(written, CounterContext::global(ID, 4_001, 9));
    world.add_now("p", 2, 1);
    let fresh = (Bytes::from("p"), Some(Bytes::from_static(&[2])), N);
    let written = CounterContext::parse(&world.replica.cells.lock()[&fresh].1).unwrap();
    assert_eq!(written, CounterContext::global(ID, 1_000, 1));
}

/// Then no deletion takes the newer count and leaves the older.
#[test]
fn write_times_never_go_back() {
    for cache_bytes in [0, 1 << 20] {
        let world = world(cache_bytes);
        for (timestamp, expected) in [(100, 100), (200, 200), (50, 200), (201, 201)] {
            let (mut mutation, replication) = world.mutation("p", &[(Some(1), 1)]);
            mutation.updates[0].rows[0].cells[0].timestamp = timestamp;
            let mut add: Increment<'_> =
                Box::pin(world.coordinator.write_counters(vec![(mutation, replication)], Consistency::One));
            assert!(poll(&mut add).is_pending());
            let written = world.replica.taken.lock()[0].mutations[0].updates[0].rows[0].cells[0].timestamp;
            assert_eq!(written, expected);
            world.replica.apply_next();
            assert_eq!(poll(&mut add), Poll::Ready(Ok(())));
        }
    }
}

#[test]
fn deletions_alone_need_no_turn() {
    let world = world(0);
    let mut first = world.add("p", 1, 5);
    assert!(poll(&mut first).is_pending());
    let (mut mutation, replication) = world.mutation("p", &[]);
    mutation.updates[0].deletion = Deletion { timestamp: 1, local_time_s: 1 };
    let mut delete: Increment<'_> =
        Box::pin(world.coordinator.write_counters(vec![(mutation, replication)], Consistency::One));
    assert!(poll(&mut delete).is_pending());
    assert_eq!(world.waiting(), 2);
}

#[test]
fn what_is_remembered_is_bounded() {
    let world = world(STRIPES * 200);
    for row in 1..=20 {
        world.add_now("p", row, 1);
    }
    let reads = world.replica.reads.load(Ordering::Relaxed);
    world.add_now("p", 20, 1);
    assert_eq!(world.replica.reads.load(Ordering::Relaxed), reads, "the last one is remembered");
    world.add_now("p", 1, 1);
    assert_eq!(world.replica.reads.load(Ordering::Relaxed), reads + 1, "the first one is not");
    assert_eq!(world.replica.count("p", Some(1)), 2);
}
