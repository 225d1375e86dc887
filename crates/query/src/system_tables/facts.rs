//! What a node says of itself, in `system.local` and DESCRIBE CLUSTER. Knows no configuration.

use std::net::IpAddr;

/// The Cassandra version whose behaviour is followed; drivers steer by it.
pub const RELEASE_VERSION: &str = "5.0.9";

/// The CQL version (`QueryProcessor.CQL_VERSION`).
pub const CQL_VERSION: &str = "3.4.7";

/// The newest native protocol version served.
pub const NATIVE_PROTOCOL_VERSION: &str = "5";

/// Murmur3Partitioner's class name.
pub const PARTITIONER: &str = "org.apache.cassandra.dht.Murmur3Partitioner";

/// What this node says of itself. Everything kept across restarts (host id, tokens) is in
/// `system.local` and not here.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// `cluster_name`.
    pub cluster_name: String,
    /// Of the snitch; `datacenter1` for SimpleSnitch.
    pub data_center: String,
    /// Of the snitch; `rack1` for SimpleSnitch.
    pub rack: String,
    /// The snitch's class name without package, as DESCRIBE CLUSTER shows it: Cassandra wraps every
    /// snitch in `DynamicEndpointSnitch` unless `dynamic_snitch` is off.
    pub snitch: String,
    /// `listen_address`.
    pub listen_address: IpAddr,
    /// `storage_port`.
    pub listen_port: u16,
    /// `broadcast_address`.
    pub broadcast_address: IpAddr,
    /// `storage_port`.
    pub broadcast_port: u16,
    /// `broadcast_rpc_address`, or `rpc_address`.
    pub rpc_address: IpAddr,
    /// `native_transport_port`.
    pub rpc_port: u16,
    /// Tokens that a new node draws.
    pub num_tokens: u16,
    /// Basalt's own version.
    pub basalt_version: String,
}
