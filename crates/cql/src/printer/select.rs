//! SELECT, USE, TRUNCATE and DESCRIBE: what reads, and what reads like it.

use std::fmt::{Display, Formatter, Result};

use super::{and, by, comma, name, when};
use crate::ast::{
    Describe, DescribeTarget, Direction, Ordering, QualifiedName, Relation, Select, Selector, Selectors,
    Truncate, Use,
};

impl Display for Use {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "USE {}", self.keyspace)
    }
}

impl Display for Truncate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "TRUNCATE TABLE {}", self.table)
    }
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Direction::Asc => "ASC",
            Direction::Desc => "DESC",
        })
    }
}

impl Display for Ordering {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.column.fmt(f)?;
        if let Some(term) = &self.ann_of {
            write!(f, " ANN OF {term}")?;
        }
        write!(f, " {}", self.direction)
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.selectable.fmt(f)?;
        match &self.alias {
            Some(alias) => write!(f, " AS {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for Selectors {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Selectors::All => f.write_str("*"),
            Selectors::List(selectors) => comma(selectors).fmt(f),
        }
    }
}

/// ` WHERE ...`, if there is any relation.
pub(super) fn optional_where(relations: &[Relation]) -> impl Display + '_ {
    by(move |f| if relations.is_empty() { Ok(()) } else { write!(f, " WHERE {}", and(relations)) })
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (json, distinct) = (when(self.json, "JSON "), when(self.distinct, "DISTINCT "));
        write!(f, "SELECT {json}{distinct}{} FROM {}", self.selectors, self.table)?;
        optional_where(&self.where_clause).fmt(f)?;
        if !self.group_by.is_empty() {
            write!(f, " GROUP BY {}", comma(&self.group_by))?;
        }
        if !self.order_by.is_empty() {
            write!(f, " ORDER BY {}", comma(&self.order_by))?;
        }
        if let Some(limit) = &self.per_partition_limit {
            write!(f, " PER PARTITION LIMIT {limit}")?;
        }
        if let Some(limit) = &self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        f.write_str(when(self.allow_filtering, " ALLOW FILTERING"))
    }
}

/// A table's name or whatever else DESCRIBE finds under it.
fn generic(of: &QualifiedName) -> impl Display + '_ {
    by(move |f| {
        if let Some(keyspace) = &of.keyspace {
            name::no_keyword(f, keyspace)?;
            f.write_str(".")?;
        }
        name::no_keyword(f, &of.name)
    })
}

impl Display for Describe {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DESCRIBE ")?;
        match &self.target {
            DescribeTarget::Cluster => f.write_str("CLUSTER"),
            DescribeTarget::Schema { full } => write!(f, "{}SCHEMA", when(*full, "FULL ")),
            DescribeTarget::Keyspaces => f.write_str("KEYSPACES"),
            DescribeTarget::Keyspace { keyspace, only } => {
                write!(f, "{}KEYSPACE", when(*only, "ONLY "))?;
                keyspace.as_ref().map_or(Ok(()), |keyspace| write!(f, " {keyspace}"))
            }
            DescribeTarget::Tables => f.write_str("TABLES"),
            DescribeTarget::Table(table) => write!(f, "TABLE {table}"),
            DescribeTarget::Index(index) => write!(f, "INDEX {index}"),
            DescribeTarget::View(view) => write!(f, "MATERIALIZED VIEW {view}"),
            DescribeTarget::Types => f.write_str("TYPES"),
            DescribeTarget::Type(of) => write!(f, "TYPE {}", by(|f| name::user_type(f, of))),
            DescribeTarget::Functions => f.write_str("FUNCTIONS"),
            DescribeTarget::Function(function) => write!(f, "FUNCTION {function}"),
            DescribeTarget::Aggregates => f.write_str("AGGREGATES"),
            DescribeTarget::Aggregate(aggregate) => write!(f, "AGGREGATE {aggregate}"),
            DescribeTarget::Generic(of) => generic(of).fmt(f),
        }?;
        f.write_str(when(self.with_internals, " WITH INTERNALS"))
    }
}
