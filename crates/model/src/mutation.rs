//! Writes: all that one statement or batch does to one partition key in one keyspace.

use std::sync::Arc;

use crate::clustering::Slice;
use crate::deletion::Deletion;
use crate::key::DecoratedKey;
use crate::row::Row;
use crate::schema::Table;

/// A deletion of a slice of a partition (`db/RangeTombstone`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeTombstone {
    /// What it covers.
    pub slice: Slice,
    /// When.
    pub deletion: Deletion,
}

/// A write to one partition of one table (`db/partitions/PartitionUpdate`).
#[derive(Clone, Debug)]
pub struct PartitionUpdate {
    /// The table, as it was when the statement was planned.
    pub table: Arc<Table>,
    /// Which partition.
    pub key: DecoratedKey,
    /// Deletion of the whole partition, static row included.
    pub deletion: Deletion,
    /// Deletions of slices of its rows; in any order, overlapping or not.
    pub range_tombstones: Vec<RangeTombstone>,
    /// The static row, if written.
    pub static_row: Option<Row>,
    /// Rows, ascending by clustering, one per clustering.
    pub rows: Vec<Row>,
}

impl PartitionUpdate {
    /// An update that does nothing yet.
    pub fn new(table: Arc<Table>, key: DecoratedKey) -> PartitionUpdate {
        PartitionUpdate {
            table,
            key,
            deletion: Deletion::LIVE,
            range_tombstones: Vec::new(),
            static_row: None,
            rows: Vec::new(),
        }
    }
}

/// All writes of one statement or batch to one partition key (`db/Mutation`): applied on a replica
/// atomically and in isolation.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The keyspace all updates belong to.
    pub keyspace: Arc<str>,
    /// The partition key all updates share.
    pub key: DecoratedKey,
    /// At most one update per table.
    pub updates: Vec<PartitionUpdate>,
}
