//! The CQL definitions of a profile: read, given their keyspace and IF NOT EXISTS, and put in an order
//! in which they can be carried out.

use basalt_cql::ast::{CreateTable, CreateType, Ident, QualifiedName, Statement};

use super::profile::Profile;
use crate::workload::Error;

/// What the definitions say.
#[derive(Debug)]
pub struct Definitions {
    /// All of them as statements.
    pub schema: Vec<String>,
    /// The table under test.
    pub table: CreateTable,
    /// User types, in the order of their definitions.
    pub types: Vec<CreateType>,
}

/// Reads a profile's definitions.
pub fn read(profile: &Profile) -> Result<Definitions, Error> {
    let keyspace = Ident::new(folded(&profile.keyspace));
    let mut schema = Vec::new();
    if let Some(text) = profile.keyspace_definition.as_deref().filter(|text| !text.trim().is_empty()) {
        schema.push(keyspace_definition(text, &keyspace)?);
    }
    let (mut types, mut others) = (Vec::new(), Vec::new());
    for text in &profile.extra_definitions {
        match extra_definition(text, &keyspace)? {
            Statement::CreateType(definition) => types.push(definition),
            other => others.push(other.to_string()),
        }
    }
    let Some(text) = &profile.table_definition else {
        return Err(Error::new("table_definition is missing: the columns' types are read from it"));
    };
    let Statement::CreateTable(mut table) = parse("table_definition", text)? else {
        return Err(Error::new("table_definition is no CREATE TABLE"));
    };
    check_name("table", &table.table.name.name, &profile.table)?;
    if let Some(other) = table.table.keyspace.as_ref().filter(|other| **other != keyspace) {
        check_name("keyspace", &other.name, &profile.keyspace)?;
    }
    table.if_not_exists = true;
    table.table.keyspace = Some(keyspace);
    schema.extend(types.iter().map(|definition| Statement::CreateType(definition.clone()).to_string()));
    schema.push(Statement::CreateTable(table.clone()).to_string());
    schema.extend(others);
    Ok(Definitions { schema, table, types })
}

fn keyspace_definition(text: &str, keyspace: &Ident) -> Result<String, Error> {
    let Statement::CreateKeyspace(mut definition) = parse("keyspace_definition", text)? else {
        return Err(Error::new("keyspace_definition is no CREATE KEYSPACE"));
    };
    check_name("keyspace", &definition.keyspace.name, &keyspace.name)?;
    definition.if_not_exists = true;
    Ok(Statement::CreateKeyspace(definition).to_string())
}

fn extra_definition(text: &str, keyspace: &Ident) -> Result<Statement, Error> {
    let place = |name: &mut QualifiedName| {
        name.keyspace.get_or_insert_with(|| keyspace.clone());
    };
    let mut statement = parse("extra_definitions", text)?;
    match &mut statement {
        Statement::CreateType(definition) => {
            definition.if_not_exists = true;
            place(&mut definition.name);
        }
        Statement::CreateTable(definition) => {
            definition.if_not_exists = true;
            place(&mut definition.table);
        }
        Statement::CreateIndex(definition) => {
            definition.if_not_exists = true;
            place(&mut definition.table);
        }
        Statement::CreateView(definition) => {
            definition.if_not_exists = true;
            place(&mut definition.view);
            place(&mut definition.base);
        }
        _ => return Err(Error::new("extra_definitions may create types, tables, indexes and views")),
    }
    Ok(statement)
}

/// Reads one statement of a section.
pub fn parse(section: &str, text: &str) -> Result<Statement, Error> {
    basalt_cql::parse_statement(text).map_err(|error| Error::new(format!("{section}: {error}")))
}

/// Names in profiles are compared without regard to case, as in cassandra-stress.
fn check_name(what: &str, defined: &str, named: &str) -> Result<(), Error> {
    if defined.eq_ignore_ascii_case(named.trim_matches('"')) {
        return Ok(());
    }
    Err(Error::new(format!("{what} is {named}, but the definition's is {defined}")))
}

/// A name as CQL understands it.
fn folded(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => name.to_ascii_lowercase(),
    }
}
