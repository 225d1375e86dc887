//! ALTER and DROP of what no schema holds yet: indexes, views, functions, aggregates, triggers. Each says that it is not
//! there, as Cassandra does, or does nothing with IF EXISTS. Knows how these are named, not what they are.

use basalt_cql::ast::{CqlType, FunctionName, QualifiedName, Statement};
use basalt_model::CqlError;

use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};
use crate::schema::types::resolve;
use crate::text;

/// The plan of such a statement; `None` for others.
///
/// # Errors
/// `Invalid`: it does not exist, or the statement is wrong in itself.
pub(super) fn plan(statement: &Statement, context: &DdlContext<'_>) -> Option<Result<DdlPlan, CqlError>> {
    Some(match statement {
        Statement::DropIndex(drop) => missing(&drop.index, drop.if_exists, context, |name| {
            // Cassandra's text ends in a quote too many.
            format!("Index '{name}' doesn't exist'")
        }),
        Statement::DropView(drop) => missing(&drop.view, drop.if_exists, context, view),
        Statement::AlterView(alter) => missing(&alter.view, alter.if_exists, context, view),
        Statement::DropTrigger(drop) => missing(&drop.table, drop.if_exists, context, |table| {
            format!("Trigger '{}' on '{table}' doesn't exist", drop.name.name)
        }),
        Statement::DropFunction(drop) => {
            function("Function", &drop.name, drop.argument_types.as_deref(), drop.if_exists, context)
        }
        Statement::DropAggregate(drop) => {
            function("Aggregate", &drop.name, drop.argument_types.as_deref(), drop.if_exists, context)
        }
        _ => return None,
    })
}

fn view(name: &str) -> String {
    format!("Materialized view '{name}' doesn't exist")
}

fn missing(
    name: &QualifiedName,
    if_exists: bool,
    context: &DdlContext<'_>,
    message: impl FnOnce(&str) -> String,
) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(name, context)?;
    names::check_keyspace(keyspace)?;
    absent(keyspace, if_exists, || message(&names::shown(keyspace, &name.name)))
}

fn function(
    kind: &str,
    name: &FunctionName,
    arguments: Option<&[CqlType]>,
    if_exists: bool,
    context: &DdlContext<'_>,
) -> Result<DdlPlan, CqlError> {
    let qualified = QualifiedName { keyspace: name.keyspace.clone(), name: name.name.clone() };
    let keyspace = names::keyspace_of(&qualified, context)?;
    names::check_keyspace(keyspace)?;
    let mut shown = names::shown(keyspace, &name.name);
    if let Some(arguments) = arguments {
        let types: Vec<String> = arguments.iter().map(text::type_name).collect();
        shown = format!("{shown}({})", types.join(", "));
    }
    if let Some(known) = context.schema.keyspace(keyspace) {
        for argument in arguments.unwrap_or_default() {
            check_not_frozen(argument)?;
            resolve(argument, keyspace, &known.types)?;
        }
    }
    absent(keyspace, if_exists, || format!("{kind} '{shown}' doesn't exist"))
}

/// Arguments are frozen anyway and must not be written so.
fn check_not_frozen(argument: &CqlType) -> Result<(), CqlError> {
    let frozen = matches!(argument, CqlType::Frozen(inner) if !matches!(**inner, CqlType::Tuple(_)));
    if !frozen {
        return Ok(());
    }
    let shown = text::type_name(argument);
    Err(CqlError::invalid(format!(
        "Argument '{shown}' cannot be frozen; remove frozen<> modifier from '{shown}'"
    )))
}

fn absent(keyspace: &str, if_exists: bool, message: impl FnOnce() -> String) -> Result<DdlPlan, CqlError> {
    if if_exists {
        return Ok(DdlPlan::new(keyspace, Change::Dropped, ChangeTarget::Keyspace, NewState::Same));
    }
    Err(CqlError::invalid(message()))
}
