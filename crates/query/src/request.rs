//! What comes with a statement: who asks, bound values, and the options of the native protocol's
//! `<query_parameters>` (v5 §4.1.4), already decoded.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use basalt_model::{Consistency, SerialConsistency};
use bytes::Bytes;

/// A bound value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Null.
    Null,
    /// Not set (protocol v4 and later): as if the marker's column were not in the statement.
    Unset,
    /// Serialized bytes, not yet validated.
    Bytes(Bytes),
}

/// Values for a statement's bind markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// In marker order.
    Positional(Vec<Value>),
    /// By marker name.
    Named(Vec<(Arc<str>, Value)>),
}

/// Options of one request (`cql3/QueryOptions`).
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// How many replicas must answer.
    pub consistency: Consistency,
    /// The level of a conditional statement's Paxos phase.
    pub serial_consistency: SerialConsistency,
    /// Bound values.
    pub values: Values,
    /// Rows a page, if paging is asked for.
    pub page_size: Option<i32>,
    /// Where the last page stopped, as this node encoded it.
    pub paging_state: Option<Bytes>,
    /// The write time of statements without USING TIMESTAMP, microseconds.
    pub default_timestamp: Option<i64>,
    /// The client's idea of now (v5).
    pub now_s: Option<u32>,
    /// Keyspace of this request alone (v5).
    pub keyspace: Option<Arc<str>>,
    /// Protocol version (3, 4 or 5): paging states and some errors depend on it.
    pub protocol_version: u8,
}

/// What a connection remembers between requests (`service/ClientState`).
#[derive(Clone, Debug, Default)]
pub struct ClientState {
    /// Set by USE.
    pub keyspace: Option<Arc<str>>,
    /// Warnings of the last request, if it failed: they go with the error.
    pub warnings: Vec<String>,
    /// Told once that USE and prepared statements do not go together; shared by the requests of a
    /// connection.
    pub warned_of_use: Arc<AtomicBool>,
    /// The logged-in role; `None` when authentication is off (`AllowAllAuthenticator`).
    pub role: Option<Arc<str>>,
}

/// One statement of a BATCH message.
#[derive(Clone, Debug)]
pub enum BatchEntry {
    /// CQL text.
    Text(Arc<str>),
    /// A prepared statement's id.
    Prepared([u8; 16]),
}

/// The kind of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchKind {
    /// All or nothing, eventually.
    Logged,
    /// No guarantee across partitions.
    Unlogged,
    /// Counter updates.
    Counter,
}
