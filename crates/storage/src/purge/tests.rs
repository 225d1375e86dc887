//! Purges over the engine in memory: random histories, what Cassandra leaves of rows, and a fault that is found.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use basalt_model::{DecoratedKey, Deletion, PartitionUpdate, TableId};
use bytes::Bytes;

use super::Terms;
use crate::checker::{self, Ground, Numbers, Store, test_table};
use crate::commit::{Committer, SyncMode};
use crate::engine::Engine;
use crate::testing::{Memory, env};

#[test]
fn nobody_sees_a_purge() {
    for seed in 0..150 {
        checker::run(seed, &mut Memory::new(), &env());
    }
}

/// Purges are told of the writes of somebody else.
struct Deaf(Memory);

impl Ground for Deaf {
    fn open(&mut self) -> Arc<dyn Engine> {
        self.0.open()
    }

    fn disturb(&mut self, table: TableId, numbers: &mut Numbers) {
        self.0.disturb(table, numbers);
    }

    fn watched(&self, engine: &Arc<dyn Engine>, _committer: &Arc<Committer>) -> Arc<Committer> {
        Arc::new(Committer::start(Arc::clone(engine), env(), SyncMode::Batch).unwrap())
    }
}

#[test]
fn the_checker_sees_a_purge_that_overlooks_writes() {
    let found = |seed| {
        catch_unwind(AssertUnwindSafe(|| checker::run(seed, &mut Deaf(Memory::new()), &env()))).is_err()
    };
    assert!((0..150).any(found));
}

/// Partitions of which only a deletion is left count as what is read, and what is gathered is bounded.
#[test]
fn partitions_without_rows_come_in_chunks_too() {
    let store = Store::open(&mut Memory::new(), &env());
    let table = test_table(true);
    store.engine.create_table(table.id).unwrap();
    for number in 0..100u8 {
        let key = DecoratedKey::new(Bytes::from(vec![number]));
        let mut update = PartitionUpdate::new(Arc::clone(&table), key);
        update.deletion = Deletion { timestamp: 1, local_time_s: 1 };
        store.write(update);
    }
    let terms = Terms { chunk_bytes: 100, batch_bytes: 1, ..Terms::new(10, 0) };
    let (mut next, mut chunks, mut purged) = (Some(Vec::new()), 0, 0);
    while let Some(from) = next {
        let mut pace = |_| ControlFlow::Continue(());
        let chunk = store.purger.purge(&table, &from, terms, &mut pace).unwrap();
        (next, chunks, purged) = (chunk.next, chunks + 1, purged + chunk.counts.purged);
    }
    assert_eq!((chunks > 5, purged, store.engine.stats(table.id).unwrap().keys), (true, 100, 0));
    let stopped = store.purger.purge(&table, &[], terms, &mut |_| ControlFlow::Break(()));
    assert!(stopped.is_ok(), "nothing is left to stop at");
}
