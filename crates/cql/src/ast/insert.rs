//! INSERT, and the USING clause that all modifications share.

use super::{Ident, QualifiedName, Term};

/// `INSERT INTO table ... [IF NOT EXISTS] [USING ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// The table.
    pub table: QualifiedName,
    /// What is inserted.
    pub values: InsertValues,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `USING`
    pub using: Using,
}

/// The two ways of naming values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertValues {
    /// `(columns) VALUES (terms)`. The lists may differ in length: Cassandra refuses that later.
    Columns(Vec<Ident>, Vec<Term>),
    /// `JSON 'text' [DEFAULT NULL | UNSET]`
    Json {
        /// A string literal or a marker.
        value: Term,
        /// `DEFAULT UNSET`: columns the document lacks are left alone, not set to null.
        default_unset: bool,
    },
}

/// `USING TIMESTAMP t AND TTL t`. A clause that repeats one keeps the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Using {
    /// Microseconds: an integer literal or a marker.
    pub timestamp: Option<Term>,
    /// Seconds: an integer literal or a marker.
    pub ttl: Option<Term>,
}
