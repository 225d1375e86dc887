//! Looks after something again and again, on a thread of its own.

use std::io::Error;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

#[derive(Default)]
struct Shared {
    is_stopping: Mutex<bool>,
    stopped: Condvar,
}

/// The thread. It ends with [`Watching::stop`], or when this is dropped.
pub struct Watching {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watching {
    /// Starts it. A look says when to look again, the first time it is `first`.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(
        env: &SharedEnv,
        first: Duration,
        look: Box<dyn Fn() -> Duration + Send>,
    ) -> Result<Watching, Error> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let work = move || {
            let mut is_stopping = for_thread.is_stopping.lock();
            let mut next = first;
            while !*is_stopping {
                if for_thread.stopped.wait_for(&mut is_stopping, next).timed_out() {
                    next = parking_lot::MutexGuard::unlocked(&mut is_stopping, &look);
                }
            }
        };
        let thread = env.spawn_thread("disk-watch", Box::new(work))?;
        Ok(Watching { shared, thread: Some(thread) })
    }

    /// Ends it.
    pub fn stop(&mut self) {
        *self.shared.is_stopping.lock() = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that watches the disk died");
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop();
    }
}
