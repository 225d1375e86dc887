//! Making a table again as a snapshot knew it: with its id, and with the ids of its columns, by which the snapshot's
//! files name them.

use std::sync::Arc;

use basalt_cql::ast::Statement;
use basalt_model::schema::ColumnKind;
use basalt_model::{ColumnId, CqlError, Keyspace, Table};

use super::assemble::next_column_id;
use super::store::SchemaStore;
use crate::ddl::{self, NewState};

/// A column's kind, name and id.
pub type KnownColumn = (ColumnKind, String, ColumnId);

impl SchemaStore {
    /// Runs one statement of a snapshot's schema. The columns of a table that it makes get the ids they had.
    ///
    /// # Errors
    /// The statement's.
    pub async fn recreate(&self, statement: &str, known: &[KnownColumn]) -> Result<(), CqlError> {
        let statement = basalt_cql::parse_statement(statement)
            .map_err(|error| CqlError::Syntax(error.to_string().into()))?;
        let plan = |context: &ddl::DdlContext<'_>| {
            let mut plan = ddl::plan(&statement, context)?;
            if let (Statement::CreateTable(_), NewState::Keyspace(after)) = (&statement, &mut plan.state) {
                let before = context.schema.keyspace(&plan.keyspace).map(Arc::as_ref);
                *after = Arc::new(renumbered(before, after, known));
            }
            Ok(plan)
        };
        self.change(None, plan).await.map(drop)
    }
}

fn renumbered(before: Option<&Keyspace>, after: &Keyspace, known: &[KnownColumn]) -> Keyspace {
    let mut keyspace = after.clone();
    for (name, table) in &mut keyspace.tables {
        if before.is_none_or(|before| !before.tables.contains_key(name)) {
            *table = Arc::new(with_ids(table, known));
        }
    }
    keyspace
}

fn with_ids(table: &Table, known: &[KnownColumn]) -> Table {
    let mut table = table.clone();
    let mut next = next_column_id(&table.columns, &table.dropped_columns).0;
    next = known.iter().map(|(_, _, id)| id.0 + 1).fold(next, u32::max);
    for column in &mut table.columns {
        let had = known.iter().find(|(kind, name, _)| *kind == column.kind && **name == *column.name);
        column.id = had.map_or(ColumnId(next), |(_, _, id)| *id);
        next += u32::from(had.is_none());
    }
    table
}
