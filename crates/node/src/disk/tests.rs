//! What follows from which failure under which policy; and how full a disk is.

use basalt_storage::commit::SyncMode;
use basalt_storage::engine::failing::{Call, FailingEngine};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Sync, WriteOptions, WriteSet};

use super::*;
use crate::env::SystemEnv;

fn corruption() -> EngineError {
    EngineError::Corruption { table: None, detail: "a bit".to_owned() }
}

fn io() -> EngineError {
    EngineError::Io { detail: "no disk".to_owned() }
}

fn after(settings: DiskSettings, act: impl FnOnce(&Disk)) -> Verdict {
    let disk = Disk::new(settings);
    act(&disk);
    *disk.verdict().borrow()
}

/// `DefaultFSErrorHandler` and `JVMStabilityInspector`, with one directory.
#[test]
fn the_disk_failure_policies() {
    use DiskFailurePolicy::{BestEffort, Die, Ignore, Stop, StopParanoid};
    use Verdict::{GoOn, StopTransports};
    for (policy, on_corruption, on_io) in [
        (Ignore, GoOn, GoOn),
        (BestEffort, GoOn, StopTransports),
        (Stop, GoOn, StopTransports),
        (StopParanoid, StopTransports, StopTransports),
        (Die, Verdict::Die, Verdict::Die),
    ] {
        let settings = DiskSettings { disk_failure_policy: policy, ..DiskSettings::default() };
        let on = |error: EngineError| after(settings, |disk| drop(disk.replica_error(error)));
        assert_eq!(on(corruption()), on_corruption, "{policy:?}");
        assert_eq!(on(io()), on_io, "{policy:?}");
        assert_eq!(on(EngineError::OutOfSpace { detail: String::new() }), GoOn, "{policy:?}");
        assert_eq!(on(EngineError::Closed), GoOn);
    }
}

/// `CommitLog.handleCommitError`.
#[test]
fn the_commit_failure_policies() {
    use CommitFailurePolicy::{Die, Ignore, Stop, StopCommit};
    for (policy, expected) in [
        (Stop, Verdict::StopTransports),
        (StopCommit, Verdict::GoOn),
        (Ignore, Verdict::GoOn),
        (Die, Verdict::Die),
    ] {
        let settings = DiskSettings {
            commit_failure_policy: policy,
            disk_failure_policy: DiskFailurePolicy::Ignore,
            ..DiskSettings::default()
        };
        let on = |error: CommitError| after(settings, |disk| drop(disk.commit_error(error)));
        assert_eq!(on(CommitError::Engine(io())), expected, "{policy:?}");
        let failed = EngineError::LogFailed { detail: String::new() };
        assert_eq!(on(CommitError::Engine(failed.clone())), expected, "{policy:?}");
        assert_eq!(after(settings, |disk| drop(disk.replica_error(failed))), expected, "{policy:?}");
        assert_eq!(on(CommitError::Overloaded), Verdict::GoOn);
        let full = EngineError::OutOfSpace { detail: String::new() };
        assert_eq!(on(CommitError::Engine(full)), Verdict::GoOn, "{policy:?}");
    }
}

#[test]
fn the_graver_verdict_stands() {
    let settings = DiskSettings { disk_failure_policy: DiskFailurePolicy::Die, ..DiskSettings::default() };
    let verdict = after(settings, |disk| {
        drop(disk.commit_error(CommitError::Engine(io())));
        drop(disk.replica_error(io()));
        drop(disk.commit_error(CommitError::Engine(io())));
    });
    assert_eq!(verdict, Verdict::Die);
}

fn no_names() -> NameOf {
    Box::new(|_| None)
}

/// What fails while nobody waits is judged at the next look: a compaction, a sync of `periodic`.
#[test]
fn failures_in_the_background_are_judged() {
    let settings = DiskSettings {
        disk_failure_policy: DiskFailurePolicy::StopParanoid,
        commit_failure_policy: CommitFailurePolicy::Die,
        ..DiskSettings::default()
    };
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    let mode = SyncMode::Periodic { period_ms: 1, lag_block_ms: u64::MAX };
    let committer = Committer::start(engine.clone(), Arc::new(SystemEnv::new()), mode).expect("started");
    let disk = Disk::new(settings);
    engine.set_condition(Condition { failures: vec![corruption()], ..Condition::default() });
    disk.look(&*engine, &committer, &no_names());
    assert_eq!(*disk.verdict().borrow(), Verdict::StopTransports);

    let table = TableId(uuid::Uuid::from_u128(1));
    engine.create_table(table).expect("made");
    engine.fail(Call::Sync, 0, io(), false);
    let mut set = WriteSet::new();
    set.put(table, b"k", b"v");
    committer.commit(set).expect("the sync comes later");
    while committer.failure().is_none() {
        std::thread::yield_now();
    }
    disk.look(&*engine, &committer, &no_names());
    assert_eq!(*disk.verdict().borrow(), Verdict::Die);
    let not_synced = WriteOptions { sync: Sync::None, may_block: true };
    assert!(engine.write(&[&WriteSet::new()], not_synced).is_ok(), "the engine itself is well");
    assert!(committer.resume().is_err(), "that was no full disk");
}

