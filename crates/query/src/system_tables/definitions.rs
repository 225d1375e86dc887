//! Definitions of the system tables, as CQL beside this file. Column ids count up in the order of
//! the text: a column that comes later is written last.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_cql::ast::Statement;
use basalt_model::schema::KeyspaceKind;
use basalt_model::{Keyspace, Table, TableId};

use crate::ddl::create_table;
use crate::schema::SchemaError;
use crate::schema::digest::name_uuid;
use crate::schema::types::UserTypes;

/// A system keyspace as text.
struct Source {
    name: &'static str,
    strategy: &'static str,
    factor: Option<&'static str>,
    tables: &'static str,
}

const SOURCES: [Source; 7] = [
    Source {
        name: "system",
        strategy: "LocalStrategy",
        factor: None,
        tables: include_str!("definitions/system.cql"),
    },
    Source {
        name: "system_schema",
        strategy: "LocalStrategy",
        factor: None,
        tables: include_str!("definitions/system_schema.cql"),
    },
    Source {
        name: "system_auth",
        strategy: "SimpleStrategy",
        factor: Some("1"),
        tables: include_str!("definitions/system_auth.cql"),
    },
    Source {
        name: "system_distributed",
        strategy: "SimpleStrategy",
        factor: Some("3"),
        tables: include_str!("definitions/system_distributed.cql"),
    },
    Source {
        name: "system_traces",
        strategy: "SimpleStrategy",
        factor: Some("2"),
        tables: include_str!("definitions/system_traces.cql"),
    },
    Source {
        name: "system_views",
        strategy: "LocalStrategy",
        factor: None,
        tables: include_str!("definitions/system_views.cql"),
    },
    Source {
        name: "system_virtual_schema",
        strategy: "LocalStrategy",
        factor: None,
        tables: include_str!("definitions/system_virtual_schema.cql"),
    },
];

/// Whose keyspace it is, by its name (`SchemaConstants`; upper case counts as well).
pub fn kind_of(keyspace: &str) -> KeyspaceKind {
    match keyspace.to_lowercase().as_str() {
        "system" | "system_schema" => KeyspaceKind::LocalSystem,
        "system_auth" | "system_distributed" | "system_traces" => KeyspaceKind::DistributedSystem,
        "system_views" | "system_virtual_schema" => KeyspaceKind::Virtual,
        _ => KeyspaceKind::User,
    }
}

/// The write time of a distributed system keyspace's definition, microseconds: the same on every
/// node (`AuthKeyspace.GENERATION` and its like).
pub fn generation(keyspace: &str) -> Option<i64> {
    match keyspace {
        "system_auth" => Some(1),
        "system_distributed" => Some(6),
        "system_traces" => Some(1_577_836_800_000_002),
        _ => None,
    }
}

/// The id of a system table (`TableId.forSystemTable`).
pub fn table_id(keyspace: &str, table: &str) -> TableId {
    TableId(name_uuid(format!("{keyspace}{table}").as_bytes()))
}

/// All system keyspaces.
///
/// # Errors
/// Never with the texts that are built in; a test reads them.
pub fn keyspaces() -> Result<Vec<Keyspace>, SchemaError> {
    SOURCES.iter().map(read).collect()
}

fn read(source: &Source) -> Result<Keyspace, SchemaError> {
    let mut replication =
        BTreeMap::from([("class".to_owned(), format!("org.apache.cassandra.locator.{}", source.strategy))]);
    if let Some(factor) = source.factor {
        replication.insert("replication_factor".to_owned(), factor.to_owned());
    }
    let kind = kind_of(source.name);
    let mut tables = BTreeMap::new();
    for text in source.tables.split(";\n").filter(|text| !text.trim().is_empty()) {
        let mut table = read_table(source.name, text.trim())?;
        table.is_virtual = kind == KeyspaceKind::Virtual;
        tables.insert(table.name.clone(), Arc::new(table));
    }
    Ok(Keyspace {
        name: source.name.into(),
        kind,
        durable_writes: true,
        replication,
        tables,
        types: BTreeMap::new(),
    })
}

fn read_table(keyspace: &str, text: &str) -> Result<Table, SchemaError> {
    let bad = |error: String| SchemaError::Damaged(format!("definition of a system table: {error}: {text}"));
    match basalt_cql::parse_statement(text) {
        Ok(Statement::CreateTable(statement)) => {
            let id = table_id(keyspace, statement.table.name.as_str());
            create_table::define(&statement, keyspace, &UserTypes::new(), id)
                .map_err(|error| bad(error.to_string()))
        }
        Ok(_) => Err(bad("not CREATE TABLE".to_owned())),
        Err(error) => Err(bad(error.to_string())),
    }
}
