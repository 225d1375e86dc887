//! WHERE relations and IF conditions as written. Does not know columns, types or which combinations make sense.

use super::{Ident, Marker, Pos, Term};

/// What stands between the two sides of a relation or condition (`Operator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`
    Eq,
    /// `!=`
    Neq,
    /// `<`
    Lt,
    /// `<=`
    Lte,
    /// `>`
    Gt,
    /// `>=`
    Gte,
    /// `CONTAINS`
    Contains,
    /// `CONTAINS KEY`
    ContainsKey,
    /// `LIKE`
    Like,
}

impl Operator {
    /// The operator in CQL.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Eq => "=",
            Operator::Neq => "!=",
            Operator::Lt => "<",
            Operator::Lte => "<=",
            Operator::Gt => ">",
            Operator::Gte => ">=",
            Operator::Contains => "CONTAINS",
            Operator::ContainsKey => "CONTAINS KEY",
            Operator::Like => "LIKE",
        }
    }
}

/// What follows IN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InValues {
    /// `IN (a, b)`, possibly empty. For a tuple of columns, all elements are tuples or all are markers.
    List(Vec<Term>),
    /// `IN ?`: one marker for the whole list.
    Marker(Marker),
}

/// One relation of a WHERE clause; the clause is their conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// What it is.
    pub kind: RelationKind,
    /// Where it begins.
    pub pos: Pos,
}

/// The forms of a [`Relation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// `c = t`, `c LIKE t`, `c CONTAINS [KEY] t`, ...
    Column {
        /// The column; empty for the legacy name `""`.
        column: Ident,
        /// Any operator.
        op: Operator,
        /// The right side.
        value: Term,
    },
    /// `c IS NOT NULL`
    IsNotNull {
        /// The column.
        column: Ident,
    },
    /// `c IN (...)`
    In {
        /// The column.
        column: Ident,
        /// The values.
        values: InValues,
    },
    /// `c[key] = t`
    Element {
        /// The collection.
        column: Ident,
        /// Key or index.
        key: Term,
        /// A comparison.
        op: Operator,
        /// The right side.
        value: Term,
    },
    /// `token(a, b) > t`
    Token {
        /// The columns.
        columns: Vec<Ident>,
        /// A comparison.
        op: Operator,
        /// The right side.
        value: Term,
    },
    /// `(a, b) > (1, 2)` or `(a, b) > ?`
    Tuple {
        /// The columns.
        columns: Vec<Ident>,
        /// A comparison.
        op: Operator,
        /// A tuple or a marker.
        value: Term,
    },
    /// `(a, b) IN ((1, 2), (3, 4))`, `(a, b) IN (?, ?)`, `(a, b) IN ?`
    TupleIn {
        /// The columns.
        columns: Vec<Ident>,
        /// The values.
        values: InValues,
    },
    /// `expr(index, t)`
    CustomIndex {
        /// The index.
        index: Ident,
        /// Its argument.
        value: Term,
    },
}

/// What follows IF in UPDATE and DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfClause {
    /// `IF EXISTS`
    Exists,
    /// `IF c = 1 AND ...`, at least one.
    Conditions(Vec<Condition>),
}

/// One condition of an IF clause (`ColumnCondition.Raw`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: Ident,
    /// Which part of the column.
    pub part: ColumnPart,
    /// What is asked of it.
    pub test: ConditionTest,
}

/// A whole column, or one element or field of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPart {
    /// `c`
    Whole,
    /// `c[t]`
    Element(Term),
    /// `c.f`
    Field(Ident),
}

/// The test of a [`Condition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionTest {
    /// A comparison; for a whole column also `CONTAINS [KEY]`.
    Compare(Operator, Term),
    /// `IN (...)`
    In(InValues),
}
