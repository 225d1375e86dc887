//! USE.

use super::Ident;

/// `USE keyspace`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The keyspace.
    pub keyspace: Ident,
}
