//! Purges over the engine in memory: random histories, what Cassandra leaves of rows, and a fault that is found.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use basalt_model::TableId;

use crate::checker::{self, Ground, Numbers};
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
