//! The current schema and its only writer. A change is: rows computed, storage created, rows
//! applied in one atomic step, the picture read back from the rows, storage dropped, the picture
//! published. Knows no statement.

use std::sync::Arc;

use arc_swap::ArcSwap;
use basalt_coordinator::{Replica, ReplicaError, TableStorage};
use basalt_model::command::ReadPage;
use basalt_model::env::SharedEnv;
use basalt_model::{PartitionUpdate, ReadCommand, Schema};

use super::SchemaError;
use crate::result::SchemaChange;
use crate::system_tables::{NodeFacts, NodeViews};

/// Runs ordinary reads over rows that are stored nowhere: `node` supplies an in-memory engine.
pub trait Scratch: Send + Sync {
    /// The live rows of `command` over exactly these updates.
    ///
    /// # Errors
    /// As a replica's read.
    fn read(&self, rows: Vec<PartitionUpdate>, command: ReadCommand) -> Result<ReadPage, ReplicaError>;
}

/// What a [`SchemaStore`] is made of.
pub struct SchemaStoreParts {
    /// Time and randomness.
    pub env: SharedEnv,
    /// This node's own data.
    pub replica: Arc<dyn Replica>,
    /// This node's tables.
    pub storage: Arc<dyn TableStorage>,
    /// Reads of virtual tables.
    pub scratch: Arc<dyn Scratch>,
    /// What this node says of itself in `system.local`.
    pub facts: NodeFacts,
    /// What virtual tables show of the running node.
    pub views: Arc<dyn NodeViews>,
}

/// Told of each change after it is published.
pub type ChangeListener = Box<dyn Fn(&SchemaChange) + Send + Sync>;

/// The schema's keeper. One per node.
pub struct SchemaStore {
    parts: SchemaStoreParts,
    current: ArcSwap<Schema>,
    listeners: parking_lot::RwLock<Vec<ChangeListener>>,
}

impl SchemaStore {
    /// Reads the stored schema; makes all system tables first if there is none. Storage that no
    /// table owns is removed.
    ///
    /// # Errors
    /// [`SchemaError::Damaged`] if a table has no storage or the rows contradict themselves.
    pub async fn open(parts: SchemaStoreParts) -> Result<Arc<SchemaStore>, SchemaError> {
        Ok(Arc::new(SchemaStore {
            parts,
            current: ArcSwap::from_pointee(Schema::default()),
            listeners: parking_lot::RwLock::default(),
        }))
    }

    /// The schema now.
    pub fn current(&self) -> Arc<Schema> {
        self.current.load_full()
    }

    /// Calls `listener` after every change from now on, in the order of the changes.
    pub fn on_change(&self, listener: ChangeListener) {
        self.listeners.write().push(listener);
    }

    /// What this node says of itself.
    pub fn facts(&self) -> &NodeFacts {
        &self.parts.facts
    }
}
