//! DROP KEYSPACE.

use super::Ident;

/// `DROP KEYSPACE [IF EXISTS] keyspace`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropKeyspace {
    /// The keyspace.
    pub keyspace: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
}
