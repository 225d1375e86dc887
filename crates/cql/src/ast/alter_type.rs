//! ALTER TYPE.

use super::{CqlType, Ident, QualifiedName};

/// `ALTER TYPE [IF EXISTS] name change`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterType {
    /// The type.
    pub name: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// What changes.
    pub change: TypeChange,
}

/// What ALTER TYPE changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeChange {
    /// `ALTER field TYPE type`; Cassandra refuses it later.
    AlterField {
        /// The field.
        field: Ident,
        /// The type asked for.
        cql_type: CqlType,
    },
    /// `ADD [IF NOT EXISTS] field type`
    Add {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The field.
        field: Ident,
        /// Its type.
        cql_type: CqlType,
    },
    /// `RENAME [IF EXISTS] a TO b AND ...`
    Rename {
        /// `IF EXISTS`
        if_exists: bool,
        /// From, to; at least one.
        fields: Vec<(Ident, Ident)>,
    },
}
