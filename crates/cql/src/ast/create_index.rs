//! CREATE INDEX.

use super::{Ident, Property, QualifiedName};

/// `CREATE [CUSTOM] INDEX [IF NOT EXISTS] [name] ON table (target, ...) [USING 'class'] [WITH ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateIndex {
    /// `CUSTOM`
    pub custom: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The index; Cassandra makes a name up if there is none.
    pub name: Option<Ident>,
    /// The table.
    pub table: QualifiedName,
    /// What is indexed, possibly nothing.
    pub targets: Vec<IndexTarget>,
    /// `USING 'class'`
    pub class: Option<String>,
    /// `WITH`
    pub properties: Vec<Property>,
}

/// A column, or a part of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTarget {
    /// Which part.
    pub kind: IndexTargetKind,
    /// The column.
    pub column: Ident,
}

/// Which part of a column is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexTargetKind {
    /// `c`
    Simple,
    /// `values(c)`
    Values,
    /// `keys(c)`
    Keys,
    /// `entries(c)`
    Entries,
    /// `full(c)`
    Full,
}
