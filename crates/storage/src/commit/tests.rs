//! The sync modes over an engine that fails on demand and a clock that moves when told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use basalt_model::TableId;
use basalt_model::env::Env;
use uuid::Uuid;

use super::*;
use crate::engine::failing::{Call, FailingEngine};
use crate::engine::mem::MemEngine;
use crate::engine::{ReadTier, Reads};

const TABLE: TableId = TableId(Uuid::from_u128(1));

/// Threads are real, the clock moves when it is told to.
#[derive(Default)]
struct TestEnv {
    nanos: AtomicU64,
}

impl Env for TestEnv {
    fn wall_micros(&self) -> i64 {
        0
    }

    fn monotonic_nanos(&self) -> u64 {
        self.nanos.load(Ordering::SeqCst)
    }

    fn random_u64(&self) -> u64 {
        4
    }

    #[allow(clippy::disallowed_methods)]
    fn spawn_thread(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

struct World {
    env: Arc<TestEnv>,
    engine: Arc<FailingEngine<MemEngine>>,
    committer: Committer,
}

fn world(mode: SyncMode) -> World {
    let env = Arc::new(TestEnv::default());
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    engine.create_table(TABLE).unwrap();
    let committer = Committer::start(engine.clone(), env.clone(), mode).unwrap();
    World { env, engine, committer }
}

fn set(key: &[u8]) -> WriteSet {
    let mut set = WriteSet::new();
    set.put(TABLE, key, b"value");
    set
}

fn submit(committer: &Committer, mut set: WriteSet) -> Receiver<Result<(), CommitError>> {
    let (sender, receiver) = sync_channel(1);
    let queued = committer.submit(&mut set, false, || Box::new(move |result| sender.send(result).unwrap()));
    assert_eq!(queued, Ok(Submitted::Queued));
    assert!(set.is_empty(), "the set is taken");
    receiver
}

fn io() -> EngineError {
    EngineError::Io { detail: "no disk".to_owned() }
}

fn is_there(world: &World, key: &[u8]) -> bool {
    world.engine.inner().get(TABLE, key, ReadTier::All).unwrap().is_some()
}

#[test]
fn batch_answers_when_synced_and_shares_syncs() {
    let world = world(SyncMode::Batch);
    world.committer.commit(set(b"a")).unwrap();
    assert!(is_there(&world, b"a"));
    assert_eq!(world.engine.made(Call::Sync), 1);
    let receivers: Vec<_> = (0..100u8).map(|n| submit(&world.committer, set(&[n]))).collect();
    for receiver in receivers {
        receiver.recv().unwrap().unwrap();
    }
    assert!((0..100u8).all(|n| is_there(&world, &[n])));
    let counters = world.committer.counters();
    assert_eq!(counters.synced_sets.load(Ordering::Relaxed), 101);
    assert_eq!(counters.syncs.load(Ordering::Relaxed), world.engine.made(Call::Sync));
}

#[test]
fn group_waits_for_its_window() {
    let world = world(SyncMode::Group { window_ms: 1_000 });
    world.committer.commit(set(b"a")).unwrap();
    let (b, c) = (submit(&world.committer, set(b"b")), submit(&world.committer, set(b"c")));
    std::thread::yield_now();
    assert!(b.try_recv().is_err() && c.try_recv().is_err(), "the window is open");
    assert!(!is_there(&world, b"b"), "nothing is readable before it is durable");
    world.env.nanos.store(1_000_000_000, Ordering::SeqCst);
    // A stopped committer commits what is queued, and wakes to do so.
    world.committer.stop().unwrap();
    b.recv().unwrap().unwrap();
    c.recv().unwrap().unwrap();
    assert_eq!(world.engine.made(Call::Sync), 2, "one sync for both");
    assert_eq!(world.committer.commit(set(b"d")), Err(CommitError::Closed));
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged() {
    let world = world(SyncMode::Batch);
    world.engine.fail(Call::Sync, 1, io(), false);
    world.committer.commit(set(b"a")).unwrap();
    assert_eq!(world.committer.commit(set(b"b")), Err(CommitError::Engine(io())));
    let writes = world.engine.made(Call::Write);
    for _ in 0..3 {
        let error = world.committer.commit(set(b"c")).unwrap_err();
        assert!(matches!(error, CommitError::Engine(EngineError::LogFailed { .. })), "{error}");
    }
    assert_eq!(world.engine.made(Call::Write), writes, "the engine is not even asked");
    assert!(!is_there(&world, b"c"));
    assert!(world.committer.stop().is_err());
}

fn out_of_space() -> EngineError {
    EngineError::OutOfSpace { detail: "No space left on device".to_owned() }
}

/// Nothing is committed from the first failure until the engine has resumed; then as before.
#[test]
fn after_a_full_device_commits_go_on_when_the_engine_does() {
    for mode in [SyncMode::Batch, SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 }] {
        let world = world(mode);
        world.committer.commit(set(b"a")).unwrap();
        world.committer.resume().expect("there is nothing to do");
        world.engine.fail(Call::Write, 0, out_of_space(), false);
        world.engine.fail(Call::Resume, 0, out_of_space(), false);
        for _ in 0..3 {
            let refused = world.committer.commit(set(b"b"));
            assert_eq!(refused, Err(CommitError::Engine(out_of_space())), "{mode:?}");
        }
        assert_eq!(world.engine.made(Call::Write), 2, "the engine is not asked any more");
        assert_eq!(world.committer.failure(), Some(out_of_space()));
        world.committer.resume().expect_err("not yet");
        assert!(world.committer.commit(set(b"b")).is_err());
        world.committer.resume().expect("there is space");
        assert_eq!(world.committer.failure(), None);
        world.committer.commit(set(b"c")).unwrap();
        assert!(is_there(&world, b"c") && !is_there(&world, b"b"));
        world.committer.stop().unwrap();
        assert!(world.committer.commit(set(b"d")).is_err());
    }
}

#[test]
fn a_failed_log_does_not_resume() {
    let world = world(SyncMode::Batch);
    world.engine.fail(Call::Sync, 0, io(), false);
    assert!(world.committer.commit(set(b"a")).is_err());
    assert!(world.committer.resume().is_err());
    assert!(world.committer.commit(set(b"b")).is_err());
    assert_eq!(world.engine.made(Call::Resume), 0, "the engine is not even asked");
}

#[test]
fn a_dropped_table_fails_only_its_own_write() {
    let world = world(SyncMode::Group { window_ms: 1_000 });
    world.committer.commit(set(b"a")).unwrap();
    let mut gone = WriteSet::new();
    gone.put(TableId(Uuid::from_u128(2)), b"k", b"v");
    let receivers = [
        submit(&world.committer, set(b"b")),
        submit(&world.committer, gone),
        submit(&world.committer, set(b"c")),
    ];
    world.committer.stop().unwrap();
    let results: Vec<_> = receivers.iter().map(|receiver| receiver.recv().unwrap()).collect();
    assert_eq!(results[0], Ok(()));
    assert!(matches!(results[1], Err(CommitError::Engine(EngineError::UnknownTable(_)))));
    assert_eq!(results[2], Ok(()));
}

#[test]
fn a_full_queue_refuses() {
    let world = world(SyncMode::Group { window_ms: 1_000_000 });
    world.committer.commit(set(b"a")).unwrap();
    // The window is open and does not close: the committer takes nothing but what is due by size.
    let mut receivers = Vec::new();
    let refused = loop {
        let mut set = set(b"b");
        let (sender, receiver) = sync_channel(1);
        match world.committer.submit(&mut set, false, || Box::new(move |r| sender.send(r).unwrap())) {
            Ok(_) => receivers.push(receiver),
            Err(error) => break (error, set),
        }
    };
    assert_eq!(refused.0, CommitError::Overloaded);
    assert_eq!(world.committer.stalls().of(Cause::LogQueue).refused, 1);
    assert!(!refused.1.is_empty(), "the set is still the caller's");
    assert_eq!(receivers.len(), QUEUE_SETS_MAX);
    world.committer.stop().unwrap();
    assert!(receivers.iter().all(|receiver| receiver.recv().unwrap().is_ok()));
}

#[test]
fn periodic_answers_at_once_and_syncs_behind() {
    let world = world(SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 5_400_000 });
    world.committer.commit(set(b"a")).unwrap();
    assert!(is_there(&world, b"a"));
    assert_eq!(world.engine.made(Call::Sync), 0);
    world.committer.stop().unwrap();
    assert_eq!(world.engine.made(Call::Sync), 1, "the end syncs what is left");
    assert!(world.committer.commit(set(b"b")).is_err());
}

#[test]
fn a_late_sync_holds_periodic_writers_back() {
    let world = world(SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 10 });
    world.env.nanos.store(11_000_000, Ordering::SeqCst);
    let late = submit(&world.committer, set(b"a"));
    assert!(late.try_recv().is_err() && !is_there(&world, b"a"));
    // There will be no sync before the end.
    world.committer.stop().unwrap();
    assert_eq!(late.recv().unwrap(), Err(CommitError::Closed));
    assert!(!is_there(&world, b"a"));
}

