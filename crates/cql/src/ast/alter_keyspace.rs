//! ALTER KEYSPACE.

use super::{Ident, Property};

/// `ALTER KEYSPACE [IF EXISTS] keyspace WITH ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterKeyspace {
    /// The keyspace.
    pub keyspace: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// `WITH`, at least one.
    pub properties: Vec<Property>,
}
