//! What stands in for a column's values where they are not to be seen.

use std::sync::Arc;

use bytes::Bytes;

use crate::types::DataType;

/// A function of a column's values whose further arguments are fixed
/// (`cql3/functions/masking/ColumnMask`). Kept and shown; that nobody's reads are masked is the
/// query crate's matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMask {
    /// The function's keyspace: `system` for native ones.
    pub keyspace: Arc<str>,
    /// Its name.
    pub function: Arc<str>,
    /// Its arguments behind the column's value: types and serialized values, `None` for null.
    pub arguments: Vec<(DataType, Option<Bytes>)>,
}
