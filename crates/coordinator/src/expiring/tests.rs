//! What waits ends at its deadline, and only then; levels and write types are told.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyRange, ReadPage, ReadTarget, RowFilter,
};
use basalt_model::env::SharedEnv;
use basalt_model::error::WriteType;
use basalt_model::schema::{ColumnKind, TableOptions};
use basalt_model::{
    Consistency, CounterId, CqlError, Deadline, DecoratedKey, Mutation, ReadCommand, TableId,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::*;
use crate::testing::Clock;
use crate::{Coordinator, Counters, OnApplied, Replica, Replication};

type Senders<T> = Mutex<Vec<oneshot::Sender<Result<T, ReplicaError>>>>;

/// A replica that answers when the test does, and notes the deadlines it was given.
#[derive(Default)]
struct Slow {
    reads: Senders<ReadPage>,
    writes: Senders<()>,
    deadlines: Mutex<Vec<Deadline>>,
}

impl Slow {
    fn later<T>(&self, senders: &Senders<T>, deadline: Deadline) -> Reply<T> {
        let (sender, receiver) = oneshot::channel();
        senders.lock().push(sender);
        self.deadlines.lock().push(deadline);
        Reply::Pending(receiver)
    }
}

impl Replica for Slow {
    fn apply(&self, _mutations: Vec<Mutation>, deadline: Deadline) -> Reply<()> {
        self.later(&self.writes, deadline)
    }

    fn read(&self, _command: ReadCommand, deadline: Deadline) -> Reply<ReadPage> {
        self.later(&self.reads, deadline)
    }

    fn apply_then(&self, _mutations: Vec<Mutation>, deadline: Deadline, _on_applied: OnApplied) -> Reply<()> {
        self.later(&self.writes, deadline)
    }

    fn truncate(&self, _table: TableId, deadline: Deadline, _on_truncated: OnApplied) -> Reply<()> {
        self.later(&self.writes, deadline)
    }
}

struct World {
    clock: Arc<Clock>,
    replica: Arc<Slow>,
    coordinator: Coordinator,
}

fn world() -> World {
    let (clock, replica) = (Arc::new(Clock::default()), Arc::new(Slow::default()));
    let timeouts = Timeouts { read_ms: 5, range_ms: 10, write_ms: 2, counter_write_ms: 4, truncate_ms: 60 };
    let counters = Counters::new(Arc::clone(&clock) as SharedEnv, CounterId([7; 16]), 0);
    let coordinator =
        Coordinator::new(Arc::clone(&replica) as Arc<dyn Replica>, "datacenter1".into(), counters)
            .with_timeouts(Arc::clone(&clock) as SharedEnv, timeouts);
    World { clock, replica, coordinator }
}

fn replication() -> Replication {
    let map = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    Replication::from_map(&map.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

fn key() -> DecoratedKey {
    DecoratedKey::new(bytes::Bytes::from_static(b"k"))
}

fn command(target: ReadTarget) -> ReadCommand {
    let column = basalt_model::Column {
        name: "k".into(),
        data_type: basalt_model::DataType::Blob,
        kind: ColumnKind::PartitionKey,
        position: 0,
        order: Default::default(),
        id: basalt_model::ColumnId(1),
        mask: None,
    };
    let table = basalt_model::Table {
        id: table_id(),
        keyspace: "ks".into(),
        name: "t".into(),
        columns: vec![column],
        partition_key_count: 1,
        clustering_count: 0,
        static_count: 0,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: Vec::new(),
        compact: None,
        is_virtual: false,
    };
    ReadCommand {
        table: Arc::new(table),
        now_s: 0,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        limits: DataLimits::NONE,
        target,
        layout: None,
    }
}

fn table_id() -> TableId {
    TableId(uuid::Uuid::from_u128(1))
}

impl World {
    /// Polls until the clock shows `timeout_ms`: the request waits before, and ends then.
    fn ends_after<T>(&self, timeout_ms: u64, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        let mut context = Context::from_waker(Waker::noop());
        let begin = self.clock.nanos.load(Ordering::Relaxed);
        assert!(request.as_mut().poll(&mut context).is_pending());
        self.clock.nanos.store(begin + timeout_ms * 1_000_000 - 1, Ordering::Relaxed);
        assert!(request.as_mut().poll(&mut context).is_pending(), "a nanosecond is left");
        self.clock.nanos.store(begin + timeout_ms * 1_000_000, Ordering::Relaxed);
        match request.as_mut().poll(&mut context) {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("still waiting after {timeout_ms} ms"),
        }
    }

    fn write(&self, write_type: WriteType) -> impl Future<Output = Result<(), CqlError>> {
        let mutation = Mutation { keyspace: "ks".into(), key: key(), updates: Vec::new() };
        let replication = replication();
        async move { self.coordinator.write(&replication, vec![mutation], Consistency::One, write_type).await }
    }

    async fn read(&self, target: ReadTarget) -> Result<ReadPage, CqlError> {
        self.coordinator.read(&replication(), command(target), Consistency::LocalOne).await
    }
}

fn partition() -> ReadTarget {
    ReadTarget::Partition { key: key(), filter: ClusteringFilter::all() }
}

#[test]
fn a_read_that_waits_too_long_is_told_its_level() {
    let world = world();
    let range = ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() };
    for (target, timeout_ms) in [(partition(), 5), (range, 10)] {
        let error = world.ends_after(timeout_ms, world.read(target)).unwrap_err();
        assert_eq!(error.to_string(), "Operation timed out - received only 0 responses.");
        let expected = CqlError::ReadTimeout {
            consistency: Consistency::LocalOne,
            received: 0,
            block_for: 1,
            data_present: false,
        };
        assert_eq!(error, expected);
    }
    // What comes now finds nobody, and does no harm.
    for late in world.replica.reads.lock().drain(..) {
        assert!(late.send(Ok(ReadPage::default())).is_err());
    }
}

#[test]
fn a_write_that_waits_too_long_is_in_doubt() {
    let world = world();
    for write_type in [WriteType::Simple, WriteType::Batch, WriteType::UnloggedBatch] {
        let error = world.ends_after(2, world.write(write_type)).unwrap_err();
        let expected = CqlError::WriteTimeout {
            consistency: Consistency::One,
            received: 0,
            block_for: 1,
            write_type,
            contentions: 0,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn a_conditional_write_is_waited_for() {
    let world = world();
    let mut write = pin!(world.write(WriteType::Cas));
    let mut context = Context::from_waker(Waker::noop());
    assert!(write.as_mut().poll(&mut context).is_pending());
    world.clock.nanos.store(u64::MAX - 1, Ordering::Relaxed);
    assert!(write.as_mut().poll(&mut context).is_pending());
    assert_eq!(*world.replica.deadlines.lock(), [Deadline::NEVER]);
    let sender = world.replica.writes.lock().pop().expect("asked");
    sender.send(Ok(())).expect("awaited");
    assert_eq!(write.as_mut().poll(&mut context), Poll::Ready(Ok(())));
}

#[test]
fn a_truncation_that_waits_too_long_says_so() {
    let world = world();
    let error = world.ends_after(60, world.coordinator.truncate(table_id())).unwrap_err();
    let text = "Error during truncate: Truncate timed out - received only 0 responses";
    assert_eq!(error, CqlError::Truncate(text.into()));
}

#[test]
fn an_answer_in_time_counts_even_if_it_is_seen_late() {
    let world = world();
    let mut read = pin!(world.read(partition()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending());
    world.clock.nanos.store(6_000_000, Ordering::Relaxed);
    let sender = world.replica.reads.lock().pop().expect("asked");
    sender.send(Ok(ReadPage::default())).expect("awaited");
    assert!(matches!(read.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
}
