//! Lightweight transactions on one node: whoever reads, compares and writes a partition does so
//! alone. The agreement among replicas (Paxos) comes with the ring.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use basalt_model::{Consistency, CqlError, DecoratedKey, SerialConsistency, TableId};
use basalt_ring::Replication;
use tokio::sync::{Mutex, MutexGuard};

use crate::Coordinator;
use crate::consistency::Placement;

/// Partitions share this many locks.
const STRIPES: usize = 1024;

/// Locks of partitions.
pub struct PartitionLocks {
    stripes: Box<[Mutex<()>]>,
}

impl Default for PartitionLocks {
    fn default() -> PartitionLocks {
        PartitionLocks { stripes: (0..STRIPES).map(|_| Mutex::new(())).collect() }
    }
}

impl Coordinator {
    /// Refuses a conditional write whose levels are impossible.
    ///
    /// # Errors
    /// `Invalid`, `Unavailable`.
    pub fn check_conditional(
        &self,
        replication: &Replication,
        serial: SerialConsistency,
        commit: Consistency,
    ) -> Result<(), CqlError> {
        Placement { replication, datacenter: &self.datacenter }.check_conditional(serial.into(), commit)
    }

    /// Refuses to write what was agreed upon at a level that is impossible.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn check_commit(&self, replication: &Replication, commit: Consistency) -> Result<(), CqlError> {
        Placement { replication, datacenter: &self.datacenter }.check_live(commit)
    }

    /// Waits until no other conditional statement is at work on the partition.
    pub async fn lock_partition(&self, table: TableId, key: &DecoratedKey) -> MutexGuard<'_, ()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((table, key.token.0));
        let stripes = &self.locks.stripes;
        let index = usize::try_from(hash % STRIPES as u64).unwrap_or(0);
        stripes[index % stripes.len()].lock().await
    }
}
