//! `memtable_flush_period_in_ms`: tables that ask for it are flushed so often, on a thread of its own. Knows no
//! statement; the schema says which tables ask.

use std::collections::HashMap;
use std::io::Error;
use std::sync::Arc;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_model::{Table, TableId};
use basalt_storage::engine::{Engine, EngineError};

use crate::watching::Watching;

/// How often it is looked whether a table is due. Shorter periods are as this one.
const TICK: Duration = Duration::from_secs(1);

/// Says which tables ask to be flushed.
pub type Asking = Box<dyn Fn() -> Vec<Arc<Table>> + Send + Sync>;

/// When a table is flushed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    period_ms: u64,
    due_nanos: u64,
}

/// What the thread has.
struct Flusher {
    env: SharedEnv,
    engine: Arc<dyn Engine>,
    tables: Asking,
}

/// Starts the thread.
///
/// # Errors
/// When there is no thread to be had.
pub fn start(env: SharedEnv, engine: Arc<dyn Engine>, tables: Asking) -> Result<Watching, Error> {
    let flusher = Flusher { env: env.clone(), engine, tables };
    let mut plans = HashMap::new();
    let look = move || {
        flusher.look(&mut plans);
        TICK
    };
    Watching::start(&env, "flusher", TICK, Box::new(look))
}

impl Flusher {
    /// Flushes the tables that are due. One with nothing in memory gets no file.
    fn look(&self, plans: &mut HashMap<TableId, Plan>) {
        let tables = (self.tables)();
        plans.retain(|id, _| tables.iter().any(|table| table.id == *id));
        for table in tables {
            let now = self.env.monotonic_nanos();
            let period_ms = u64::try_from(table.options.memtable_flush_period_in_ms).unwrap_or(0);
            let next = Plan { period_ms, due_nanos: now.saturating_add(period_ms.saturating_mul(1_000_000)) };
            let plan = plans.entry(table.id).or_insert(next);
            if plan.period_ms != period_ms {
                *plan = next;
            }
            if now < plan.due_nanos {
                continue;
            }
            *plan = next;
            match self.engine.flush(Some(table.id)) {
                // Dropped meanwhile, or the node ends.
                Ok(()) | Err(EngineError::UnknownTable(_) | EngineError::Closed) => {}
                Err(error) => {
                    tracing::warn!("Flushing {}.{} failed: {error}", table.keyspace, table.name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! By a clock that is set by hand, on an engine that counts.

    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread::JoinHandle;

    use basalt_model::env::Env;
    use basalt_model::schema::TableOptions;
    use basalt_storage::checker::test_table;
    use basalt_storage::engine::failing::{Call, FailingEngine};
    use basalt_storage::engine::mem::MemEngine;
    use parking_lot::Mutex;

    use super::*;

    #[derive(Default)]
    struct Clock(AtomicU64);

    impl Env for Clock {
        fn wall_micros(&self) -> i64 {
            0
        }

        fn monotonic_nanos(&self) -> u64 {
            self.0.load(Ordering::SeqCst) * 1_000_000
        }

        fn random_u64(&self) -> u64 {
            4
        }

        #[allow(clippy::disallowed_methods)]
        fn spawn_thread(
            &self,
            name: &str,
            work: Box<dyn FnOnce() + Send>,
        ) -> std::io::Result<JoinHandle<()>> {
            std::thread::Builder::new().name(name.to_owned()).spawn(work)
        }
    }

    fn asking(period_ms: i32) -> Arc<Table> {
        let options = TableOptions { memtable_flush_period_in_ms: period_ms, ..TableOptions::default() };
        Arc::new(Table { options, ..Table::clone(&test_table(false)) })
    }

    #[test]
    fn a_table_is_flushed_once_a_period_and_a_new_period_counts_from_its_start() {
        let clock = Arc::new(Clock::default());
        let engine = Arc::new(FailingEngine::new(MemEngine::new()));
        let table = Arc::new(Mutex::new(asking(5_000)));
        engine.create_table(table.lock().id).unwrap();
        let flusher = Flusher {
            env: clock.clone(),
            engine: engine.clone(),
            tables: {
                let table = Arc::clone(&table);
                Box::new(move || vec![Arc::clone(&table.lock())])
            },
        };
        let mut plans = HashMap::new();
        let mut look = |now_ms: u64| {
            clock.0.store(now_ms, Ordering::SeqCst);
            let before = engine.made(Call::Flush);
            flusher.look(&mut plans);
            engine.made(Call::Flush) - before
        };
        assert_eq!([look(0), look(4_999), look(5_000), look(9_999), look(10_500)], [0, 0, 1, 0, 1]);
        *table.lock() = asking(1_000);
        assert_eq!([look(11_000), look(11_999), look(12_000)], [0, 0, 1]);
    }
}
