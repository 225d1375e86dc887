//! CREATE TYPE (`CreateTypeStatement`).

use std::collections::HashSet;
use std::sync::Arc;

use basalt_cql::ast::CreateType;
use basalt_model::types::UserType;
use basalt_model::{CqlError, DataType, Keyspace};

use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};
use crate::schema::types::{RawType, UserTypes};

pub(super) fn plan(statement: &CreateType, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(&statement.name, context)?;
    names::authorize(keyspace, "CREATE", || format!("<all tables in {keyspace}>"))?;
    names::check_keyspace(keyspace)?;
    let name: Arc<str> = statement.name.name.as_str().into();
    let plan = |state| DdlPlan::new(keyspace, Change::Created, ChangeTarget::Type(name.clone()), state);
    let Some(before) = context.schema.keyspace(keyspace) else {
        return Err(CqlError::invalid(format!("Keyspace '{keyspace}' doesn't exist")));
    };
    if before.types.contains_key(&name) {
        if statement.if_not_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::invalid(format!("A user type with name '{name}' already exists")));
    }
    let mut used = HashSet::new();
    if let Some((twice, _)) = statement.fields.iter().find(|(field, _)| !used.insert(field.as_str())) {
        return Err(CqlError::invalid(format!("Duplicate field name '{}' in type '{name}'", twice.name)));
    }
    let raw: Result<Vec<RawType>, CqlError> =
        statement.fields.iter().map(|(_, written)| RawType::of(written)).collect();
    let raw = raw?;
    raw.iter().try_for_each(check_field)?;
    let fields: Result<Vec<(Arc<str>, DataType)>, CqlError> = statement
        .fields
        .iter()
        .zip(&raw)
        .map(|((field, _), raw)| Ok((field.as_str().into(), field_type(raw, keyspace, &before.types)?)))
        .collect();
    let mut after = Keyspace::clone(before);
    let definition = UserType { keyspace: keyspace.into(), name: name.clone(), fields: fields? };
    after.types.insert(name.clone(), Arc::new(definition));
    Ok(plan(NewState::Keyspace(Arc::new(after))))
}

/// What no field of a user type may be.
///
/// # Errors
/// For counters and user types that are not frozen.
pub(super) fn check_field(raw: &RawType) -> Result<(), CqlError> {
    if raw.is_counter() {
        return Err(CqlError::invalid("A user type cannot contain counters"));
    }
    if raw.is_unfrozen_user_type() {
        return Err(CqlError::invalid("A user type cannot contain non-frozen UDTs"));
    }
    Ok(())
}

/// The type of a field.
///
/// # Errors
/// As [`RawType::prepare`].
pub(super) fn field_type(raw: &RawType, keyspace: &str, types: &UserTypes) -> Result<DataType, CqlError> {
    raw.prepare(keyspace, types)
}
