//! DELETE.

use super::{ColumnPart, Ident, IfClause, QualifiedName, Relation, Term};

/// `DELETE [columns] FROM table [USING TIMESTAMP t] WHERE ... [IF ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// What is deleted; empty for whole rows.
    pub deletions: Vec<Deletion>,
    /// The table.
    pub table: QualifiedName,
    /// `USING TIMESTAMP`, microseconds: an integer literal or a marker.
    pub timestamp: Option<Term>,
    /// The relations, all of which must hold; at least one.
    pub where_clause: Vec<Relation>,
    /// `IF`
    pub if_clause: Option<IfClause>,
}

/// `c`, `c[t]` or `c.f`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The column.
    pub column: Ident,
    /// Which part of it.
    pub part: ColumnPart,
}
