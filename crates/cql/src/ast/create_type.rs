//! CREATE TYPE.

use super::{CqlType, Ident, QualifiedName};

/// `CREATE TYPE [IF NOT EXISTS] name (field type, ...)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateType {
    /// The type.
    pub name: QualifiedName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// At least one.
    pub fields: Vec<(Ident, CqlType)>,
}
