//! Requests that wait for longer than their time-out, over a clock that is set by hand.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use basalt_coordinator::{OnApplied, Replica, ReplicaError, Reply};
use basalt_model::command::ReadPage;
use basalt_model::env::{Env, SharedEnv};
use basalt_model::error::WriteType;
use basalt_model::{Consistency, CqlError, Deadline, Mutation, ReadCommand, TableId};
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::mem::MemEngine;
use basalt_wire::{ProtocolVersion, Response};
use common::{Client, error_of, query, settings};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The machine's environment with a clock that can be put forward.
struct Ahead {
    machine: SystemEnv,
    nanos: AtomicU64,
}

impl Env for Ahead {
    fn wall_micros(&self) -> i64 {
        self.machine.wall_micros()
    }

    fn monotonic_nanos(&self) -> u64 {
        self.machine.monotonic_nanos() + self.nanos.load(Ordering::Relaxed)
    }

    fn random_u64(&self) -> u64 {
        self.machine.random_u64()
    }

    fn spawn_thread(
        &self,
        name: &str,
        work: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        self.machine.spawn_thread(name, work)
    }
}

/// A replica that can be told to leave answers open.
struct Stuck {
    replica: Arc<dyn Replica>,
    is_stuck: AtomicBool,
    writes: Mutex<Vec<oneshot::Sender<Result<(), ReplicaError>>>>,
    reads: Mutex<Vec<oneshot::Sender<Result<ReadPage, ReplicaError>>>>,
}

impl Stuck {
    fn wait_for<T>(waiting: &Mutex<Vec<T>>) -> T {
        loop {
            if let Some(sender) = waiting.lock().pop() {
                return sender;
            }
            std::thread::yield_now();
        }
    }
}

impl Replica for Stuck {
    fn apply(&self, mutations: Vec<Mutation>, deadline: Deadline) -> Reply<()> {
        if !self.is_stuck.load(Ordering::SeqCst) {
            return self.replica.apply(mutations, deadline);
        }
        let (sender, receiver) = oneshot::channel();
        self.writes.lock().push(sender);
        Reply::Pending(receiver)
    }

    fn read(&self, command: ReadCommand, deadline: Deadline) -> Reply<ReadPage> {
        if !self.is_stuck.load(Ordering::SeqCst) {
            return self.replica.read(command, deadline);
        }
        let (sender, receiver) = oneshot::channel();
        self.reads.lock().push(sender);
        Reply::Pending(receiver)
    }

    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        if !self.is_stuck.load(Ordering::SeqCst) {
            return self.replica.apply_then(mutations, deadline, on_applied);
        }
        let (sender, receiver) = oneshot::channel();
        self.writes.lock().push(sender);
        Reply::Pending(receiver)
    }

    fn truncate(&self, table: TableId, deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        self.replica.truncate(table, deadline, on_truncated)
    }
}

struct World {
    node: Node,
    clock: Arc<Ahead>,
    replica: Arc<Stuck>,
}

fn world() -> World {
    let settings = settings(
        "write_request_timeout: 2000ms\nread_request_timeout: 5000ms\n\
         native_transport_max_request_data_in_flight_per_ip: 1KiB\n",
    );
    let clock = Arc::new(Ahead { machine: SystemEnv::new(), nanos: AtomicU64::new(0) });
    let env = Arc::clone(&clock) as SharedEnv;
    let mut storage =
        Storage::open(&settings, Arc::clone(&env), Arc::new(MemEngine::new())).expect("storage");
    let replica = Arc::new(Stuck {
        replica: Arc::clone(&storage.replica),
        is_stuck: AtomicBool::new(false),
        writes: Mutex::default(),
        reads: Mutex::default(),
    });
    storage.replica = Arc::clone(&replica) as Arc<dyn Replica>;
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let node = Node::start(&settings, env, storage, Some(bound)).expect("started");
    let world = World { node, clock, replica };
    let mut client = world.connect();
    for text in [
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE ks.t (k int PRIMARY KEY, v int)",
    ] {
        assert!(!matches!(client.call(query(text)).decode(), Ok(Response::Error(_))), "{text}");
    }
    world
}

impl World {
    fn connect(&self) -> Client {
        Client::ready(self.node.server.as_ref().expect("serves").address, ProtocolVersion::V5, None)
    }

    fn advance_ms(&self, millis: u64) {
        self.clock.nanos.fetch_add(millis * 1_000_000, Ordering::SeqCst);
    }
}

#[test]
fn a_waiting_write_is_answered_and_its_place_is_free_again() {
    let world = world();
    let mut client = world.connect();
    // Two of these are over the limit of bytes in flight.
    let insert = format!("INSERT INTO ks.t (k, v) VALUES (1, 1) /* {} */", "-".repeat(600));
    let expected = CqlError::WriteTimeout {
        consistency: Consistency::One,
        received: 0,
        block_for: 1,
        write_type: WriteType::Simple,
        contentions: 0,
    };
    for _ in 0..3 {
        world.replica.is_stuck.store(true, Ordering::SeqCst);
        let stream = client.send(&query(&insert));
        let late = Stuck::wait_for(&world.replica.writes);
        world.advance_ms(2_000);
        let answer = client.receive().expect("an answer");
        assert_eq!((answer.stream, error_of(&answer)), (stream, expected.clone()));
        assert!(late.send(Ok(())).is_err(), "nobody waits for the late answer");
        world.replica.is_stuck.store(false, Ordering::SeqCst);
        let answer = client.call(query(&insert));
        assert!(matches!(answer.decode(), Ok(Response::Result(_))), "the connection serves the next");
    }
    world.node.drain().expect("all on disk");
}

#[test]
fn a_waiting_read_is_answered_while_others_go_on() {
    let world = world();
    let (mut slow, mut other) = (world.connect(), world.connect());
    world.replica.is_stuck.store(true, Ordering::SeqCst);
    slow.send(&query("SELECT v FROM ks.t WHERE k = 1"));
    let late = Stuck::wait_for(&world.replica.reads);
    world.replica.is_stuck.store(false, Ordering::SeqCst);
    world.advance_ms(4_000);
    assert!(matches!(other.call(query("SELECT v FROM ks.t WHERE k = 1")).decode(), Ok(Response::Result(_))));
    assert!(!late.is_closed(), "it has a second left");
    world.advance_ms(1_000);
    let error = error_of(&slow.receive().expect("an answer"));
    assert_eq!(error.to_string(), "Operation timed out - received only 0 responses.");
    assert!(matches!(error, CqlError::ReadTimeout { data_present: false, block_for: 1, .. }));
    world.node.drain().expect("all on disk");
}
