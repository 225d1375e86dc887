//! Threads record apart and are seen together; tables that are gone are forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use basalt_model::env::Env;
use uuid::Uuid;

use super::*;

/// A clock that moves when told.
#[derive(Default)]
struct Clock(AtomicU64);

impl Env for Clock {
    fn wall_micros(&self) -> i64 {
        0
    }

    fn monotonic_nanos(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> {
        Err(std::io::Error::other("none is wanted"))
    }
}

const ONE: TableId = TableId(Uuid::from_u128(1));
const TWO: TableId = TableId(Uuid::from_u128(2));

#[test]
fn what_shards_hold_is_seen_together() {
    let clock = Arc::new(Clock::default());
    let metrics = TableMetrics::new(Arc::clone(&clock) as SharedEnv, 2);
    clock.0.store(1_000_000, Ordering::SeqCst);
    std::thread::scope(|scope| {
        for reactor in 0..3 {
            let metrics = &metrics;
            scope.spawn(move || {
                // The last one has no shard of its own.
                enter_reactor(reactor);
                metrics.read(ONE, 0, false, 3, 7);
                metrics.wrote(&[ONE, TWO], 500_000);
            });
        }
    });
    assert!(metrics.shards.iter().all(|shard| shard.lock().len() == 2), "each has its own");
    let times = metrics.times(ONE, Timed::LocalRead);
    assert_eq!(times.snapshot.count, 3);
    let millis = Times::millis(times.snapshot.quantile(0.5));
    assert!((1.0..1.25).contains(&millis), "{millis}");
    assert_eq!(metrics.times(ONE, Timed::LocalScan).snapshot.count, 0);
    assert_eq!(metrics.times(TWO, Timed::LocalWrite).snapshot.count, 3);
    assert_eq!(metrics.counts(ONE, Counted::Rows).quantile(0.5), 3);
    assert_eq!(metrics.counts(ONE, Counted::Tombstones).max(), 7);
    clock.0.store(STEP_NANOS, Ordering::SeqCst);
    assert!((metrics.times(ONE, Timed::LocalRead).per_second - 3.0 / 5.0).abs() < 1e-9);
    metrics.keep(|table| table == TWO);
    assert_eq!(metrics.times(ONE, Timed::LocalRead).snapshot.count, 0);
    assert_eq!(metrics.times(TWO, Timed::LocalWrite).snapshot.count, 3);
}