#[test]
fn what_the_engine_would_hold_back_waits_without_its_sender() {
    let world = world(SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 });
    world.engine.fail(Call::Write, 0, EngineError::WouldStall, false);
    let held = submit(&world.committer, set(b"a"));
    assert_eq!(held.recv().unwrap(), Ok(()));
    assert!(is_there(&world, b"a"));
    assert_eq!(world.engine.made(Call::Write), 2);
    assert_eq!(world.engine.made(Call::Sync), 0, "no sooner synced for that");
}

#[test]
fn a_failed_periodic_sync_refuses_all_that_follow() {
    let world = world(SyncMode::Periodic { period_ms: 1, lag_block_ms: 3_600_000 });
    world.engine.fail(Call::Sync, 0, io(), false);
    world.committer.commit(set(b"a")).unwrap();
    // The sync comes within a millisecond or so, and fails.
    while !matches!(
        world.committer.commit(set(b"b")),
        Err(CommitError::Engine(EngineError::LogFailed { .. }))
    ) {
        std::thread::yield_now();
    }
    world.engine.heal();
    assert!(world.committer.commit(set(b"c")).is_err(), "for good");
    assert!(world.committer.stop().is_err());
}

#[test]
fn waits_and_refusals_are_counted_by_cause() {
    for mode in [SyncMode::Batch, SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 }] {
        let world = world(mode);
        let stalls = world.committer.stalls();
        world.committer.commit(set(b"a")).unwrap();
        assert!(Cause::ALL.iter().all(|cause| stalls.of(*cause) == StallCounts::default()));
        world.engine.fail(Call::Write, 0, EngineError::WouldStall, false);
        world.committer.commit(set(b"b")).unwrap();
        assert!(is_there(&world, b"b"));
        assert_eq!(stalls.of(Cause::Engine).waited, 1, "this engine does not say why");
    }
}

