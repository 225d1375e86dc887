//! Storage of tables, made and removed for the schema's keeper, off the reactors.

use std::sync::Arc;

use basalt_coordinator::{ReplicaError, Reply, TableStorage};
use basalt_model::schema::OptionsEffect;
use basalt_model::{Table, TableId};
use basalt_storage::engine::{Engine, EngineError, StorageOptions};
use tokio::sync::oneshot;

use crate::pool::{Pool, PoolError};

/// Tables of an engine.
pub struct EngineTables {
    engine: Arc<dyn Engine>,
    pool: Arc<Pool>,
}

impl EngineTables {
    /// Over an engine; the pool waits for it.
    pub fn new(engine: Arc<dyn Engine>, pool: Arc<Pool>) -> EngineTables {
        EngineTables { engine, pool }
    }
}

/// Runs blocking work on the pool; the answer comes from there.
pub fn on_pool<T: Send + 'static>(
    pool: &Pool,
    work: impl FnOnce() -> Result<T, ReplicaError> + Send + 'static,
) -> Reply<T> {
    let (sender, receiver) = oneshot::channel();
    let job = move || {
        // Whoever asked may be gone: then nobody wants the answer.
        drop(sender.send(work()));
    };
    match pool.run(job) {
        Ok(()) => Reply::Pending(receiver),
        Err(PoolError::Full) => {
            Reply::ready(Err(ReplicaError::Overloaded("too much work waits for the disk")))
        }
        Err(PoolError::Closed) => Reply::ready(Err(ReplicaError::Closed)),
    }
}

/// An engine's failure as a replica's.
pub fn replica_error(error: EngineError) -> ReplicaError {
    match error {
        EngineError::UnknownTable(table) => ReplicaError::UnknownTable(table),
        EngineError::Closed => ReplicaError::Closed,
        other => {
            tracing::error!(error = %other, "storage failed");
            ReplicaError::Storage(other.to_string())
        }
    }
}

impl TableStorage for EngineTables {
    fn create(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        let engine = Arc::clone(&self.engine);
        on_pool(&self.pool, move || {
            let create =
                |table: &Arc<Table>| engine.create_table_with(table.id, &StorageOptions::of(&table.options));
            tables.iter().map(create).collect::<Result<_, _>>().map_err(replica_error)
        })
    }

    fn set_options(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        let engine = Arc::clone(&self.engine);
        on_pool(&self.pool, move || {
            let set = |table: &Arc<Table>| engine.set_options(table.id, &StorageOptions::of(&table.options));
            tables.iter().map(set).collect::<Result<_, _>>().map_err(replica_error)
        })
    }

    fn create_small(&self, tables: Vec<TableId>) -> Reply<()> {
        let engine = Arc::clone(&self.engine);
        on_pool(&self.pool, move || engine.create_small_tables(&tables).map_err(replica_error))
    }

    fn remove(&self, tables: Vec<TableId>) -> Reply<()> {
        let engine = Arc::clone(&self.engine);
        on_pool(&self.pool, move || {
            tables.into_iter().try_for_each(|table| engine.drop_table(table)).map_err(replica_error)
        })
    }

    fn existing(&self) -> Reply<Vec<TableId>> {
        let engine = Arc::clone(&self.engine);
        on_pool(&self.pool, move || {
            let tables = engine.tables().map_err(replica_error)?;
            Ok(tables.into_iter().map(|info| info.table).collect())
        })
    }
}
