//! DELETE (`DeleteStatement`).

use basalt_cql::ast;
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Schema};

use super::modify::{ModifyPlan, is_static_only, split};
use super::update::{prepare_conditions, refuse_expressions};
use super::{attributes, find_table};
use crate::error::{CqlResult, ensure};
use crate::operations;
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, StatementKind, Terms, existing_column};
use crate::terms::Context;

/// Resolves a DELETE.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    delete: &ast::Delete,
    keyspace: Option<&str>,
) -> CqlResult<ModifyPlan> {
    let (table, replication) = find_table(schema, &delete.table, keyspace)?;
    let context = Context::of(schema, &table);
    let place = Receiver::named(&table, "", DataType::BigInt);
    let attributes = attributes::prepare(&context, markers, (delete.timestamp.as_ref(), None), &place)?;
    let has_timestamp = delete.timestamp.is_some();
    let conditions = prepare_conditions(&context, markers, &table, delete.if_clause.as_ref(), has_timestamp)?;
    let mut operations = Vec::with_capacity(delete.deletions.len());
    for deletion in &delete.deletions {
        let column = existing_column(&table, &deletion.column.name)?;
        ensure(table.columns[column].kind >= ColumnKind::Static, || {
            format!(
                "Invalid identifier {} for deletion (should not be a PRIMARY KEY part)",
                table.columns[column].name
            )
        })?;
        operations.push(operations::deletion(&context, markers, &table, column, &deletion.part)?);
    }
    let (regular, statics) = split(operations, &table);
    let kind = StatementKind::Delete;
    refuse_expressions(&delete.where_clause)?;
    let static_only = is_static_only(kind, (&regular, &statics), &conditions, &table);
    let terms = Terms { kind, static_only, allow_filtering: false, ann: None };
    let restrictions = Restrictions::prepare(&context, markers, &table, &delete.where_clause, terms)?;
    let plan = ModifyPlan {
        kind,
        table,
        replication,
        restrictions,
        regular,
        statics,
        conditions,
        attributes,
        document: None,
    };
    plan.validate_conditions()?;
    if !plan.conditions.is_empty() && !plan.restrictions.names_rows(&plan.table) {
        refuse_unnamed_rows(&plan)?;
    }
    Ok(plan)
}

fn refuse_unnamed_rows(plan: &ModifyPlan) -> CqlResult<()> {
    ensure(plan.regular.is_empty() && !plan.statics.is_empty(), || {
        "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns".to_owned()
    })?;
    ensure(!plan.conditions.applies_to_regular(&plan.table), || {
        "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF condition on non static columns".to_owned()
    })
}
