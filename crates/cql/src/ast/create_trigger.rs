//! CREATE TRIGGER.

use super::{Ident, QualifiedName};

/// `CREATE TRIGGER [IF NOT EXISTS] name ON table USING 'class'`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTrigger {
    /// The trigger.
    pub name: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The table.
    pub table: QualifiedName,
    /// The Java class.
    pub class: String,
}
