//! `batch` and `group`: write sets of all threads queue, one thread gives what has gathered to the
//! engine as one synced write and then tells their owners (`BatchCommitLogService`,
//! `GroupCommitLogService`). `periodic` has such a queue too, for write sets that would have to wait.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use parking_lot::{Condvar, Mutex};

use super::{Cause, CommitError, OnCommitted, QUEUE_BYTES_MAX, QUEUE_SETS_MAX, Stalls, is_fatal, log_failed};
use crate::engine::{EngineError, WriteSet};

/// One engine write takes about this many bytes, so that no waiter pays for a whole queue: some ten milliseconds' worth.
pub const GROUP_BYTES_MAX: usize = 1 << 20;

/// Gives what has gathered to the engine.
pub type WriteGroup = Box<dyn Fn(&[&WriteSet]) -> Result<(), CommitError> + Send + Sync>;

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(WriteSet, OnCommitted)>,
    bytes: usize,
    is_stopping: bool,
    failure: Option<EngineError>,
}

struct Shared {
    write: WriteGroup,
    stalls: Arc<Stalls>,
    env: SharedEnv,
    window_nanos: u64,
    queue: Mutex<Queue>,
    /// Something waits, or the end has come.
    changed: Condvar,
}

/// The mode and its thread.
pub struct Group {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Group {
    pub fn start(
        env: SharedEnv,
        stalls: Arc<Stalls>,
        window_ms: u64,
        write: WriteGroup,
    ) -> std::io::Result<Group> {
        let shared = Arc::new(Shared {
            write,
            stalls,
            env: env.clone(),
            window_nanos: window_ms.saturating_mul(1_000_000),
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let for_thread = shared.clone();
        let thread = env.spawn_thread("committer", Box::new(move || for_thread.run()))?;
        Ok(Group { shared, thread: Mutex::new(Some(thread)) })
    }

    pub fn queue(
        &self,
        set: &mut WriteSet,
        on_committed: impl FnOnce() -> OnCommitted,
    ) -> Result<(), CommitError> {
        let bytes = set.bytes();
        let mut queue = self.shared.queue.lock();
        if let Some(failure) = &queue.failure {
            return Err(failure.clone().into());
        }
        if queue.is_stopping {
            return Err(CommitError::Closed);
        }
        // One set of any size is let into an empty queue.
        let is_full = queue.waiting.len() >= QUEUE_SETS_MAX || queue.bytes + bytes > QUEUE_BYTES_MAX;
        if is_full && !queue.waiting.is_empty() {
            self.shared.stalls.refused(Cause::LogQueue);
            return Err(CommitError::Overloaded);
        }
        queue.bytes += bytes;
        queue.waiting.push_back((std::mem::take(set), on_committed()));
        // The thread sleeps until there is something, or until there is much.
        let is_due = queue.waiting.len() == 1 || queue.bytes >= GROUP_BYTES_MAX;
        drop(queue);
        if is_due {
            self.shared.changed.notify_one();
        }
        Ok(())
    }

    /// As [`Group::queue`]; the owner is told if there is no room.
    pub fn queue_or_tell(&self, mut set: WriteSet, on_committed: OnCommitted) {
        let mut on_committed = Some(on_committed);
        let queued = self.queue(&mut set, || on_committed.take().unwrap_or_else(|| Box::new(drop)));
        if let (Err(error), Some(on_committed)) = (queued, on_committed) {
            tell(on_committed, Err(error));
        }
    }

    pub fn failure(&self) -> Option<EngineError> {
        self.shared.queue.lock().failure.clone()
    }

    pub fn resume(&self) {
        let mut queue = self.shared.queue.lock();
        queue.failure.take_if(|failure| matches!(failure, EngineError::OutOfSpace { .. }));
    }

    pub fn stop(&self) -> Result<(), CommitError> {
        self.shared.queue.lock().is_stopping = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            return Err(CommitError::Closed);
        }
        match self.shared.queue.lock().failure.clone() {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Every waiter is told; whoever wants to know more calls `stop`.
        drop(self.stop());
    }
}

impl Shared {
    fn run(&self) {
        let _end = End(self);
        let mut last_start = None;
        loop {
            let group = {
                let mut queue = self.queue.lock();
                while queue.waiting.is_empty() && !queue.is_stopping {
                    self.changed.wait(&mut queue);
                }
                if queue.waiting.is_empty() {
                    return;
                }
                self.wait_for_window(&mut queue, last_start);
                take_group(&mut queue)
            };
            last_start = Some(self.env.monotonic_nanos());
            self.commit(group);
        }
    }

    /// Lets sets gather until the window since the last sync's start is over.
    fn wait_for_window(&self, queue: &mut parking_lot::MutexGuard<'_, Queue>, last_start: Option<u64>) {
        let Some(last_start) = last_start else { return };
        let due = last_start.saturating_add(self.window_nanos);
        while !queue.is_stopping && queue.bytes < GROUP_BYTES_MAX {
            let now = self.env.monotonic_nanos();
            if now >= due {
                return;
            }
            self.changed.wait_for(queue, Duration::from_nanos(due - now));
        }
    }

    fn commit(&self, group: Vec<(WriteSet, OnCommitted)>) {
        let sets: Vec<&WriteSet> = group.iter().map(|(set, _)| set).collect();
        let failure = self.queue.lock().failure.clone();
        let result = match failure {
            Some(failure) => Err(failure.into()),
            None => (self.write)(&sets),
        };
        if matches!(result, Err(CommitError::Engine(EngineError::UnknownTable(_)))) && group.len() > 1 {
            // One set names a table that is gone, and nothing was written: each for itself then.
            return group.into_iter().for_each(|one| self.commit(vec![one]));
        }
        if let Err(CommitError::Engine(error)) = &result
            && is_fatal(error)
        {
            self.queue.lock().failure.get_or_insert_with(|| log_failed(error));
        }
        for (_, on_committed) in group {
            tell(on_committed, result.clone());
        }
    }
}

fn take_group(queue: &mut Queue) -> Vec<(WriteSet, OnCommitted)> {
    let mut group = Vec::new();
    let mut bytes = 0;
    while let Some((set, _)) = queue.waiting.front() {
        if !group.is_empty() && bytes + set.bytes() > GROUP_BYTES_MAX {
            break;
        }
        bytes += set.bytes();
        group.extend(queue.waiting.pop_front());
    }
    queue.bytes -= bytes;
    group
}

/// One owner's panic must not leave the others waiting.
pub fn tell(on_committed: OnCommitted, result: Result<(), CommitError>) {
    drop(catch_unwind(AssertUnwindSafe(|| on_committed(result))));
}

/// However the thread ends, everyone who waits is told and nobody queues any more.
struct End<'s>(&'s Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut queue = self.0.queue.lock();
            queue.is_stopping = true;
            queue.bytes = 0;
            std::mem::take(&mut queue.waiting)
        };
        for (_, on_committed) in waiting {
            tell(on_committed, Err(CommitError::Closed));
        }
    }
}
