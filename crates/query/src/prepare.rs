//! Text to plan: parse, look up, resolve (`QueryProcessor.parseAndPrepare`).

use std::sync::Arc;

use basalt_cql::ast::{Modification, QualifiedName, Statement};
use basalt_model::{CqlError, Schema, Table};

use crate::error::{CqlResult, bail};
use crate::plan::batch::BatchPlan;
use crate::plan::modify::ModifyPlan;
use crate::plan::select::SelectPlan;
use crate::plan::truncate::TruncatePlan;
use crate::plan::{batch, delete, insert, select, truncate, update};
use crate::receiver::Markers;
use crate::result::{ColumnSpec, ResultMetadata};

/// A statement's plan.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // Kept behind an Arc, made once a statement.
pub(crate) enum Plan {
    /// SELECT
    Select(SelectPlan),
    /// INSERT, UPDATE, DELETE
    Modify(ModifyPlan),
    /// BATCH
    Batch(BatchPlan),
    /// TRUNCATE
    Truncate(TruncatePlan),
    /// USE
    Use(String),
    /// A statement that is not over data.
    Other(Box<Statement>),
}

/// A statement, ready to be given values.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// What to do.
    pub(crate) plan: Plan,
    /// Its markers.
    pub(crate) variables: Vec<ColumnSpec>,
    /// The markers of the partition key.
    pub(crate) partition_key_indices: Vec<u16>,
    /// The schema it was made under.
    pub(crate) generation: u64,
    /// Every table is written with its keyspace.
    pub(crate) is_fully_qualified: bool,
}

impl Prepared {
    /// Checks of single modifications that need all of them (`CQLStatement.validate`).
    ///
    /// # Errors
    /// What the table does not allow.
    pub(crate) fn validate(&self) -> CqlResult<()> {
        match &self.plan {
            Plan::Modify(modify) => modify.validate(),
            Plan::Batch(batch) => batch.statements.iter().try_for_each(ModifyPlan::validate),
            Plan::Select(_) | Plan::Truncate(_) | Plan::Use(_) | Plan::Other(_) => Ok(()),
        }
    }

    /// The columns of its result, if it has any that are known beforehand.
    pub(crate) fn result_metadata(&self) -> Option<Arc<ResultMetadata>> {
        match &self.plan {
            Plan::Select(select) => Some(select.metadata().clone()),
            _ => None,
        }
    }
}

/// Parses, resolves and validates a statement.
///
/// # Errors
/// `Syntax`, or what is wrong with it under this schema.
pub(crate) fn prepare(schema: &Schema, text: &str, keyspace: Option<&str>) -> CqlResult<Prepared> {
    let prepared = resolve(schema, text, keyspace)?;
    prepared.validate()?;
    Ok(prepared)
}

/// Parses and resolves a statement; it is yet to be validated.
///
/// # Errors
/// `Syntax`, or what is wrong with it under this schema.
pub(crate) fn resolve(schema: &Schema, text: &str, keyspace: Option<&str>) -> CqlResult<Prepared> {
    let parsed = basalt_cql::parse(text).map_err(|error| CqlError::syntax(error.message))?;
    let names =
        parsed.markers.iter().map(|marker| marker.name.as_ref().map(|name| name.name.as_str().into()));
    let mut markers = Markers::new(names.collect());
    if parsed.markers.len() > usize::from(u16::MAX) {
        bail!(
            "Too many markers(?). {} markers exceed the allowed maximum of {}",
            parsed.markers.len(),
            u16::MAX
        );
    }
    let qualified = |name: &QualifiedName| name.keyspace.is_some();
    let (plan, is_fully_qualified) = match parsed.statement {
        Statement::Select(statement) => {
            let plan = select::prepare(schema, &mut markers, &statement, keyspace)?;
            (Plan::Select(plan), qualified(&statement.table))
        }
        Statement::Insert(statement) => {
            let plan = insert::prepare(schema, &mut markers, &statement, keyspace)?;
            (Plan::Modify(plan), qualified(&statement.table))
        }
        Statement::Update(statement) => {
            let plan = update::prepare(schema, &mut markers, &statement, keyspace)?;
            (Plan::Modify(plan), qualified(&statement.table))
        }
        Statement::Delete(statement) => {
            let plan = delete::prepare(schema, &mut markers, &statement, keyspace)?;
            (Plan::Modify(plan), qualified(&statement.table))
        }
        Statement::Batch(statement) => {
            let plan = batch::prepare(schema, &mut markers, &statement, keyspace)?;
            let all = statement.statements.iter().all(|statement| match statement {
                Modification::Insert(insert) => qualified(&insert.table),
                Modification::Update(update) => qualified(&update.table),
                Modification::Delete(delete) => qualified(&delete.table),
            });
            (Plan::Batch(plan), all)
        }
        Statement::Truncate(statement) => {
            let plan = truncate::prepare(schema, &statement, keyspace)?;
            (Plan::Truncate(plan), qualified(&statement.table))
        }
        Statement::Use(statement) => (Plan::Use(statement.keyspace.name), false),
        other => (Plan::Other(Box::new(other)), false),
    };
    let partition_key_indices = match one_table(&plan) {
        Some(table) => markers.partition_key_indices(table.partition_key_count),
        None => Vec::new(),
    };
    let variables = match &plan {
        Plan::Other(_) => Vec::new(),
        _ => markers.into_specs(),
    };
    // The message has no room for them where markers are of several tables.
    let same_table =
        |pair: &[ColumnSpec]| pair[0].keyspace == pair[1].keyspace && pair[0].table == pair[1].table;
    let is_one_table = variables.windows(2).all(same_table);
    let partition_key_indices = if is_one_table { partition_key_indices } else { Vec::new() };
    Ok(Prepared { plan, variables, partition_key_indices, generation: schema.generation, is_fully_qualified })
}

/// The table of a statement over one table.
fn one_table(plan: &Plan) -> Option<&Arc<Table>> {
    match plan {
        Plan::Select(select) => Some(&select.table),
        Plan::Modify(modify) => Some(&modify.table),
        Plan::Batch(batch) => {
            let first = &batch.statements.first()?.table;
            batch.statements.iter().all(|statement| statement.table.id == first.id).then_some(first)
        }
        Plan::Truncate(_) | Plan::Use(_) | Plan::Other(_) => None,
    }
}
