//! BATCH.

use super::{Delete, Insert, Update, Using};

/// `BEGIN [UNLOGGED | COUNTER] BATCH ... APPLY BATCH`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Logged if nothing is written.
    pub kind: BatchKind,
    /// `USING`; Cassandra refuses a TTL here later.
    pub using: Using,
    /// The statements, possibly none.
    pub statements: Vec<Modification>,
}

/// The kind of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BatchKind {
    /// Atomic over partitions.
    #[default]
    Logged,
    /// `UNLOGGED`
    Unlogged,
    /// `COUNTER`
    Counter,
}

/// A statement that may stand in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The variants are the statements of the same names.
pub enum Modification {
    Insert(Insert),
    Update(Update),
    Delete(Delete),
}
