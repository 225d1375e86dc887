//! DROP TYPE.

use super::QualifiedName;

/// `DROP TYPE [IF EXISTS] name`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropType {
    /// The type.
    pub name: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
}
