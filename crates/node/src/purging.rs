//! When tables are purged of what is dead for longer than their `gc_grace_seconds`: one table after the other, on a
//! thread of its own, at a bounded rate. What goes is [`basalt_storage::purge`]'s matter.

use std::collections::HashMap;
use std::io::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_model::{Table, TableId};
use basalt_storage::engine::{Engine, EngineError, StorageOptions};
use basalt_storage::purge::{KnownWindows, PurgeCounts, PurgeError, Purger, Terms};
use parking_lot::{Condvar, Mutex};

/// How often it is looked whether a table is due.
const TICK: Duration = Duration::from_secs(60);

/// A table is purged at most so often,
const INTERVAL_MIN_S: i64 = 600;
/// and with much to do at least so often, if its `gc_grace_seconds` are not longer.
const INTERVAL_MAX_S: i64 = 86_400;
/// In between: what is dead stays for this part of `gc_grace_seconds` longer.
const INTERVALS_PER_GRACE: i64 = 10;

/// A table is compacted when so many of its entries were purged since it was last,
const COMPACTED_AFTER: u64 = 10_000;
/// and they were so large a part of its rows.
const COMPACTED_PART: u64 = 5;

/// Says which tables there are.
pub type Tables = Box<dyn Fn() -> Vec<Arc<Table>> + Send + Sync>;

/// What is known of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plan {
    next_s: i64,
    /// The `gc_grace_seconds` that this was planned with.
    gc_grace_s: i32,
    /// Entries purged since the table was compacted.
    purged: u64,
}

struct Shared {
    env: SharedEnv,
    engine: Arc<dyn Engine>,
    purger: Purger,
    tables: Tables,
    /// What is read in a second, at most; 0 for no limit.
    bytes_per_second: u64,
    is_stopping: Mutex<bool>,
    stopped: Condvar,
    /// What is known of past windows.
    windows: Mutex<HashMap<TableId, KnownWindows>>,
    /// Held from the view that a purge reads to the last it takes out.
    turn: Mutex<()>,
}

/// Purges on demand, beside the thread's own.
#[derive(Clone)]
pub struct Purges(Arc<Shared>);

impl Purges {
    /// Purges a table now and gives its space back. Waits for it.
    ///
    /// # Errors
    /// As [`Purger::purge`]; [`PurgeError::Stopped`] when the node ends.
    pub fn collect(&self, table: &Table) -> Result<PurgeCounts, PurgeError> {
        let counts = self.0.purge(table, self.0.env.now_s())?;
        // The first rewrite folds what was purged away, the second drops the keys that were left bare.
        self.0.engine.flush(Some(table.id))?;
        self.0.engine.compact(table.id)?;
        if counts.purged > 0 {
            self.0.engine.compact(table.id)?;
        }
        Ok(counts)
    }

    /// Holds purges off while `work` exchanges a table's data: what a purge has seen must still be there when it
    /// takes something out.
    pub fn hold_off<T>(&self, work: impl FnOnce() -> T) -> T {
        let _turn = self.0.turn.lock();
        work()
    }
}

/// The thread. It ends with [`Purging::stop`], or when this is dropped.
pub struct Purging {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Purging {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(
        env: SharedEnv,
        engine: Arc<dyn Engine>,
        purger: Purger,
        tables: Tables,
        bytes_per_second: u64,
    ) -> Result<Purging, Error> {
        let shared = Arc::new(Shared {
            env: Arc::clone(&env),
            engine,
            purger,
            tables,
            bytes_per_second,
            is_stopping: Mutex::new(false),
            stopped: Condvar::new(),
            windows: Mutex::default(),
            turn: Mutex::new(()),
        });
        let for_thread = Arc::clone(&shared);
        let thread = env.spawn_thread("purger", Box::new(move || for_thread.run()))?;
        Ok(Purging { shared, thread: Some(thread) })
    }

    /// Purging on demand.
    pub fn purges(&self) -> Purges {
        Purges(Arc::clone(&self.shared))
    }

    /// Ends it; what it is at is left for the next start.
    pub fn stop(&mut self) {
        *self.shared.is_stopping.lock() = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the purger's thread died");
        }
    }
}

impl Drop for Purging {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn run(&self) {
        let mut plans = HashMap::new();
        while !self.waits(TICK) {
            self.look(&mut plans);
        }
    }

    /// Waits, and answers whether the end has come.
    fn waits(&self, time: Duration) -> bool {
        let mut is_stopping = self.is_stopping.lock();
        if !*is_stopping {
            self.stopped.wait_for(&mut is_stopping, time);
        }
        *is_stopping
    }

    /// Purges the tables that are due.
    fn look(&self, plans: &mut HashMap<TableId, Plan>) {
        let tables = (self.tables)();
        plans.retain(|id, _| tables.iter().any(|table| table.id == *id));
        self.windows.lock().retain(|id, _| tables.iter().any(|table| table.id == *id));
        for table in tables {
            let now_s = self.env.now_s();
            self.begin_window(&table, now_s);
            // What happened before the start is not known: it is looked at soon.
            let gc_grace_s = table.options.gc_grace_seconds;
            let soon = Plan { next_s: now_s + INTERVAL_MIN_S, gc_grace_s, purged: 0 };
            let plan = plans.entry(table.id).or_insert(soon);
            if plan.gc_grace_s != gc_grace_s {
                // Altered: what was not due may be.
                *plan = Plan { next_s: plan.next_s.min(soon.next_s), gc_grace_s, ..*plan };
            }
            if now_s < plan.next_s {
                continue;
            }
            match self.purge(&table, now_s) {
                Ok(counts) => *plan = self.after(&table, *plan, now_s, counts),
                Err(PurgeError::Stopped) => return,
                // Dropped meanwhile.
                Err(PurgeError::Engine(EngineError::UnknownTable(_) | EngineError::Closed)) => {}
                Err(error) => {
                    tracing::warn!("Purging {}.{} failed: {error}", table.keyspace, table.name);
                    plan.next_s = now_s + INTERVAL_MIN_S;
                }
            }
        }
    }

