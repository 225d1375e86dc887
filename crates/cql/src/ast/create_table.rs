//! CREATE TABLE, and the column definitions and table options it shares with ALTER TABLE and views.

use super::{CqlType, Direction, FunctionName, Ident, Pos, Property, QualifiedName, Term};

/// `CREATE TABLE [IF NOT EXISTS] table (...) [WITH ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    /// The table.
    pub table: QualifiedName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The columns in the order of the text.
    pub columns: Vec<ColumnDefinition>,
    /// Every `PRIMARY KEY (...)`. Together with the columns marked [`ColumnDefinition::primary_key`] there should be
    /// exactly one: Cassandra checks that later.
    pub primary_keys: Vec<PrimaryKey>,
    /// `WITH`
    pub options: TableOptions,
}

/// `name type [STATIC] [MASKED WITH ...] [PRIMARY KEY]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column.
    pub name: Ident,
    /// Its type.
    pub cql_type: CqlType,
    /// `STATIC`
    pub is_static: bool,
    /// `MASKED WITH`
    pub mask: Option<ColumnMask>,
    /// `PRIMARY KEY` behind the column; only in CREATE TABLE.
    pub primary_key: bool,
}

/// `MASKED WITH function(arguments)`; `MASKED WITH DEFAULT` is `system.mask_default()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMask {
    /// The masking function.
    pub function: FunctionName,
    /// Its arguments behind the column.
    pub arguments: Vec<Term>,
}

/// `PRIMARY KEY (partition, clustering, ...)` or `PRIMARY KEY ((partition, ...), clustering, ...)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryKey {
    /// At least one.
    pub partition: Vec<Ident>,
    /// Possibly none.
    pub clustering: Vec<Ident>,
    /// Where it begins.
    pub pos: Pos,
}

/// `WITH ...` of a table or view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// `name = value`
    pub properties: Vec<Property>,
    /// `COMPACT STORAGE`
    pub compact_storage: bool,
    /// `CLUSTERING ORDER BY (...)` as written; that no column comes twice is checked later.
    pub clustering_order: Vec<(Ident, Direction)>,
}
