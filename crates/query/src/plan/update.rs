//! UPDATE (`UpdateStatement.ParsedUpdate`).

use basalt_cql::ast;
use basalt_cql::ast::{IfClause, RelationKind};
use basalt_model::schema::ColumnKind;
use basalt_model::{DataType, Schema, Table};

use super::modify::{ModifyPlan, is_static_only, split};
use super::{attributes, find_table};
use crate::conditions::{self, Conditions};
use crate::error::{CqlResult, ensure};
use crate::operations;
use crate::receiver::{Markers, Receiver};
use crate::restrictions::{Restrictions, StatementKind, Terms, existing_column};
use crate::terms::Context;

/// Resolves an UPDATE.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    update: &ast::Update,
    keyspace: Option<&str>,
) -> CqlResult<ModifyPlan> {
    let (table, replication) = find_table(schema, &update.table, keyspace)?;
    let context = Context::of(schema, &table);
    let place = Receiver::named(&table, "", DataType::BigInt);
    let using = (update.using.timestamp.as_ref(), update.using.ttl.as_ref());
    let attributes = attributes::prepare(&context, markers, using, &place)?;
    let conditions = prepare_conditions(
        &context,
        markers,
        &table,
        update.if_clause.as_ref(),
        update.using.timestamp.is_some(),
    )?;
    let mut operations = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        let column = existing_column(&table, &assignment.column.name)?;
        ensure(table.columns[column].kind >= ColumnKind::Static, || {
            format!("PRIMARY KEY part {} found in SET part", table.columns[column].name)
        })?;
        let written = (column, &assignment.operation);
        operations.push(operations::update(&context, markers, &table, written, !conditions.is_empty())?);
    }
    let (regular, statics) = split(operations, &table);
    let kind = StatementKind::Update;
    refuse_expressions(&update.where_clause)?;
    let static_only = is_static_only(kind, (&regular, &statics), &conditions, &table);
    let terms = Terms { kind, static_only, allow_filtering: false, ann: None };
    let restrictions = Restrictions::prepare(&context, markers, &table, &update.where_clause, terms)?;
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
    Ok(plan)
}

/// Resolves an IF clause.
pub(super) fn prepare_conditions(
    context: &Context<'_>,
    markers: &mut Markers,
    table: &Table,
    written: Option<&IfClause>,
    has_timestamp: bool,
) -> CqlResult<Conditions> {
    match written {
        None => Ok(Conditions::None),
        Some(IfClause::Exists) => Ok(Conditions::Exists),
        Some(IfClause::Conditions(written)) => {
            ensure(!has_timestamp, || "Cannot provide custom timestamp for conditional updates".to_owned())?;
            conditions::prepare(context, markers, table, written)
        }
    }
}

/// Index expressions belong to SELECT.
pub(super) fn refuse_expressions(relations: &[ast::Relation]) -> CqlResult<()> {
    let is_expression = |relation: &ast::Relation| matches!(relation.kind, RelationKind::CustomIndex { .. });
    ensure(!relations.iter().any(is_expression), || {
        "Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements".to_owned()
    })
}
