//! DROP TRIGGER.

use super::{Ident, QualifiedName};

/// `DROP TRIGGER [IF EXISTS] name ON table`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropTrigger {
    /// The trigger.
    pub name: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The table.
    pub table: QualifiedName,
}
