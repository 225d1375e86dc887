//! When a request stops being worth working on. Knows neither why nor for whom.

use crate::env::Env;

/// A moment of [`Env::monotonic_nanos`] after which nobody waits for the answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at_nanos: u64,
}

impl Deadline {
    /// For work that must be done however long it takes: schema changes, say.
    pub const NEVER: Deadline = Deadline { at_nanos: u64::MAX };

    /// So many milliseconds from now.
    pub fn after(env: &dyn Env, millis: u64) -> Deadline {
        Deadline::since(env.monotonic_nanos(), millis)
    }

    /// So many milliseconds after a moment of [`Env::monotonic_nanos`].
    pub fn since(began_nanos: u64, millis: u64) -> Deadline {
        Deadline { at_nanos: began_nanos.saturating_add(millis.saturating_mul(1_000_000)) }
    }

    /// Whether it is over.
    pub fn has_passed(self, env: &dyn Env) -> bool {
        self != Deadline::NEVER && env.monotonic_nanos() >= self.at_nanos
    }
}
