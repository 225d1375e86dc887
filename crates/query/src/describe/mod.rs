//! DESCRIBE in all its forms (`DescribeStatement`): rows that list schema elements or show the
//! statements that make them. Functions, aggregates, indexes and views cannot exist yet, so they
//! are never listed and never found.

mod cluster;
mod elements;
mod paging;
mod recreation;
mod text;

use basalt_cql::ast::{Describe, DescribeTarget, FunctionName, Ident, QualifiedName};
use basalt_model::schema::KeyspaceKind;
use basalt_model::{CqlError, DataType, Keyspace, Schema};
use bytes::Bytes;

use crate::request::QueryOptions;
use crate::result::ResultSet;
use crate::schema::encode;
use crate::system_tables::NodeFacts;
use elements::Element;

pub use recreation::{keyspace_cql, kind_name, table_cql};

/// What DESCRIBE looks at.
pub struct DescribeContext<'a> {
    /// The schema now.
    pub schema: &'a Schema,
    /// The request's keyspace or else the connection's.
    pub keyspace: Option<&'a str>,
    /// What this node says of itself.
    pub facts: &'a NodeFacts,
    /// This node's tokens, ascending.
    pub tokens: &'a [i64],
}

/// Columns of lists.
const LIST: [&str; 3] = ["keyspace_name", "type", "name"];

/// Columns of statements.
const STATEMENTS: [&str; 4] = ["keyspace_name", "type", "name", "create_statement"];

/// Runs DESCRIBE.
///
/// # Errors
/// With Cassandra's texts: something is not found, no keyspace is named, the schema changed
/// between pages.
pub fn describe(
    statement: &Describe,
    options: &QueryOptions,
    context: &DescribeContext<'_>,
) -> Result<ResultSet, CqlError> {
    if statement.target == DescribeTarget::Cluster {
        return Ok(cluster::describe(context));
    }
    let (elements, with_statements) = elements_of(&statement.target, context)?;
    let page = paging::page(options, context.schema.version, elements.len())?;
    let columns: &[&str] = if with_statements { &STATEMENTS } else { &LIST };
    let mut values = Vec::new();
    let shown = elements.iter().skip(page.start).take(page.rows);
    for element in shown {
        values.extend(element.names().iter().map(|name| Some(encode::text(name))));
        if with_statements {
            values.push(Some(encode::text(&element.create_statement(statement.with_internals))));
        }
    }
    let columns = columns.iter().map(|name| (*name, DataType::Text));
    Ok(paging::result(columns, values, page.next))
}

/// The elements to show, and whether with their statements.
fn elements_of<'a>(
    target: &DescribeTarget,
    context: &DescribeContext<'a>,
) -> Result<(Vec<Element<'a>>, bool), CqlError> {
    let statements = |elements: Vec<Element<'a>>| Ok((elements, true));
    match target {
        DescribeTarget::Keyspaces => {
            Ok((all_keyspaces(context).into_iter().map(Element::Keyspace).collect(), false))
        }
        DescribeTarget::Tables => listing(context, elements::tables),
        DescribeTarget::Types => listing(context, elements::types),
        DescribeTarget::Functions | DescribeTarget::Aggregates => listing(context, |_| Vec::new()),
        DescribeTarget::Schema { full } => {
            let keyspaces = all_keyspaces(context).into_iter();
            let shown = keyspaces.filter(|keyspace| *full || keyspace.kind == KeyspaceKind::User);
            statements(shown.flat_map(elements::whole).collect())
        }
        DescribeTarget::Keyspace { keyspace: name, only } => {
            let found = keyspace(name.as_ref(), context)?;
            statements(if *only { vec![Element::Keyspace(found)] } else { elements::whole(found) })
        }
        DescribeTarget::Table(name) => {
            let found = keyspace(name.keyspace.as_ref(), context)?;
            statements(vec![table(found, name.name.as_str()).ok_or_else(|| {
                missing(format!("Table '{}' not found in keyspace '{}'", name.name.name, found.name))
            })?])
        }
        DescribeTarget::Type(name) => {
            let found = keyspace(name.keyspace.as_ref(), context)?;
            let user_type = found.types.get(name.name.as_str()).ok_or_else(|| {
                missing(format!("User defined type '{}' not found in '{}'", name.name.name, found.name))
            })?;
            statements(vec![Element::Type(user_type)])
        }
        DescribeTarget::Index(name) => absent(name, context, |name, keyspace| {
            format!("Table for existing index '{name}' not found in '{keyspace}'")
        }),
        DescribeTarget::View(name) => absent(name, context, |name, keyspace| {
            format!("Materialized view '{name}' not found in '{keyspace}'")
        }),
        DescribeTarget::Function(name) => absent(&qualified(name), context, |name, keyspace| {
            format!("User defined function '{name}' not found in '{keyspace}'")
        }),
        DescribeTarget::Aggregate(name) => absent(&qualified(name), context, |name, keyspace| {
            format!("User defined aggregate '{name}' not found in '{keyspace}'")
        }),
        DescribeTarget::Generic(name) => statements(generic(name, context)?),
        // Answered before.
        DescribeTarget::Cluster => statements(Vec::new()),
    }
}

