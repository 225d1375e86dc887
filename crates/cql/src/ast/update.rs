//! UPDATE.

use super::{Ident, IfClause, QualifiedName, Relation, Term, Using};

/// `UPDATE table [USING ...] SET ... WHERE ... [IF ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The table.
    pub table: QualifiedName,
    /// `USING`
    pub using: Using,
    /// `SET`, at least one; no two of them exclude each other.
    pub assignments: Vec<Assignment>,
    /// The relations, all of which must hold; at least one.
    pub where_clause: Vec<Relation>,
    /// `IF`
    pub if_clause: Option<IfClause>,
}

/// One entry of SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The column that changes.
    pub column: Ident,
    /// How it changes.
    pub operation: Operation,
}

/// What an [`Assignment`] does (`Operation.RawUpdate`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `c = t`
    Set(Term),
    /// `c[key] = t`
    SetElement(Term, Term),
    /// `c.field = t`
    SetField(Ident, Term),
    /// `c = c + t`, `c += t`, and `c = c -3`, which adds the literal `-3`
    Add(Term),
    /// `c = c - t`, `c -= t`
    Subtract(Term),
    /// `c = t + c`
    Prepend(Term),
}
