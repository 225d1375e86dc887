//! DROP TYPE (`DropTypeStatement`).

use std::sync::Arc;

use basalt_cql::ast::DropType;
use basalt_model::{CqlError, Keyspace};

use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};
use crate::schema::types::references;

pub(super) fn plan(statement: &DropType, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(&statement.name, context)?;
    names::authorize(keyspace, "DROP", || format!("<all tables in {keyspace}>"))?;
    names::check_keyspace(keyspace)?;
    let name: Arc<str> = statement.name.name.as_str().into();
    let plan = |state| DdlPlan::new(keyspace, Change::Dropped, ChangeTarget::Type(name.clone()), state);
    let before = context.schema.keyspace(keyspace).filter(|before| before.types.contains_key(&name));
    let Some(before) = before else {
        if statement.if_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::invalid(format!("Type '{keyspace}.{name}' doesn't exist")));
    };
    check_unused(before, &name)?;
    let mut after = Keyspace::clone(before);
    after.types.remove(&name);
    Ok(plan(NewState::Keyspace(Arc::new(after))))
}

/// A type that another type or a table uses stays.
fn check_unused(keyspace: &Keyspace, name: &str) -> Result<(), CqlError> {
    let in_use = |what: &str, users: Vec<&str>| {
        if users.is_empty() {
            return Ok(());
        }
        Err(CqlError::invalid(format!(
            "Cannot drop user type '{}.{name}' as it is still used by {what} {}",
            keyspace.name,
            users.join(", ")
        )))
    };
    let types = keyspace
        .types
        .values()
        .filter(|user| &*user.name != name && user.fields.iter().any(|(_, field)| references(field, name)))
        .map(|user| &*user.name)
        .collect();
    in_use("user types", types)?;
    let tables = keyspace
        .tables
        .values()
        .filter(|table| table.columns.iter().any(|column| references(&column.data_type, name)))
        .map(|table| &*table.name)
        .collect();
    in_use("tables", tables)
}
