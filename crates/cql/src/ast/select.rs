//! SELECT.

use super::{Ident, QualifiedName, Relation, Selectable, Term};

/// `SELECT [JSON] [DISTINCT] selectors FROM table ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// `JSON`
    pub json: bool,
    /// `DISTINCT`
    pub distinct: bool,
    /// What is selected.
    pub selectors: Selectors,
    /// The table or view.
    pub table: QualifiedName,
    /// The relations, all of which must hold.
    pub where_clause: Vec<Relation>,
    /// `GROUP BY`; the grammar takes any selectable.
    pub group_by: Vec<Selectable>,
    /// `ORDER BY`
    pub order_by: Vec<Ordering>,
    /// `PER PARTITION LIMIT`: an integer literal or a marker.
    pub per_partition_limit: Option<Term>,
    /// `LIMIT`: an integer literal or a marker.
    pub limit: Option<Term>,
    /// `ALLOW FILTERING`
    pub allow_filtering: bool,
}

/// The selection of a SELECT or a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selectors {
    /// `*`
    All,
    /// At least one.
    List(Vec<Selector>),
}

/// `selectable [AS alias]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// What is computed.
    pub selectable: Selectable,
    /// The name of the result column.
    pub alias: Option<Ident>,
}

/// One entry of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// The column.
    pub column: Ident,
    /// `ANN OF term`
    pub ann_of: Option<Term>,
    /// `ASC` if nothing is written.
    pub direction: Direction,
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `ASC`
    #[default]
    Asc,
    /// `DESC`
    Desc,
}
