//! Who takes part: the local replica, and where this node stands in the ring.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_model::{Deadline, TableId};

use crate::Reply;
use crate::counters::Counters;
use crate::expiring::{Expiring, Timeouts};
use crate::lwt::PartitionLocks;
use crate::observer::Observer;
use crate::replica::Replica;

/// Where a node is for others unless it is told otherwise.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7_000);

/// Sends mutations and reads to replicas and counts their answers.
pub struct Coordinator {
    pub(crate) replica: Arc<dyn Replica>,
    pub(crate) datacenter: Arc<str>,
    pub(crate) locks: PartitionLocks,
    pub(crate) counters: Arc<Counters>,
    /// This node, as failures name it.
    pub(crate) address: SocketAddr,
    patience: Option<(SharedEnv, Timeouts)>,
    observer: Option<Arc<dyn Observer>>,
}

impl Coordinator {
    /// Forgets what was counted last: the data it was counted from has been replaced.
    pub fn forget_counts(&self) {
        self.counters.forget();
    }

    /// A coordinator of a ring of one node in `datacenter`.
    pub fn new(replica: Arc<dyn Replica>, datacenter: Arc<str>, counters: Counters) -> Coordinator {
        Coordinator {
            replica,
            datacenter,
            locks: PartitionLocks::default(),
            counters: Arc::new(counters),
            address: DEFAULT_ADDRESS,
            patience: None,
            observer: None,
        }
    }

    /// Names this node in failures: `broadcast_address` and `storage_port`.
    pub fn at(mut self, address: SocketAddr) -> Coordinator {
        self.address = address;
        self
    }

    /// Replicas are waited for only so long. A request that waits must be polled now and then.
    pub fn with_timeouts(mut self, env: SharedEnv, timeouts: Timeouts) -> Coordinator {
        self.patience = Some((env, timeouts));
        self
    }

    /// How long reads and writes take is told to `observer`.
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Coordinator {
        self.observer = Some(observer);
        self
    }

    /// When a read or write begins, by the one clock of deadlines and observers; 0 where there are neither.
    pub(crate) fn begin(&self) -> u64 {
        match (&self.patience, &self.observer) {
            (Some((env, _)), _) => env.monotonic_nanos(),
            (None, Some(observer)) => observer.begin(),
            (None, None) => 0,
        }
    }

    /// The deadline of a request that has begun.
    pub(crate) fn deadline_since(
        &self,
        began_nanos: u64,
        timeout_ms: impl FnOnce(&Timeouts) -> u64,
    ) -> Deadline {
        match &self.patience {
            Some((_, timeouts)) => Deadline::since(began_nanos, timeout_ms(timeouts)),
            None => Deadline::NEVER,
        }
    }

    /// Tells of a read of one page.
    pub(crate) fn has_read(&self, table: TableId, is_range: bool, began_nanos: u64) {
        if let Some(observer) = &self.observer {
            observer.read(table, is_range, began_nanos);
        }
    }

    /// Tells of a write.
    pub(crate) fn has_written(&self, tables: &[TableId], began_nanos: u64) {
        if let Some(observer) = &self.observer {
            observer.wrote(tables, began_nanos);
        }
    }

    /// The deadline of a request that begins now.
    pub(crate) fn deadline(&self, timeout_ms: impl FnOnce(&Timeouts) -> u64) -> Deadline {
        match &self.patience {
            Some((env, timeouts)) => Deadline::after(&**env, timeout_ms(timeouts)),
            None => Deadline::NEVER,
        }
    }

    /// A reply that is waited for until its deadline.
    pub(crate) fn until<T>(&self, deadline: Deadline, reply: Reply<T>) -> Expiring<'_, T> {
        let env = self.patience.as_ref().map(|(env, _)| &**env as _);
        Expiring { reply, deadline, env, has_waited: false }
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