#[test]
fn usage_is_rounded_up_and_counts_memory_too() {
    assert_eq!(usage_percent(0, 100, None), 0);
    assert_eq!(usage_percent(1, 999, None), 1);
    assert_eq!(usage_percent(50, 50, None), 50);
    assert_eq!(usage_percent(50, 50, Some(60)), 84);
    assert_eq!(usage_percent(50, 50, Some(1_000)), 50);
    assert_eq!(usage_percent(0, 0, None), 0);
    assert_eq!(usage_percent(u64::MAX, u64::MAX, None), 100);
}

#[test]
fn the_guardrail_refuses_above_its_threshold() {
    let engine = FailingEngine::new(MemEngine::new());
    let committer = Committer::start(Arc::new(MemEngine::new()), Arc::new(SystemEnv::new()), SyncMode::Batch)
        .expect("started");
    let settings = DiskSettings {
        usage_warn_percent: Some(70),
        usage_fail_percent: Some(80),
        ..DiskSettings::default()
    };
    let disk = Disk::new(settings);
    for (used_bytes, is_full, is_stuffed) in [
        (60, false, false),
        (75, false, true),
        (80, false, true),
        (81, true, true),
        (79, false, true),
        (10, false, false),
    ] {
        engine.set_condition(Condition {
            available_bytes: 100 - used_bytes,
            used_bytes,
            ..Condition::default()
        });
        disk.look(&engine, &committer, &no_names());
        assert_eq!((disk.is_full(), disk.seen.lock().is_stuffed), (is_full, is_stuffed), "{used_bytes}");
    }
}

struct World {
    engine: Arc<FailingEngine<MemEngine>>,
    committer: Committer,
    disk: Disk,
}

impl World {
    fn new() -> World {
        let engine = Arc::new(FailingEngine::new(MemEngine::new()));
        let committer = Committer::start(engine.clone(), Arc::new(SystemEnv::new()), SyncMode::Batch);
        let disk = Disk::new(DiskSettings::default());
        World { engine, committer: committer.expect("started"), disk }
    }

    /// A look at a disk that has so much left of a hundred bytes that are kept; when to look again.
    fn look(&self, available_bytes: u64) -> Duration {
        let condition =
            Condition { available_bytes, reserve_bytes: 100, memtable_bytes: 10, ..Condition::default() };
        self.look_at(condition)
    }

    fn look_at(&self, condition: Condition) -> Duration {
        self.engine.set_condition(condition);
        self.disk.look(&*self.engine, &self.committer, &no_names())
    }
}

#[test]
fn a_full_disk_has_space_again_with_a_quarter_more() {
    let world = World::new();
    for (available_bytes, is_full) in
        [(100, false), (99, true), (100, true), (124, true), (125, false), (100, false), (99, true)]
    {
        world.look(available_bytes);
        assert_eq!(world.disk.is_full(), is_full, "{available_bytes}");
    }
}

/// Ten bytes of memtables and half of what is kept, for a new log, must fit.
#[test]
fn a_full_disk_is_flushed_now_and_then_if_there_is_room_for_it() {
    let world = World::new();
    let flushes = |available_bytes, looks| {
        for _ in 0..looks {
            world.look(available_bytes);
        }
        world.engine.made(Call::Flush)
    };
    assert_eq!(flushes(60, 1), 0, "there is no room");
    assert_eq!(flushes(61, LOOKS_PER_FLUSH - 1), 0, "it was full already");
    assert_eq!(flushes(61, 1), 1);
    assert_eq!(flushes(61, LOOKS_PER_FLUSH), 1);
    assert_eq!(flushes(61, 1), 2);
    assert_eq!(flushes(125, 1), 2, "it has space again");
    assert_eq!(flushes(61, 1), 3, "full anew: at once");
}

#[test]
fn a_disk_is_looked_at_oftener_when_little_is_left() {
    let world = World::new();
    for (available_bytes, tick) in [(u64::MAX, TICK), (800, TICK), (799, TICK_NEAR), (0, TICK_NEAR)] {
        assert_eq!(world.look(available_bytes), tick, "{available_bytes}");
    }
}

#[test]
fn writes_are_taken_again_when_what_is_kept_is_free() {
    let world = World::new();
    let full = |available_bytes| Condition {
        available_bytes,
        reserve_bytes: 100,
        is_writing: false,
        ..Condition::default()
    };
    world.look_at(full(99));
    assert_eq!(world.engine.made(Call::Resume), 0, "it would only meet the end again");
    world.engine.fail(Call::Resume, 0, EngineError::OutOfSpace { detail: String::new() }, false);
    world.look_at(full(100));
    assert_eq!(world.engine.made(Call::Resume), 1, "tried, in vain");
    world.look_at(full(100));
    assert_eq!(world.engine.made(Call::Resume), 2);
    world.look(100);
    assert_eq!(world.engine.made(Call::Resume), 2, "writes are taken");
    assert_eq!(*world.disk.verdict().borrow(), Verdict::GoOn, "a full disk is no failure");
}
