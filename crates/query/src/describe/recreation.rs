//! The statements that make a table again, with its user types, its id and the columns it has lost: what a snapshot keeps
//! beside the files (`SchemaCQLHelper.reCreateStatementsForSchemaCql`).

use basalt_model::schema::ColumnKind;
use basalt_model::{Keyspace, Table};

use super::elements::{Element, whole};
use super::text;
use crate::schema::types::references;

/// CREATE KEYSPACE, unless it exists.
pub fn keyspace_cql(keyspace: &Keyspace) -> String {
    unless_exists(text::keyspace(keyspace), "CREATE KEYSPACE ")
}

/// CREATE TYPE of each type that the table needs, those that others need first, and CREATE TABLE; unless they exist.
pub fn table_cql(keyspace: &Keyspace, table: &Table) -> String {
    let columns = table.columns.iter().chain(table.dropped_columns.values().map(|dropped| &dropped.column));
    let types: Vec<_> = columns.map(|column| &column.data_type).collect();
    let mut statements = String::new();
    for element in whole(keyspace) {
        if let Element::Type(user_type) = element
            && types.iter().any(|data_type| references(data_type, &user_type.name))
        {
            statements += &unless_exists(text::user_type(user_type), "CREATE TYPE ");
            statements += "\n\n";
        }
    }
    statements += &unless_exists(text::table(table, true), "CREATE TABLE ");
    statements.push('\n');
    statements
}

fn unless_exists(statement: String, verb: &str) -> String {
    match statement.strip_prefix(verb) {
        Some(rest) => format!("{verb}IF NOT EXISTS {rest}"),
        None => statement,
    }
}

/// A column's kind in `system_schema.columns`.
pub fn kind_name(kind: ColumnKind) -> &'static str {
    crate::schema::rows::columns::kind_name(kind)
}
