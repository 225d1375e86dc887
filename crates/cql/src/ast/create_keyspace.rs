//! CREATE KEYSPACE.

use super::{Ident, Property};

/// `CREATE KEYSPACE [IF NOT EXISTS] keyspace WITH ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateKeyspace {
    /// The keyspace.
    pub keyspace: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `WITH`, at least one.
    pub properties: Vec<Property>,
}
