//! Who takes part: the local replica, and where this node stands in the ring.

use std::sync::Arc;

use crate::lwt::PartitionLocks;
use crate::replica::Replica;

/// Sends mutations and reads to replicas and counts their answers.
pub struct Coordinator {
    pub(crate) replica: Arc<dyn Replica>,
    pub(crate) datacenter: Arc<str>,
    pub(crate) locks: PartitionLocks,
}

impl Coordinator {
    /// A coordinator of a ring of one node in `datacenter`.
    pub fn new(replica: Arc<dyn Replica>, datacenter: Arc<str>) -> Coordinator {
        Coordinator { replica, datacenter, locks: PartitionLocks::default() }
    }

    /// The local replica.
    pub fn replica(&self) -> &Arc<dyn Replica> {
        &self.replica
    }

    /// This node's datacenter.
    pub fn datacenter(&self) -> &Arc<str> {
        &self.datacenter
    }
}
