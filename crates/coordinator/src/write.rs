//! Writes: is the level possible, apply, say what went wrong.

use std::sync::Arc;

use basalt_model::error::WriteType;
use basalt_model::{Consistency, CqlError, Deadline, Mutation, TableId};
use basalt_ring::Replication;

use crate::consistency::Placement;
use crate::observer::tables_of;
use crate::read::{REASON_UNKNOWN, refusal};
use crate::{Coordinator, ReplicaError};

impl Coordinator {
    /// Refuses a write whose level is impossible.
    ///
    /// # Errors
    /// `Invalid`, `Unavailable`.
    pub fn check_write(&self, replication: &Replication, consistency: Consistency) -> Result<(), CqlError> {
        Placement { replication, datacenter: &self.datacenter }.check_write(consistency)
    }

    /// Applies mutations of one keyspace as one atomic step. The level has been checked.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn write(
        &self,
        replication: &Replication,
        mutations: Vec<Mutation>,
        consistency: Consistency,
        write_type: WriteType,
    ) -> Result<(), CqlError> {
        let placement = Placement { replication, datacenter: &self.datacenter };
        // ANY is content with a hint for replicas that this ring does not have.
        if mutations.is_empty() || placement.live() == 0 {
            return Ok(());
        }
        let keyspace = mutations.first().map(|mutation| mutation.keyspace.clone()).unwrap_or_default();
        let (began_nanos, tables) = (self.begin(), tables_of(&mutations));
        let deadline = match write_type {
            // The next conditional statement must see what this one wrote: it cannot be left behind.
            WriteType::Cas => Deadline::NEVER,
            _ => self.deadline_since(began_nanos, |timeouts| timeouts.write_ms),
        };
        let applied = self.until(deadline, self.replica.apply(mutations, deadline)).await;
        // Cassandra times conditional writes apart, and not by table.
        if write_type != WriteType::Cas {
            self.has_written(&tables, began_nanos);
        }
        applied.map_err(|error| self.write_error(error, placement, &keyspace, consistency, write_type))
    }

    /// As [`crate::Replica::end_turn`].
    pub fn end_turn(&self) -> bool {
        self.replica.end_turn()
    }

    /// A replica's failure as the client is told of it.
    pub(crate) fn write_error(
        &self,
        error: ReplicaError,
        placement: Placement<'_>,
        keyspace: &str,
        consistency: Consistency,
        write_type: WriteType,
    ) -> CqlError {
        match error {
            ReplicaError::MutationTooLarge { bytes, limit_bytes } => CqlError::invalid(format!(
                "Rejected an oversized mutation ({bytes}/{limit_bytes}) for keyspace: {keyspace}. Top keys are: "
            )),
            ReplicaError::Storage(_) => CqlError::WriteFailure {
                consistency,
                received: 0,
                block_for: placement.block_for(consistency),
                failures: Box::new([(self.address, REASON_UNKNOWN)]),
                write_type,
            },
            // `Guardrails.replicaDiskUsage`: which replica it is is not for clients.
            ReplicaError::DiskFull => CqlError::invalid(
                "Guardrail replica_disk_usage violated: Write request failed because disk usage exceeds failure threshold",
            ),
            ReplicaError::TimedOut => CqlError::WriteTimeout {
                consistency,
                received: 0,
                block_for: placement.block_for(consistency),
                write_type,
                contentions: 0,
            },
            other => refusal(other),
        }
    }

    /// Removes all data of a table.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn truncate(&self, table: TableId) -> Result<(), CqlError> {
        let deadline = self.deadline(|timeouts| timeouts.truncate_ms);
        let counters = Arc::clone(&self.counters);
        let truncated = self.replica.truncate(table, deadline, Box::new(move || counters.forget()));
        self.until(deadline, truncated).await.map_err(|error| match error {
            ReplicaError::Overloaded(_) | ReplicaError::Closed => refusal(error),
            ReplicaError::TimedOut => CqlError::Truncate(
                "Error during truncate: Truncate timed out - received only 0 responses".into(),
            ),
            _ => CqlError::Truncate("Error during truncate".into()),
        })
    }
}
