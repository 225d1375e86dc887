//! Who owns a token and who is alive: for now, how many replicas a keyspace has in each datacenter
//! and what a ring of one node makes of that. No sockets, no clock.

pub mod placement;

pub use placement::{Replication, Strategy};
