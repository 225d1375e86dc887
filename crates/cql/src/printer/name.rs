//! Names, quoted where the grammar would take them for something else.

use std::fmt::{Display, Formatter, Result};

use crate::ast::{FunctionName, Ident, QualifiedName};
use crate::lexer::{Class, Keyword};
use crate::quote;

/// Writes `name`, in quotes unless it needs none and `plain` agrees.
pub(super) fn write(
    f: &mut Formatter<'_>,
    name: &str,
    plain: impl FnOnce(Option<Keyword>) -> bool,
) -> Result {
    let no_literal = !matches!(name, "true" | "false" | "nan" | "infinity");
    if no_literal && quote::is_plain(name) && plain(Keyword::of(name)) {
        f.write_str(name)
    } else {
        write!(f, "\"{}\"", name.replace('"', "\"\""))
    }
}

fn unreserved(keyword: Option<Keyword>) -> bool {
    keyword.is_none_or(|keyword| keyword.class() != Class::Reserved)
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write(f, &self.name, unreserved)
    }
}

impl Display for QualifiedName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        self.name.fmt(f)
    }
}

impl Display for FunctionName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        bare_function(f, &self.name)
    }
}

/// A function's name without keyspace.
pub(super) fn bare_function(f: &mut Formatter<'_>, name: &Ident) -> Result {
    // `expr(` is a token of its own.
    write(f, &name.name, |keyword| {
        name.name != "expr"
            && keyword.is_none_or(|keyword| {
                keyword == Keyword::Count || matches!(keyword.class(), Class::Basic | Class::Native)
            })
    })
}

/// The name of a user type.
pub(super) fn user_type(f: &mut Formatter<'_>, name: &QualifiedName) -> Result {
    const RESERVED: [&str; 6] = ["byte", "complex", "enum", "interval", "macaddr", "bitstring"];
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    write(f, &name.name.name, |keyword| {
        !RESERVED.contains(&name.name.as_str())
            && keyword.is_none_or(|keyword| keyword == Keyword::Key || keyword.class() == Class::Basic)
    })
}

/// A name that no keyword may be mistaken for.
pub(super) fn no_keyword(f: &mut Formatter<'_>, name: &Ident) -> Result {
    write(f, &name.name, |keyword| keyword.is_none())
}
