//! Which table is purged when, by a clock that is set by hand.

use std::sync::atomic::{AtomicI64, Ordering};

use basalt_model::env::Env;
use basalt_model::schema::TableOptions;
use basalt_model::{Deletion, Mutation, PartitionUpdate};
use basalt_storage::checker::test_table;
use basalt_storage::commit::{Committer, SyncMode};
use basalt_storage::engine::WriteSet;
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::write::Writer;
use bytes::Bytes;

use super::*;

const DAY_S: i64 = 86_400;

#[test]
fn a_table_is_purged_when_something_is_due_but_not_all_the_time() {
    let next_s = |now_s, gc_grace_s, due_s| super::next_s(now_s, gc_grace_s, interval_s(gc_grace_s), due_s);
    // Nothing there, nor due before ten days have passed.
    assert_eq!(next_s(0, 10 * DAY_S, None), 10 * DAY_S);
    // Something is due soon: it waits for more to be.
    assert_eq!(next_s(0, 10 * DAY_S, Some(5)), DAY_S);
    assert_eq!(next_s(0, 10 * DAY_S, Some(3 * DAY_S)), 3 * DAY_S);
    assert_eq!(next_s(0, 0, Some(0)), 600);
    assert_eq!(next_s(0, 3_600, None), 3_600);
    assert_eq!(next_s(0, i64::from(i32::MAX), Some(DAY_S)), DAY_S);
}

/// The wall clock is set by hand, the other one stands.
#[derive(Default)]
struct Clock(AtomicI64);

impl Env for Clock {
    fn wall_micros(&self) -> i64 {
        self.0.load(Ordering::SeqCst) * 1_000_000
    }

    fn monotonic_nanos(&self) -> u64 {
        0
    }

    fn random_u64(&self) -> u64 {
        4
    }

    #[allow(clippy::disallowed_methods)]
    fn spawn_thread(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

#[test]
fn dead_partitions_go_when_their_time_has_come() {
    let clock = Arc::new(Clock::default());
    let engine: Arc<dyn Engine> = Arc::new(MemEngine::new());
    let table = Table {
        options: TableOptions { gc_grace_seconds: 1_000, ..TableOptions::default() },
        ..Table::clone(&test_table(true))
    };
    let table = Arc::new(table);
    engine.create_table(table.id).unwrap();
    let env: SharedEnv = clock.clone();
    let committer =
        Arc::new(Committer::start(Arc::clone(&engine), Arc::clone(&env), SyncMode::Batch).unwrap());
    let writer = Arc::new(Writer::new(Arc::clone(&engine), 1 << 20));
    let tables = Arc::new(Mutex::new(vec![Arc::clone(&table)]));
    let shared = Shared {
        env,
        engine: Arc::clone(&engine),
        purger: Purger::new(Arc::clone(&engine), Arc::clone(&writer), Arc::clone(&committer)),
        tables: {
            let tables = Arc::clone(&tables);
            Box::new(move || tables.lock().clone())
        },
        bytes_per_second: 40,
        is_stopping: Mutex::new(false),
        stopped: Condvar::new(),
        windows: Mutex::default(),
        turn: Mutex::new(()),
    };

    let key = basalt_model::DecoratedKey::new(Bytes::from_static(b"k"));
    let mut update = PartitionUpdate::new(Arc::clone(&table), key.clone());
    update.deletion = Deletion { timestamp: 1, local_time_s: 100 };
    let mut set = WriteSet::new();
    writer.encode(&[Mutation { keyspace: "ks".into(), key, updates: vec![update] }], &mut set).unwrap();
    committer.commit(set).unwrap();

    let keys = || engine.stats(table.id).unwrap().keys;
    let mut plans = HashMap::new();
    for (now_s, left, next_s) in [
        (100, 1, 700),   // just started
        (699, 1, 700),   // not yet
        (700, 1, 1_300), // looked at: it is due at 1,100, but not worth a look of its own
        (1_299, 1, 1_300),
        (1_300, 0, 2_300), // gone
    ] {
        clock.0.store(now_s, Ordering::SeqCst);
        shared.look(&mut plans);
        assert_eq!((keys(), plans[&table.id].next_s), (left, next_s), "at {now_s}");
    }

    // The next look is due at 2,300; a shorter gc_grace_seconds brings it forward.
    let options = TableOptions { gc_grace_seconds: 10, ..TableOptions::default() };
    *tables.lock() = vec![Arc::new(Table { options, ..Table::clone(&table) })];
    for (now_s, next_s) in [(1_400, 2_000), (1_401, 2_000), (2_000, 2_600)] {
        clock.0.store(now_s, Ordering::SeqCst);
        shared.look(&mut plans);
        assert_eq!(plans[&table.id].next_s, next_s, "at {now_s}");
    }

    *shared.is_stopping.lock() = true;
    let stopped = Pace { shared: &shared, read: 0, since: 0 }.keep(1);
    assert_eq!(stopped, ControlFlow::Break(()));
}
