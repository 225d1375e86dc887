//! A clock for tests, set by hand. Knows nothing of what is timed with it.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use basalt_model::env::Env;

/// Stands where it is put.
#[derive(Default)]
pub struct Clock {
    /// What the monotonic clock says, nanoseconds.
    pub nanos: AtomicU64,
}

impl Env for Clock {
    fn wall_micros(&self) -> i64 {
        1_000
    }

    fn monotonic_nanos(&self) -> u64 {
        self.nanos.load(Ordering::Relaxed)
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn spawn_thread(&self, _name: &str, _work: Box<dyn FnOnce() + Send>) -> Result<JoinHandle<()>, Error> {
        Err(ErrorKind::Unsupported.into())
    }
}
