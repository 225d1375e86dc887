//! Write times of statements that bring none: strictly increasing in this process
//! (`ClientState.getTimestamp`).

use std::sync::atomic::{AtomicI64, Ordering};

use basalt_model::env::Env;

/// The last write time given out, microseconds since 1970.
#[derive(Debug, Default)]
pub(crate) struct WriteClock(AtomicI64);

impl WriteClock {
    /// A write time larger than all before, and not smaller than the wall clock.
    pub(crate) fn next(&self, env: &dyn Env) -> i64 {
        self.next_after(env, i64::MIN)
    }

    /// As [`WriteClock::next`], and larger than `floor`.
    pub(crate) fn next_after(&self, env: &dyn Env, floor: i64) -> i64 {
        let now = env.wall_micros().max(floor.saturating_add(1));
        let step = |last: i64| Some(now.max(last.saturating_add(1)));
        let last = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).unwrap_or(now);
        now.max(last.saturating_add(1))
    }
}
