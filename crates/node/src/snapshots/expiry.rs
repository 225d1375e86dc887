//! Removes snapshots whose time is over (`SnapshotManager`), on a thread of its own.

use std::io::Error;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

use super::Snapshots;

/// How often it is looked: with the 60 seconds that a snapshot lives at least, soon enough.
const TICK: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Shared {
    is_stopping: Mutex<bool>,
    stopped: Condvar,
}

/// The thread. It ends with [`Expiry::stop`], or when this is dropped.
pub struct Expiry {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Expiry {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(env: &SharedEnv, snapshots: Arc<Snapshots>) -> Result<Expiry, Error> {
        let shared = Arc::new(Shared::default());
        let (for_thread, clock) = (Arc::clone(&shared), Arc::clone(env));
        let work = move || {
            loop {
                if let Err(error) = snapshots.clear_expired(clock.wall_micros().div_euclid(1_000)) {
                    tracing::warn!("expired snapshots were not removed: {error}");
                }
                let mut is_stopping = for_thread.is_stopping.lock();
                if !*is_stopping {
                    for_thread.stopped.wait_for(&mut is_stopping, TICK);
                }
                if *is_stopping {
                    return;
                }
            }
        };
        let thread = env.spawn_thread("snapshots", Box::new(work))?;
        Ok(Expiry { shared, thread: Some(thread) })
    }

    /// Ends it.
    pub fn stop(&mut self) {
        *self.shared.is_stopping.lock() = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the snapshots died");
        }
    }
}

impl Drop for Expiry {
    fn drop(&mut self) {
        self.stop();
    }
}
