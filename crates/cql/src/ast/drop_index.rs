//! DROP INDEX.

use super::QualifiedName;

/// `DROP INDEX [IF EXISTS] index`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIndex {
    /// The index.
    pub index: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
}
