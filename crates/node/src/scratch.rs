//! Reads over rows that are stored nowhere (virtual tables): an engine in memory, made for one read.

use std::sync::Arc;

use basalt_coordinator::ReplicaError;
use basalt_model::command::ReadPage;
use basalt_model::{Mutation, PartitionUpdate, ReadCommand};
use basalt_query::schema::Scratch;
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use basalt_storage::read::{ReadOptions, read};
use basalt_storage::write::Writer;

/// Engines in memory, one per read.
pub struct MemoryScratch;

fn defect(error: impl std::fmt::Display) -> ReplicaError {
    ReplicaError::Storage(format!("a virtual table: {error}"))
}

impl Scratch for MemoryScratch {
    fn read(&self, rows: Vec<PartitionUpdate>, command: ReadCommand) -> Result<ReadPage, ReplicaError> {
        let engine: Arc<dyn Engine> = Arc::new(MemEngine::new());
        engine.create_table(command.table.id).map_err(defect)?;
        let writer = Writer::new(Arc::clone(&engine), usize::MAX);
        let mutations: Vec<Mutation> = rows
            .into_iter()
            .map(|update| Mutation {
                keyspace: Arc::clone(&command.table.keyspace),
                key: update.key.clone(),
                updates: vec![update],
            })
            .collect();
        let mut set = WriteSet::new();
        writer.encode(&mutations, &mut set).map_err(defect)?;
        engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).map_err(defect)?;
        read(&*engine, &command, &ReadOptions::new(ReadTier::All)).map(|outcome| outcome.page).map_err(defect)
    }
}
