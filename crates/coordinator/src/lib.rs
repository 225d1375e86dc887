//! Plan to replicas to answer: which replicas a write or read needs, how many must answer, when to
//! give up. Knows consistency and placement; not how bytes are stored, not CQL text.

pub mod batch;
pub mod consistency;
pub mod coordinator;
pub mod counters;
mod expiring;
pub mod lwt;
mod observer;
pub mod read;
pub mod replica;
#[cfg(test)]
mod testing;
pub mod write;

pub use basalt_ring::Replication;
pub use coordinator::Coordinator;
pub use counters::Counters;
pub use expiring::Timeouts;
pub use observer::{Observer, TableIds, tables_of};
pub use replica::{OnApplied, Replica, ReplicaError, Reply, TableStorage};
