//! Storage of tables, made and removed for the schema's keeper, off the reactors.

use std::sync::Arc;

use basalt_coordinator::{ReplicaError, Reply, TableStorage};
use basalt_model::schema::OptionsEffect;
use basalt_model::{Table, TableId};
use basalt_storage::engine::{Engine, EngineError, StorageOptions};
use tokio::sync::oneshot;

use crate::disk::Disk;
use crate::pool::{Pool, PoolError};
use crate::snapshots::{SnapshotError, Snapshots};

/// Tables of an engine.
pub struct EngineTables {
    engine: Arc<dyn Engine>,
    pool: Arc<Pool>,
    disk: Arc<Disk>,
    snapshots: Arc<Snapshots>,
}

impl EngineTables {
    /// Over an engine; the pool waits for it.
    pub fn new(
        engine: Arc<dyn Engine>,
        pool: Arc<Pool>,
        disk: Arc<Disk>,
        snapshots: Arc<Snapshots>,
    ) -> EngineTables {
        EngineTables { engine, pool, disk, snapshots }
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

impl EngineTables {
    fn on_pool<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Engine) -> Result<T, EngineError> + Send + 'static,
    ) -> Reply<T> {
        let (engine, disk) = (Arc::clone(&self.engine), Arc::clone(&self.disk));
        on_pool(&self.pool, move || work(&*engine).map_err(|error| disk.replica_error(error)))
    }
}

/// Data that was to be kept could not be: what would have removed it is not done.
pub fn not_kept(disk: &Disk, error: SnapshotError) -> ReplicaError {
    match error {
        SnapshotError::Engine(error) => disk.replica_error(error),
        error => {
            tracing::error!(%error, "a snapshot failed, and what would have removed the data is not done");
            ReplicaError::Storage(error.to_string())
        }
    }
}

impl TableStorage for EngineTables {
    fn create(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        self.on_pool(move |engine| {
            let create =
                |table: &Arc<Table>| engine.create_table_with(table.id, &StorageOptions::of(&table.options));
            tables.iter().map(create).collect()
        })
    }

    fn set_options(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        self.on_pool(move |engine| {
            let set = |table: &Arc<Table>| engine.set_options(table.id, &StorageOptions::of(&table.options));
            tables.iter().map(set).collect()
        })
    }

    fn create_small(&self, tables: Vec<TableId>) -> Reply<()> {
        self.on_pool(move |engine| engine.create_small_tables(&tables))
    }

    fn keep_dropped(&self, tables: Vec<TableId>) -> Reply<()> {
        let (snapshots, disk) = (Arc::clone(&self.snapshots), Arc::clone(&self.disk));
        on_pool(&self.pool, move || snapshots.before_drop(&tables).map_err(|error| not_kept(&disk, error)))
    }

    fn remove(&self, tables: Vec<TableId>) -> Reply<()> {
        self.on_pool(move |engine| tables.into_iter().try_for_each(|table| engine.drop_table(table)))
    }

    fn existing(&self) -> Reply<Vec<TableId>> {
        self.on_pool(|engine| Ok(engine.tables()?.into_iter().map(|info| info.table).collect()))
    }
}
