//! INSERT, UPDATE, DELETE and BATCH.

use std::fmt::{Display, Formatter, Result};

use super::select::optional_where;
use super::{by, comma, when};
use crate::ast::{
    Assignment, Batch, BatchKind, Delete, Deletion, IfClause, Insert, InsertValues, Modification, Operation,
    Update, Using,
};

impl Display for Using {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (&self.timestamp, &self.ttl) {
            (None, None) => Ok(()),
            (Some(timestamp), None) => write!(f, " USING TIMESTAMP {timestamp}"),
            (None, Some(ttl)) => write!(f, " USING TTL {ttl}"),
            (Some(timestamp), Some(ttl)) => {
                // In the order of the text, which is the order of the bind markers.
                if (ttl.pos.line, ttl.pos.column) < (timestamp.pos.line, timestamp.pos.column) {
                    write!(f, " USING TTL {ttl} AND TIMESTAMP {timestamp}")
                } else {
                    write!(f, " USING TIMESTAMP {timestamp} AND TTL {ttl}")
                }
            }
        }
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INSERT INTO {} ", self.table)?;
        match &self.values {
            InsertValues::Columns(columns, terms) => {
                write!(f, "({}) VALUES ({})", comma(columns), comma(terms))
            }
            InsertValues::Json { value, default_unset } => {
                write!(f, "JSON {value}{}", when(*default_unset, " DEFAULT UNSET"))
            }
        }?;
        write!(f, "{}{}", when(self.if_not_exists, " IF NOT EXISTS"), self.using)
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let column = &self.column;
        match &self.operation {
            Operation::Set(term) => write!(f, "{column} = {term}"),
            Operation::SetElement(key, term) => write!(f, "{column}[{key}] = {term}"),
            Operation::SetField(field, term) => write!(f, "{column}.{field} = {term}"),
            Operation::Add(term) => write!(f, "{column} = {column} + {term}"),
            Operation::Subtract(term) => write!(f, "{column} = {column} - {term}"),
            Operation::Prepend(term) => write!(f, "{column} = {term} + {column}"),
        }
    }
}

/// ` IF ...`, if there is one.
fn optional_if(clause: &Option<IfClause>) -> impl Display + '_ {
    by(move |f| clause.as_ref().map_or(Ok(()), |clause| write!(f, " {clause}")))
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "UPDATE {}{} SET {}", self.table, self.using, comma(&self.assignments))?;
        write!(f, "{}{}", optional_where(&self.where_clause), optional_if(&self.if_clause))
    }
}

impl Display for Deletion {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", self.column, self.part)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DELETE ")?;
        if !self.deletions.is_empty() {
            write!(f, "{} ", comma(&self.deletions))?;
        }
        write!(f, "FROM {}", self.table)?;
        if let Some(timestamp) = &self.timestamp {
            write!(f, " USING TIMESTAMP {timestamp}")?;
        }
        write!(f, "{}{}", optional_where(&self.where_clause), optional_if(&self.if_clause))
    }
}

impl Display for Modification {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Modification::Insert(insert) => insert.fmt(f),
            Modification::Update(update) => update.fmt(f),
            Modification::Delete(delete) => delete.fmt(f),
        }
    }
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let kind = match self.kind {
            BatchKind::Logged => "",
            BatchKind::Unlogged => "UNLOGGED ",
            BatchKind::Counter => "COUNTER ",
        };
        write!(f, "BEGIN {kind}BATCH{} ", self.using)?;
        for statement in &self.statements {
            write!(f, "{statement}; ")?;
        }
        f.write_str("APPLY BATCH")
    }
}
