//! CREATE, ALTER and DROP of keyspaces, tables and types: what each makes of the schema, checked
//! with Cassandra's rules, in its order and words. One file a statement. Nothing here writes.

mod absent;
mod alter_keyspace;
mod alter_table;
mod alter_type;
mod compact_table;
mod create_keyspace;
pub(crate) mod create_table;
mod create_type;
mod drop_keyspace;
mod drop_table;
mod drop_type;
pub(crate) mod java;
mod mask;
mod names;
pub(crate) mod options;
mod properties;
mod replication;
mod roles;
mod unsupported;

use std::sync::Arc;

use basalt_cql::ast::{AlterTable, AlterType, ColumnDefinition, CqlType, Statement, TableChange, TypeChange};
use basalt_model::env::SharedEnv;
use basalt_model::{CqlError, Keyspace, Schema, TableId};

use crate::result::{Change, ChangeTarget, SchemaChange};
use crate::schema::types::check_classes;
use crate::settings::SchemaSettings;

pub use replication::replicas_in_all;

/// What a DDL statement is planned against.
pub struct DdlContext<'a> {
    /// The schema as it is; nobody else changes it meanwhile.
    pub schema: &'a Schema,
    /// The request's keyspace or else the connection's.
    pub keyspace: Option<&'a str>,
    /// The datacenters of the ring, each with its number of nodes.
    pub datacenters: &'a [(String, usize)],
    /// The write time of this change, microseconds.
    pub timestamp: i64,
    /// What is switched on.
    pub settings: SchemaSettings,
    /// For values that are computed, as arguments of masks may be.
    pub env: &'a SharedEnv,
    /// The id of the table, should one be created.
    pub new_table_id: TableId,
}

/// What a statement makes of its keyspace.
#[derive(Clone, Debug)]
pub enum NewState {
    /// As it was: IF [NOT] EXISTS took the other way.
    Same,
    /// There from now on, in this form.
    Keyspace(Arc<Keyspace>),
    /// Gone.
    Dropped,
}

/// A planned change.
#[derive(Clone, Debug)]
pub struct DdlPlan {
    /// The keyspace it is in.
    pub keyspace: Arc<str>,
    /// What becomes of it.
    pub state: NewState,
    /// What clients are told, if anything changes.
    pub change: SchemaChange,
    /// Warnings for the client.
    pub warnings: Vec<String>,
    /// Warnings that are only given if anything changes.
    pub warnings_if_changed: Vec<String>,
}

impl DdlPlan {
    fn new(keyspace: &str, change: Change, target: ChangeTarget, state: NewState) -> DdlPlan {
        let keyspace: Arc<str> = keyspace.into();
        DdlPlan {
            change: SchemaChange { change, target, keyspace: keyspace.clone() },
            keyspace,
            state,
            warnings: Vec::new(),
            warnings_if_changed: Vec::new(),
        }
    }
}

/// Whether the statement changes the schema (and is supported).
pub fn is_schema_change(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateKeyspace(_)
            | Statement::AlterKeyspace(_)
            | Statement::DropKeyspace(_)
            | Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::CreateType(_)
            | Statement::AlterType(_)
            | Statement::DropType(_)
    )
}

/// Plans a statement.
///
/// # Errors
/// Cassandra's, and "not supported yet" for schema objects that are not.
pub fn plan(statement: &Statement, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    written_types(statement).into_iter().try_for_each(check_classes)?;
    match statement {
        Statement::CreateKeyspace(statement) => create_keyspace::plan(statement, context),
        Statement::AlterKeyspace(statement) => alter_keyspace::plan(statement, context),
        Statement::DropKeyspace(statement) => drop_keyspace::plan(statement, context),
        Statement::CreateTable(statement) => create_table::plan(statement, context),
        Statement::AlterTable(statement) => alter_table::plan(statement, context),
        Statement::DropTable(statement) => drop_table::plan(statement, context),
        Statement::CreateType(statement) => create_type::plan(statement, context),
        Statement::AlterType(statement) => alter_type::plan(statement, context),
        Statement::DropType(statement) => drop_type::plan(statement, context),
        other => match (absent::plan(other, context), roles::refuse(other, context)) {
            (Some(plan), _) => plan,
            (None, Some(refused)) => Err(refused),
            (None, None) => Err(unsupported::refuse(other)),
        },
    }
}

/// Types of the columns and fields that the statement defines.
fn written_types(statement: &Statement) -> Vec<&CqlType> {
    fn of_columns(columns: &[ColumnDefinition]) -> Vec<&CqlType> {
        columns.iter().map(|column| &column.cql_type).collect()
    }
    match statement {
        Statement::CreateTable(statement) => of_columns(&statement.columns),
        Statement::AlterTable(AlterTable { change: TableChange::Add { columns, .. }, .. }) => {
            of_columns(columns)
        }
        Statement::CreateType(statement) => statement.fields.iter().map(|(_, field)| field).collect(),
        Statement::AlterType(AlterType { change: TypeChange::Add { cql_type, .. }, .. }) => vec![cql_type],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
