//! Keyspaces, types, indexes, functions, aggregates and triggers.

use std::fmt::{Display, Formatter, Result};

use super::table::renames;
use super::term::bare_function;
use super::{and, by, comma, name, when};
use crate::ast::{
    AlterKeyspace, AlterType, CqlType, CreateAggregate, CreateFunction, CreateIndex, CreateKeyspace,
    CreateTrigger, CreateType, DropAggregate, DropFunction, DropIndex, DropKeyspace, DropTrigger, DropType,
    Ident, IndexTarget, IndexTargetKind, QualifiedName, TypeChange,
};
use crate::quote;

const IF_EXISTS: &str = "IF EXISTS ";
const IF_NOT_EXISTS: &str = "IF NOT EXISTS ";

impl Display for CreateKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE KEYSPACE {}{}", when(self.if_not_exists, IF_NOT_EXISTS), self.keyspace)?;
        write!(f, " WITH {}", and(&self.properties))
    }
}

impl Display for AlterKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER KEYSPACE {}{}", when(self.if_exists, IF_EXISTS), self.keyspace)?;
        write!(f, " WITH {}", and(&self.properties))
    }
}

impl Display for DropKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP KEYSPACE {}{}", when(self.if_exists, IF_EXISTS), self.keyspace)
    }
}

/// The name of a user type.
fn type_name(of: &QualifiedName) -> impl Display + '_ {
    by(move |f| name::user_type(f, of))
}

/// `name type, ...`
fn fields(fields: &[(Ident, CqlType)]) -> impl Display + '_ {
    by(move |f| {
        for (i, (name, cql_type)) in fields.iter().enumerate() {
            write!(f, "{}{name} {cql_type}", when(i > 0, ", "))?;
        }
        Ok(())
    })
}

impl Display for CreateType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let if_not_exists = when(self.if_not_exists, IF_NOT_EXISTS);
        write!(f, "CREATE TYPE {if_not_exists}{} ({})", type_name(&self.name), fields(&self.fields))
    }
}

impl Display for TypeChange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TypeChange::AlterField { field, cql_type } => write!(f, "ALTER {field} TYPE {cql_type}"),
            TypeChange::Add { if_not_exists, field, cql_type } => {
                write!(f, "ADD {}{field} {cql_type}", when(*if_not_exists, IF_NOT_EXISTS))
            }
            TypeChange::Rename { if_exists, fields } => {
                write!(f, "RENAME {}{}", when(*if_exists, IF_EXISTS), renames(fields))
            }
        }
    }
}

impl Display for AlterType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER TYPE {}{} {}", when(self.if_exists, IF_EXISTS), type_name(&self.name), self.change)
    }
}

impl Display for DropType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP TYPE {}{}", when(self.if_exists, IF_EXISTS), type_name(&self.name))
    }
}

impl Display for IndexTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let column = &self.column;
        match self.kind {
            IndexTargetKind::Simple => column.fmt(f),
            IndexTargetKind::Values => write!(f, "values({column})"),
            IndexTargetKind::Keys => write!(f, "keys({column})"),
            IndexTargetKind::Entries => write!(f, "entries({column})"),
            IndexTargetKind::Full => write!(f, "full({column})"),
        }
    }
}

impl Display for CreateIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (custom, exists) = (when(self.custom, "CUSTOM "), when(self.if_not_exists, IF_NOT_EXISTS));
        write!(f, "CREATE {custom}INDEX {exists}")?;
        if let Some(name) = &self.name {
            write!(f, "{name} ")?;
        }
        write!(f, "ON {} ({})", self.table, comma(&self.targets))?;
        if let Some(class) = &self.class {
            write!(f, " USING {}", quote::string(class))?;
        }
        if self.properties.is_empty() { Ok(()) } else { write!(f, " WITH {}", and(&self.properties)) }
    }
}

impl Display for DropIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP INDEX {}{}", when(self.if_exists, IF_EXISTS), self.index)
    }
}

impl Display for CreateFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (replace, exists) =
            (when(self.or_replace, "OR REPLACE "), when(self.if_not_exists, IF_NOT_EXISTS));
        write!(f, "CREATE {replace}FUNCTION {exists}{}({})", self.name, fields(&self.arguments))?;
        let null = if self.called_on_null_input { "CALLED" } else { "RETURNS NULL" };
        write!(f, " {null} ON NULL INPUT RETURNS {}", self.return_type)?;
        write!(f, " LANGUAGE {} AS {}", self.language, quote::string(&self.body))
    }
}

/// `(type, ...)`, if a signature is given.
fn signature(types: &Option<Vec<CqlType>>) -> impl Display + '_ {
    by(move |f| types.as_ref().map_or(Ok(()), |types| write!(f, "({})", comma(types))))
}

impl Display for DropFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let if_exists = when(self.if_exists, IF_EXISTS);
        write!(f, "DROP FUNCTION {if_exists}{}{}", self.name, signature(&self.argument_types))
    }
}

impl Display for CreateAggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (replace, exists) =
            (when(self.or_replace, "OR REPLACE "), when(self.if_not_exists, IF_NOT_EXISTS));
        write!(f, "CREATE {replace}AGGREGATE {exists}{}({})", self.name, comma(&self.argument_types))?;
        write!(f, " SFUNC {} STYPE {}", bare_function(&self.state_function), self.state_type)?;
        if let Some(function) = &self.final_function {
            write!(f, " FINALFUNC {}", bare_function(function))?;
        }
        match &self.initial_condition {
            Some(term) => write!(f, " INITCOND {term}"),
            None => Ok(()),
        }
    }
}

impl Display for DropAggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let if_exists = when(self.if_exists, IF_EXISTS);
        write!(f, "DROP AGGREGATE {if_exists}{}{}", self.name, signature(&self.argument_types))
    }
}

impl Display for CreateTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE TRIGGER {}{}", when(self.if_not_exists, IF_NOT_EXISTS), self.name)?;
        write!(f, " ON {} USING {}", self.table, quote::string(&self.class))
    }
}

impl Display for DropTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP TRIGGER {}{} ON {}", when(self.if_exists, IF_EXISTS), self.name, self.table)
    }
}
