//! Threads for work that waits for the disk: reads that miss the cache, scans, DDL, truncation,
//! writes that read first. Their number is fixed and their queue is bounded; who finds it full is told
//! so. Knows nothing of what the work is.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

/// Pieces of work that may wait, for each thread.
const QUEUED_PER_THREAD: usize = 64;

type Job = Box<dyn FnOnce() + Send>;

/// The queue is full, or the pool is closed: the work was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Try again later.
    #[error("too much work is waiting for the disk")]
    Full,
    /// The node is shutting down.
    #[error("shutting down")]
    Closed,
}

/// How busy a pool is (`system_views.thread_pools`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Being worked on.
    pub active: usize,
    /// Threads at most.
    pub threads_max: usize,
    /// Waiting.
    pub queued: usize,
    /// Done since start.
    pub completed: u64,
    /// Turned away since start.
    pub refused: u64,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: Vec<JoinHandle<()>>,
    idle: usize,
    active: usize,
    completed: u64,
    refused: u64,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

/// A fixed number of threads over a bounded queue. Threads start when there is work for them.
pub struct Pool {
    name: &'static str,
    env: SharedEnv,
    threads_max: usize,
    shared: Arc<Shared>,
}

impl Pool {
    /// A pool; no thread runs yet.
    pub fn new(name: &'static str, env: SharedEnv, threads_max: usize) -> Pool {
        let shared = Arc::new(Shared { state: Mutex::default(), work: Condvar::new() });
        Pool { name, env, threads_max: threads_max.max(1), shared }
    }

    /// Hands work over. It runs once, unless the pool refuses it.
    ///
    /// # Errors
    /// The queue is full or closed.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) -> Result<(), PoolError> {
        let mut state = self.shared.state.lock();
        if state.closed {
            return Err(PoolError::Closed);
        }
        if state.jobs.len() >= self.threads_max * QUEUED_PER_THREAD {
            state.refused += 1;
            return Err(PoolError::Full);
        }
        state.jobs.push_back(Box::new(job));
        if state.idle < state.jobs.len() && state.threads.len() < self.threads_max {
            let shared = Arc::clone(&self.shared);
            let name = format!("{}-{}", self.name, state.threads.len());
            match self.env.spawn_thread(&name, Box::new(move || work(&shared))) {
                Ok(thread) => state.threads.push(thread),
                Err(error) if state.threads.is_empty() => {
                    // Nobody would ever do it.
                    state.jobs.pop_back();
                    tracing::error!(%error, pool = self.name, "no thread can be started");
                    return Err(PoolError::Full);
                }
                Err(error) => tracing::warn!(%error, pool = self.name, "no further thread can be started"),
            }
        }
        self.shared.work.notify_one();
        Ok(())
    }

    /// How busy it is.
    pub fn stats(&self) -> PoolStats {
        let state = self.shared.state.lock();
        PoolStats {
            active: state.active,
            threads_max: self.threads_max,
            queued: state.jobs.len(),
            completed: state.completed,
            refused: state.refused,
        }
    }

    /// Takes no more work, finishes what is queued, ends the threads.
    pub fn close(&self) {
        let threads = {
            let mut state = self.shared.state.lock();
            state.closed = true;
            std::mem::take(&mut state.threads)
        };
        self.shared.work.notify_all();
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!(pool = self.name, "a thread of the pool died");
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn work(shared: &Shared) {
    let mut state = shared.state.lock();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            state.active += 1;
            drop(state);
            // Whoever waits for the job sees its sender dropped; the thread goes on.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a panic in work for the disk");
            }
            state = shared.state.lock();
            state.active -= 1;
            state.completed += 1;
        } else if state.closed {
            return;
        } else {
            state.idle += 1;
            shared.work.wait(&mut state);
            state.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests;
