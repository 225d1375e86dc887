//! TRUNCATE.

use super::QualifiedName;

/// `TRUNCATE [TABLE] table`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncate {
    /// The table.
    pub table: QualifiedName,
}