#[test]
fn a_wait_for_a_sync_is_counted() {
    let world = world(SyncMode::Periodic { period_ms: 1, lag_block_ms: 10 });
    let stalls = world.committer.stalls();
    while stalls.of(Cause::LogSync).waited == 0 {
        // The clock passes the bound; the sync that comes within a millisecond lets the writer go.
        world.env.nanos.fetch_add(11_000_000, Ordering::SeqCst);
        world.committer.commit(set(b"a")).unwrap();
    }
    assert_eq!(stalls.of(Cause::LogSync).refused, 0);
}

/// Gives sets to the committer together; what each owner is told.
fn submit_all(committer: &Committer, sets: Vec<WriteSet>) -> Vec<Receiver<Result<(), CommitError>>> {
    let with_owner = |set| {
        let (sender, receiver) = sync_channel(1);
        let told: OnCommitted = Box::new(move |result| sender.send(result).unwrap());
        ((set, told), receiver)
    };
    let (gathered, receivers) = sets.into_iter().map(with_owner).unzip();
    committer.submit_all(gathered);
    receivers
}

#[test]
fn sets_that_came_together_are_one_write() {
    let world = world(SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 });
    let told = submit_all(&world.committer, (0..100u8).map(|n| set(&[n])).collect());
    assert!(told.iter().all(|told| told.try_recv() == Ok(Ok(()))), "told before it returns");
    assert!((0..100u8).all(|n| is_there(&world, &[n])));
    assert_eq!(world.engine.made(Call::Write), 1);
    submit_all(&world.committer, Vec::new());
    assert_eq!(world.engine.made(Call::Write), 1);
    // Not more than a megabyte at a time, but a set of any size.
    let large = |key: u8| {
        let mut set = WriteSet::new();
        set.put(TABLE, &[key], &vec![1; 700 << 10]);
        set
    };
    submit_all(&world.committer, (0..3).map(large).collect());
    assert_eq!(world.engine.made(Call::Write), 4);
}

#[test]
fn of_sets_that_came_together_each_fails_for_itself() {
    let world = world(SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 });
    let mut gone = WriteSet::new();
    gone.put(TableId(Uuid::from_u128(2)), b"k", b"v");
    let told = submit_all(&world.committer, vec![set(b"a"), gone, set(b"b")]);
    let told: Vec<_> = told.iter().map(|told| told.try_recv().unwrap()).collect();
    assert!(matches!(told[1], Err(CommitError::Engine(EngineError::UnknownTable(_)))));
    assert_eq!((&told[0], &told[2]), (&Ok(()), &Ok(())));
    assert!(is_there(&world, b"a") && is_there(&world, b"b"));

    world.engine.fail(Call::Write, 0, EngineError::WouldStall, false);
    let held = submit_all(&world.committer, vec![set(b"c"), set(b"d")]);
    assert!(held.iter().all(|held| held.recv().unwrap() == Ok(())), "they wait elsewhere");
    assert!(is_there(&world, b"c") && is_there(&world, b"d"));

    world.engine.fail(Call::Write, 0, io(), true);
    let failed = submit_all(&world.committer, vec![set(b"e"), set(b"f")]);
    assert!(failed.iter().all(|failed| failed.try_recv().unwrap() == Err(CommitError::Engine(io()))));
    assert!(matches!(world.committer.failure(), Some(EngineError::LogFailed { .. })));
}

#[test]
fn a_stopped_committer_tells_all_that_came_together() {
    for mode in [SyncMode::Batch, SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: 3_600_000 }] {
        let world = world(mode);
        world.committer.stop().unwrap();
        let told = submit_all(&world.committer, vec![set(b"a"), set(b"b")]);
        assert!(told.iter().all(|told| told.recv().unwrap() == Err(CommitError::Closed)), "{mode:?}");
    }
}
