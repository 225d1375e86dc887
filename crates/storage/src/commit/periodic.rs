//! `periodic`: the kernel has each write before it is acknowledged, a thread syncs behind
//! (`PeriodicCommitLogService`). A write that would have to wait, for a late sync or for the engine, queues for another thread,
//! which waits for all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

use super::group::{Group, tell};
use super::{Cause, CommitCounters, CommitError, OnCommitted, Submitted, Way, is_fatal, log_failed};
use crate::engine::{EngineError, Sync, WriteOptions, WriteSet};

const NANOS_PER_MS: u64 = 1_000_000;

struct Shared {
    way: Way,
    env: SharedEnv,
    counters: Arc<CommitCounters>,
    lag_block_nanos: u64,
    /// When the last sync that succeeded began: all that was written before is safe.
    synced_at_nanos: AtomicU64,
    /// Something was written since the last sync began.
    is_dirty: AtomicBool,
    has_failed: AtomicBool,
    state: Mutex<State>,
    /// Something of the state, or the time of the last sync, has changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_stopping: bool,
    has_ended: bool,
    failure: Option<EngineError>,
}

/// The mode and its threads.
pub struct Periodic {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Those that wait.
    waiting: Group,
}

impl Periodic {
    pub fn start(
        way: Way,
        env: SharedEnv,
        counters: Arc<CommitCounters>,
        period_ms: u64,
        lag_block_ms: u64,
    ) -> std::io::Result<Periodic> {
        let shared = Arc::new(Shared {
            way,
            counters,
            lag_block_nanos: lag_block_ms.saturating_mul(NANOS_PER_MS),
            synced_at_nanos: AtomicU64::new(env.monotonic_nanos()),
            env: env.clone(),
            is_dirty: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let for_waiting = shared.clone();
        let stalls = Arc::clone(&shared.way.stalls);
        let write = move |sets: &[&WriteSet]| for_waiting.write(sets, true);
        let waiting = Group::start(env.clone(), stalls, 0, Box::new(write))?;
        let for_thread = shared.clone();
        let period = Duration::from_millis(period_ms.max(1));
        let thread = env.spawn_thread("log-sync", Box::new(move || for_thread.run(period)))?;
        Ok(Periodic { shared, thread: Mutex::new(Some(thread)), waiting })
    }

    pub fn submit(
        &self,
        set: &mut WriteSet,
        may_block: bool,
        on_committed: impl FnOnce() -> OnCommitted,
    ) -> Result<Submitted, CommitError> {
        match self.shared.write(&[set], may_block) {
            Err(CommitError::Engine(EngineError::WouldStall)) if !may_block => {
                self.waiting.queue(set, on_committed).map(|()| Submitted::Queued)
            }
            written => written.map(|()| Submitted::Done),
        }
    }

    pub fn submit_all(&self, gathered: Vec<(WriteSet, OnCommitted)>) {
        let sets: Vec<&WriteSet> = gathered.iter().map(|(set, _)| set).collect();
        let written = self.shared.write(&sets, false);
        match written {
            Err(CommitError::Engine(EngineError::WouldStall)) => {
                gathered.into_iter().for_each(|(set, told)| self.waiting.queue_or_tell(set, told));
            }
            // One set names a table that is gone, and nothing was written: each for itself then.
            Err(CommitError::Engine(EngineError::UnknownTable(_))) if gathered.len() > 1 => {
                gathered.into_iter().for_each(|one| self.submit_all(vec![one]));
            }
            written => gathered.into_iter().for_each(|(_, told)| tell(told, written.clone())),
        }
    }

    pub fn failure(&self) -> Option<EngineError> {
        self.shared.state.lock().failure.clone()
    }

    pub fn resume(&self) {
        self.waiting.resume();
        let shared = &self.shared;
        let mut state = shared.state.lock();
        state.failure.take_if(|failure| matches!(failure, EngineError::OutOfSpace { .. }));
        if state.failure.is_none() && !state.has_ended {
            // All that was acknowledged is in files.
            shared.synced_at_nanos.store(shared.env.monotonic_nanos(), Ordering::Release);
            shared.has_failed.store(false, Ordering::Release);
        }
    }

    pub fn stop(&self) -> Result<(), CommitError> {
        self.shared.state.lock().is_stopping = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            return Err(CommitError::Closed);
        }
        // Who still waits now is told that it is over.
        let waited = self.waiting.stop();
        match self.shared.state.lock().failure.clone() {
            Some(failure) => Err(failure.into()),
            None => waited,
        }
    }
}

impl Drop for Periodic {
    fn drop(&mut self) {
        // Whoever wants to know how the last sync went calls `stop`.
        drop(self.stop());
    }
}

impl Shared {
    fn write(&self, sets: &[&WriteSet], may_block: bool) -> Result<(), CommitError> {
        if self.has_failed.load(Ordering::Acquire) {
            return Err(self.refusal());
        }
        if self.lags() {
            if !may_block {
                return Err(EngineError::WouldStall.into());
            }
            let start = self.env.monotonic_nanos();
            let waited = self.wait_for_sync();
            let nanos = self.env.monotonic_nanos().saturating_sub(start);
            self.way.stalls.waited(Cause::LogSync, sets.len(), nanos);
            waited?;
        }
        // Set before and not after: a sync between the two then only comes once too often.
        self.is_dirty.store(true, Ordering::Release);
        match self.way.write(sets, WriteOptions { sync: Sync::None, may_block }) {
            Ok(()) => Ok(()),
            Err(error) => {
                if is_fatal(&error) {
                    self.fail(&error);
                }
                Err(error.into())
            }
        }
    }

    fn lags(&self) -> bool {
        let age = self.env.monotonic_nanos().saturating_sub(self.synced_at_nanos.load(Ordering::Acquire));
        age > self.lag_block_nanos
    }

    fn wait_for_sync(&self) -> Result<(), CommitError> {
        let mut state = self.state.lock();
        while self.lags() {
            if let Some(failure) = &state.failure {
                return Err(failure.clone().into());
            }
            if state.is_stopping {
                return Err(CommitError::Closed);
            }
            self.changed.wait(&mut state);
        }
        Ok(())
    }

    fn refusal(&self) -> CommitError {
        match &self.state.lock().failure {
            Some(failure) => failure.clone().into(),
            None => CommitError::Closed,
        }
    }

    fn fail(&self, error: &EngineError) {
        let mut state = self.state.lock();
        state.failure.get_or_insert_with(|| log_failed(error));
        self.has_failed.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    fn run(&self, period: Duration) {
        let _end = End(self);
        let mut is_stopping = false;
        while !is_stopping {
            {
                let mut state = self.state.lock();
                if !state.is_stopping {
                    self.changed.wait_for(&mut state, period);
                }
                is_stopping = state.is_stopping;
            }
            if !self.has_failed.load(Ordering::Acquire) {
                self.sync();
            }
        }
    }

    fn sync(&self) {
        let start = self.env.monotonic_nanos();
        if self.is_dirty.swap(false, Ordering::AcqRel) {
            if let Err(error) = self.way.engine.sync_log() {
                return self.fail(&error);
            }
            self.counters.count(0, self.env.monotonic_nanos().saturating_sub(start));
        }
        let _state = self.state.lock();
        self.synced_at_nanos.store(start, Ordering::Release);
        self.changed.notify_all();
    }
}

/// However the thread ends, nobody goes on waiting for it or writing without it.
struct End<'s>(&'s Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_stopping = true;
        state.has_ended = true;
        self.0.has_failed.store(true, Ordering::Release);
        self.0.changed.notify_all();
    }
}
