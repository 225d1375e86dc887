//! The environment of production: the machine's clocks, its randomness, its threads. The only place
//! that asks for them.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use basalt_model::env::Env;

/// Clocks, randomness and threads of this machine.
pub struct SystemEnv {
    start: Instant,
    seed: RandomState,
    draws: AtomicU64,
}

impl SystemEnv {
    /// One for the process.
    #[expect(clippy::disallowed_methods, reason = "this is the place that time comes from")]
    pub fn new() -> SystemEnv {
        SystemEnv { start: Instant::now(), seed: RandomState::new(), draws: AtomicU64::new(0) }
    }
}

impl Default for SystemEnv {
    fn default() -> SystemEnv {
        SystemEnv::new()
    }
}

impl Env for SystemEnv {
    #[expect(clippy::disallowed_methods, reason = "this is the place that time comes from")]
    fn wall_micros(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
        }
    }

    fn monotonic_nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// SipHash keyed by the operating system's randomness over a counter.
    fn random_u64(&self) -> u64 {
        self.seed.hash_one((self.draws.fetch_add(1, Ordering::Relaxed), std::process::id()))
    }

    fn spawn_thread(
        &self,
        name: &str,
        work: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}
