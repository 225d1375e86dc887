//! The seam through which time and randomness reach every other crate, and threads are started.
//!
//! Everything that asks for the time, a random number or a thread takes an [`Env`]; a simulation
//! supplies its own. `clippy.toml` bans the direct ways.

use std::sync::Arc;

/// Time, randomness and threads.
pub trait Env: Send + Sync {
    /// Wall clock, microseconds since 1970.
    fn wall_micros(&self) -> i64;

    /// A clock that never goes back, nanoseconds since an arbitrary start.
    fn monotonic_nanos(&self) -> u64;

    /// 64 unpredictable bits.
    fn random_u64(&self) -> u64;

    /// Starts a named thread. Whoever starts it ends it: the work must stop when its owner says so.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    fn spawn_thread(
        &self,
        name: &str,
        work: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<std::thread::JoinHandle<()>>;

    /// Wall clock, whole seconds since 1970 (`FBUtilities.nowInSeconds`).
    fn now_s(&self) -> i64 {
        self.wall_micros().div_euclid(1_000_000)
    }
}

/// A shared environment.
pub type SharedEnv = Arc<dyn Env>;
