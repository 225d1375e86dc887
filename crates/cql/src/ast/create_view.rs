//! CREATE MATERIALIZED VIEW.

use super::{PrimaryKey, QualifiedName, Relation, Selectors, TableOptions};

/// `CREATE MATERIALIZED VIEW [IF NOT EXISTS] view AS SELECT ... FROM base WHERE ... PRIMARY KEY (...) [WITH ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateView {
    /// The view.
    pub view: QualifiedName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// What is selected.
    pub selectors: Selectors,
    /// The base table.
    pub base: QualifiedName,
    /// The relations, all of which must hold.
    pub where_clause: Vec<Relation>,
    /// The view's key.
    pub primary_key: PrimaryKey,
    /// `WITH`; never compact storage.
    pub options: TableOptions,
}