fn missing(text: String) -> CqlError {
    CqlError::invalid(text)
}

fn all_keyspaces<'a>(context: &DescribeContext<'a>) -> Vec<&'a Keyspace> {
    elements::sorted(context.schema.keyspaces.values().map(|keyspace| &**keyspace))
}

/// Names of the current keyspace's elements, or of all keyspaces'.
fn listing<'a>(
    context: &DescribeContext<'a>,
    of: impl Fn(&'a Keyspace) -> Vec<Element<'a>>,
) -> Result<(Vec<Element<'a>>, bool), CqlError> {
    let keyspaces = match context.keyspace {
        None => all_keyspaces(context),
        Some(name) => vec![named_keyspace(name, context)?],
    };
    Ok((keyspaces.into_iter().flat_map(of).collect(), false))
}

fn named_keyspace<'a>(name: &str, context: &DescribeContext<'a>) -> Result<&'a Keyspace, CqlError> {
    let found = context.schema.keyspaces.get(name).map(|keyspace| &**keyspace);
    found.ok_or_else(|| missing(format!("'{name}' not found in keyspaces")))
}

/// The keyspace named, or the current one.
fn keyspace<'a>(name: Option<&Ident>, context: &DescribeContext<'a>) -> Result<&'a Keyspace, CqlError> {
    match name.map(Ident::as_str).or(context.keyspace) {
        Some(name) => named_keyspace(name, context),
        None => Err(missing("No keyspace specified and no current keyspace".to_owned())),
    }
}

fn table<'a>(keyspace: &'a Keyspace, name: &str) -> Option<Element<'a>> {
    keyspace.tables.get(name).map(|table| Element::Table(table))
}

/// Something of a kind that does not exist.
fn absent<'a>(
    name: &QualifiedName,
    context: &DescribeContext<'a>,
    text: impl Fn(&str, &str) -> String,
) -> Result<(Vec<Element<'a>>, bool), CqlError> {
    let found = keyspace(name.keyspace.as_ref(), context)?;
    Err(missing(text(name.name.as_str(), &found.name)))
}

fn qualified(name: &FunctionName) -> QualifiedName {
    QualifiedName { keyspace: name.keyspace.clone(), name: name.name.clone() }
}

/// A keyspace, table, index or view of that name, in this order.
fn generic<'a>(name: &QualifiedName, context: &DescribeContext<'a>) -> Result<Vec<Element<'a>>, CqlError> {
    let element = name.name.as_str();
    let place = match &name.keyspace {
        Some(keyspace) => keyspace.as_str(),
        None => {
            if let Some(keyspace) = context.schema.keyspaces.get(element) {
                return Ok(elements::whole(keyspace));
            }
            context.keyspace.unwrap_or(element)
        }
    };
    let found = named_keyspace(place, context)?;
    let table = table(found, element);
    table
        .map(|table| vec![table])
        .ok_or_else(|| missing(format!("'{element}' not found in keyspace '{place}'")))
}

/// A value of a row.
type Value = Option<Bytes>;

#[cfg(test)]
mod tests;
