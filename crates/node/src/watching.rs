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

/// The thread, called by what it does. It ends with [`Watching::stop`], or when this is dropped.
pub struct Watching {
    name: &'static str,
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
        name: &'static str,
        first: Duration,
        mut look: Box<dyn FnMut() -> Duration + Send>,
    ) -> Result<Watching, Error> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let work = move || {
            let mut is_stopping = for_thread.is_stopping.lock();
            let mut next = first;
            while !*is_stopping {
                if for_thread.stopped.wait_for(&mut is_stopping, next).timed_out() {
                    next = parking_lot::MutexGuard::unlocked(&mut is_stopping, &mut look);
                }
            }
        };
        let thread = env.spawn_thread(name, Box::new(work))?;
        Ok(Watching { name, shared, thread: Some(thread) })
    }

    /// Ends it.
    pub fn stop(&mut self) {
        *self.shared.is_stopping.lock() = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread {} died", self.name);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop();
    }
}