    /// Begins the next window of a table that has windows. Counters have none: what a deletion leaves of them goes by the order in
    /// which it is folded.
    fn begin_window(&self, table: &Table, now_s: i64) {
        if table.is_counter() || StorageOptions::of(&table.options).window_s.is_none() {
            return;
        }
        let _turn = self.turn.lock();
        match self.engine.begin_window(table.id, now_s) {
            Ok(_) | Err(EngineError::UnknownTable(_) | EngineError::Closed) => {}
            Err(error) => {
                tracing::warn!("No new window of {}.{} began: {error}", table.keyspace, table.name);
            }
        }
    }

    /// Drops past windows, if the table has any. Operands that take out would reach the youngest window only.
    fn drop_windows(
        &self,
        table: &Table,
        terms: Terms,
        pace: &mut Pace<'_>,
    ) -> Result<PurgeCounts, PurgeError> {
        let mut known = self.windows.lock().remove(&table.id).unwrap_or_default();
        let dropped = self.purger.drop_windows(table, &mut known, terms, &mut |bytes| pace.keep(bytes));
        self.windows.lock().insert(table.id, known);
        let counts = dropped?;
        if counts.purged > 0 {
            tracing::info!("Dropped {} windows of {}.{}", counts.purged, table.keyspace, table.name);
        }
        Ok(PurgeCounts { purged: 0, ..counts })
    }

    fn purge(&self, table: &Table, now_s: i64) -> Result<PurgeCounts, PurgeError> {
        let terms = Terms::new(now_s, u32::try_from(table.options.gc_grace_seconds).unwrap_or(0));
        let mut all = PurgeCounts::default();
        let mut from = Some(Vec::new());
        let mut pace = Pace { shared: self, read: 0, since: self.env.monotonic_nanos() };
        while let Some(key) = from {
            let turn = self.turn.lock();
            if !self.engine.past_windows(table.id)?.is_empty() {
                drop(turn);
                return self.drop_windows(table, terms, &mut pace);
            }
            let chunk = self.purger.purge(table, &key, terms, &mut |bytes| pace.keep(bytes))?;
            all.add(chunk.counts);
            from = chunk.next;
        }
        Ok(all)
    }

    /// What to do after a purge, which may be a compaction: that is done here.
    fn after(&self, table: &Table, plan: Plan, now_s: i64, counts: PurgeCounts) -> Plan {
        if counts.purged > 0 {
            tracing::info!(
                "Purged {}.{}: took something out of {} entries, read {} rows",
                table.keyspace,
                table.name,
                counts.purged,
                counts.rows
            );
        }
        let gc_grace_s = i64::from(table.options.gc_grace_seconds);
        // To look whether a window is due takes little.
        let has_windows = self.windows.lock().contains_key(&table.id);
        let interval_s = if has_windows { INTERVAL_MIN_S } else { interval_s(gc_grace_s) };
        let next_s = next_s(now_s, gc_grace_s, interval_s, counts.next_due_s);
        let purged = plan.purged + counts.purged;
        if purged < COMPACTED_AFTER || purged < counts.rows / COMPACTED_PART {
            return Plan { next_s, purged, ..plan };
        }
        if let Err(error) = self.engine.compact(table.id) {
            tracing::warn!("Compacting {}.{} failed: {error}", table.keyspace, table.name);
        }
        Plan { next_s, purged: 0, ..plan }
    }
}

/// When to purge again, if the first of what stays is due at `next_due_s`. What is deleted from now on is not due
/// before `gc_grace_s` have passed.
fn next_s(now_s: i64, gc_grace_s: i64, interval_s: i64, next_due_s: Option<i64>) -> i64 {
    let due_s = next_due_s.unwrap_or(i64::MAX).min(now_s.saturating_add(gc_grace_s));
    due_s.max(now_s.saturating_add(interval_s))
}

/// The time between two purges.
fn interval_s(gc_grace_s: i64) -> i64 {
    (gc_grace_s / INTERVALS_PER_GRACE).clamp(INTERVAL_MIN_S, INTERVAL_MAX_S)
}

/// Holds a purge to its rate.
struct Pace<'s> {
    shared: &'s Shared,
    /// Bytes since the last pause.
    read: u64,
    since: u64,
}

/// A pause is worth so much.
const PAUSE_NANOS: u64 = 20_000_000;

impl Pace<'_> {
    fn keep(&mut self, bytes: usize) -> ControlFlow<()> {
        const NANOS_PER_SECOND: u128 = 1_000_000_000;
        self.read += bytes as u64;
        let rate = self.shared.bytes_per_second;
        let nanos = match rate {
            0 => u128::from(self.read),
            _ => u128::from(self.read) * NANOS_PER_SECOND / u128::from(rate),
        };
        let due_nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        if due_nanos < PAUSE_NANOS {
            return ControlFlow::Continue(());
        }
        let taken_nanos = self.shared.env.monotonic_nanos().saturating_sub(self.since);
        let rest_nanos = if rate == 0 { 0 } else { due_nanos.saturating_sub(taken_nanos) };
        if self.shared.waits(Duration::from_nanos(rest_nanos)) {
            return ControlFlow::Break(());
        }
        self.read = 0;
        self.since = self.shared.env.monotonic_nanos();
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
