//! ALTER TABLE.

use super::{ColumnDefinition, ColumnMask, CqlType, Ident, Property, QualifiedName};

/// `ALTER TABLE [IF EXISTS] table change`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTable {
    /// The table.
    pub table: QualifiedName,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// What changes.
    pub change: TableChange,
}

/// What ALTER TABLE changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// `ALTER column TYPE type`; Cassandra refuses it later.
    AlterType {
        /// The column.
        column: Ident,
        /// The type asked for.
        cql_type: CqlType,
    },
    /// `ALTER [IF EXISTS] column MASKED WITH ...`, or `DROP MASKED` where the mask is `None`
    Mask {
        /// `IF EXISTS`
        if_exists: bool,
        /// The column.
        column: Ident,
        /// The new mask.
        mask: Option<ColumnMask>,
    },
    /// `ADD [IF NOT EXISTS] column` or `(column, ...)`
    Add {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// At least one.
        columns: Vec<ColumnDefinition>,
    },
    /// `DROP [IF EXISTS] column` or `(column, ...) [USING TIMESTAMP n]`
    Drop {
        /// `IF EXISTS`
        if_exists: bool,
        /// At least one.
        columns: Vec<Ident>,
        /// Microseconds.
        timestamp: Option<i64>,
    },
    /// `RENAME [IF EXISTS] a TO b AND ...`
    Rename {
        /// `IF EXISTS`
        if_exists: bool,
        /// From, to; at least one.
        columns: Vec<(Ident, Ident)>,
    },
    /// `DROP COMPACT STORAGE`
    DropCompactStorage,
    /// `WITH ...`, at least one.
    With(Vec<Property>),
}
