//! Batches over several keyspaces: every level is checked before anything is written, and all of
//! it is one atomic step on this node, so a batch log has nothing to replay.

use basalt_model::error::WriteType;
use basalt_model::{Consistency, CqlError, Mutation};
use basalt_ring::Replication;

use crate::Coordinator;
use crate::consistency::Placement;

impl Coordinator {
    /// Applies the mutations of a batch, each with its keyspace's replication.
    ///
    /// # Errors
    /// What the client is told; nothing was written then, unless the storage failed.
    pub async fn write_batch(
        &self,
        mutations: Vec<(Mutation, Replication)>,
        consistency: Consistency,
        write_type: WriteType,
    ) -> Result<(), CqlError> {
        for (_, replication) in &mutations {
            // Cassandra asks no more of a batch: a serial level counts as a quorum (`BatchStatement`).
            Placement { replication, datacenter: &self.datacenter }.check_live(consistency)?;
        }
        let here = |(_, replication): &(Mutation, Replication)| {
            replication.replicas_of_one_node(&self.datacenter) > 0
        };
        let applied: Vec<(Mutation, Replication)> = mutations.into_iter().filter(here).collect();
        let Some((_, replication)) = applied.first() else { return Ok(()) };
        let replication = replication.clone();
        let mutations = applied.into_iter().map(|(mutation, _)| mutation).collect();
        self.write(&replication, mutations, consistency, write_type).await
    }
}
