//! DROP KEYSPACE (`DropKeyspaceStatement`).

use basalt_cql::ast::DropKeyspace;
use basalt_model::CqlError;

use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};

pub(super) fn plan(statement: &DropKeyspace, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let name = statement.keyspace.as_str();
    names::authorize(name, "DROP", || format!("<keyspace {name}>"))?;
    names::check_keyspace(name)?;
    let plan = |state| DdlPlan::new(name, Change::Dropped, ChangeTarget::Keyspace, state);
    match context.schema.keyspace(name) {
        Some(_) => Ok(plan(NewState::Dropped)),
        None if statement.if_exists => Ok(plan(NewState::Same)),
        None => Err(CqlError::invalid(format!("Keyspace '{name}' doesn't exist"))),
    }
}
