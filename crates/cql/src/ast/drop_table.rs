//! DROP TABLE.

use super::QualifiedName;

/// `DROP TABLE [IF EXISTS] table`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropTable {
    /// The table.
    pub table: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
}
