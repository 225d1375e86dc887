//! Reads: is the level possible, ask the replica, say what went wrong.

use basalt_model::command::{ReadPage, ReadTarget};
use basalt_model::{Consistency, CqlError, ReadCommand};
use basalt_ring::Replication;

use crate::consistency::Placement;
use crate::{Coordinator, ReplicaError};

/// `RequestFailureReason.UNKNOWN`.
pub(crate) const REASON_UNKNOWN: u16 = 0;
/// `RequestFailureReason.READ_TOO_MANY_TOMBSTONES`.
const REASON_TOMBSTONES: u16 = 1;

impl Coordinator {
    /// Refuses a read whose level is impossible. Serial levels are linearizable only for one
    /// partition.
    ///
    /// # Errors
    /// `Invalid`, `Unavailable`.
    pub fn check_read(
        &self,
        replication: &Replication,
        consistency: Consistency,
        is_single_partition: bool,
    ) -> Result<(), CqlError> {
        let placement = Placement { replication, datacenter: &self.datacenter };
        if consistency.is_serial() && is_single_partition {
            return placement.check_serial_read(consistency);
        }
        placement.check_read(consistency)
    }

    /// One page of live data. The level has been checked.
    ///
    /// # Errors
    /// What the client is told.
    pub fn read(
        &self,
        replication: &Replication,
        command: ReadCommand,
        consistency: Consistency,
    ) -> impl Future<Output = Result<ReadPage, CqlError>> {
        let began_nanos = self.begin();
        let (table, is_range) = (command.table.id, matches!(command.target, ReadTarget::Range { .. }));
        let deadline =
            self.deadline_since(
                began_nanos,
                |timeouts| {
                    if is_range { timeouts.range_ms } else { timeouts.read_ms }
                },
            );
        // Asked before the first poll: the future needs no room for the command.
        let reply = self.until(deadline, self.replica.read(command, deadline));
        let told = move |error| {
            let placement = Placement { replication, datacenter: &self.datacenter };
            let failure = |reason: u16| CqlError::ReadFailure {
                consistency,
                received: 0,
                block_for: placement.block_for(consistency),
                failures: Box::new([(self.address, reason)]),
                data_present: false,
            };
            match error {
                ReplicaError::TombstoneOverwhelming { .. } => failure(REASON_TOMBSTONES),
                ReplicaError::Storage(_) => failure(REASON_UNKNOWN),
                ReplicaError::TimedOut => CqlError::ReadTimeout {
                    consistency,
                    received: 0,
                    block_for: placement.block_for(consistency),
                    data_present: false,
                },
                other => refusal(other),
            }
        };
        async move {
            let read = reply.await;
            self.has_read(table, is_range, began_nanos);
            read.map_err(told)
        }
    }
}

/// Errors that mean the same for reads and writes.
pub(crate) fn refusal(error: ReplicaError) -> CqlError {
    match error {
        ReplicaError::Overloaded(what) => CqlError::Overloaded(what.into()),
        ReplicaError::UnknownTable(_) => CqlError::invalid("the table was dropped while the request ran"),
        ReplicaError::Closed => CqlError::server("the node is shutting down"),
        _ => CqlError::server("the replica failed"),
    }
}
