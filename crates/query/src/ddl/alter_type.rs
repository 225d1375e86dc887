//! ALTER TYPE (`AlterTypeStatement`): add a field, rename fields.

use std::sync::Arc;

use basalt_cql::ast::{AlterType, Ident, TypeChange};
use basalt_model::types::UserType;
use basalt_model::{CqlError, Keyspace, Table};

use super::create_type::{check_field, field_type};
use super::{DdlContext, DdlPlan, NewState, names};
use crate::result::{Change, ChangeTarget};
use crate::schema::replace_type::replace_user_type;
use crate::schema::types::{RawType, references};
use crate::text::in_map_order;
use basalt_model::quote::identifier;

pub(super) fn plan(statement: &AlterType, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let keyspace = names::keyspace_of(&statement.name, context)?;
    names::authorize(keyspace, "ALTER", || format!("<all tables in {keyspace}>"))?;
    names::check_keyspace(keyspace)?;
    let name: Arc<str> = statement.name.name.as_str().into();
    let plan = |state| DdlPlan::new(keyspace, Change::Updated, ChangeTarget::Type(name.clone()), state);
    let found = context.schema.keyspace(keyspace).and_then(|before| Some((before, before.types.get(&name)?)));
    let Some((before, user_type)) = found else {
        if statement.if_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::invalid(format!("Type {keyspace}.{name} doesn't exist")));
    };
    let changed = match &statement.change {
        TypeChange::AlterField { .. } => {
            return Err(CqlError::invalid("Altering field types is no longer supported"));
        }
        TypeChange::Add { if_not_exists, field, cql_type } => {
            let raw = RawType::of(cql_type)?;
            add_field(before, user_type, field, &raw, *if_not_exists)?
        }
        TypeChange::Rename { if_exists, fields } => rename_fields(user_type, fields, *if_exists)?,
    };
    match changed {
        None => Ok(plan(NewState::Same)),
        Some(changed) => {
            let after = replace_user_type(before, Arc::new(changed));
            Ok(plan(NewState::Keyspace(Arc::new(after))))
        }
    }
}

fn add_field(
    keyspace: &Keyspace,
    user_type: &UserType,
    field: &Ident,
    raw: &RawType,
    if_not_exists: bool,
) -> Result<Option<UserType>, CqlError> {
    check_field(raw)?;
    let (name, shown) = (field.as_str(), cql_name(user_type));
    if user_type.fields.iter().any(|(existing, _)| &**existing == name) {
        if if_not_exists {
            return Ok(None);
        }
        return Err(CqlError::invalid(format!(
            "Cannot add field {name} to type {shown}: a field with name {name} already exists"
        )));
    }
    let data_type = field_type(raw, &keyspace.name, &keyspace.types)?;
    // Names are known by their keyspace from here on, as Cassandra's messages show.
    let raw = raw.clone().in_keyspace(&keyspace.name);
    if references(&data_type, &user_type.name) {
        return Err(CqlError::invalid(format!(
            "Cannot add new field {name} of type {raw} to user type {shown} as it would create a circular reference"
        )));
    }
    let keyed_by = |table: &&Arc<Table>| {
        table.partition_key().iter().any(|column| references(&column.data_type, &user_type.name))
    };
    let tables: Vec<String> = keyspace
        .tables
        .values()
        .filter(keyed_by)
        .map(|table| format!("{}.{}", identifier(&table.keyspace), identifier(&table.name)))
        .collect();
    if !tables.is_empty() {
        return Err(CqlError::invalid(format!(
            "Cannot add new field {name} of type {raw} to user type {shown} as the type is being used in partition key by the following tables: {}",
            tables.join(", ")
        )));
    }
    let mut changed = user_type.clone();
    changed.fields.push((name.into(), data_type));
    Ok(Some(changed))
}

fn rename_fields(
    user_type: &UserType,
    renames: &[(Ident, Ident)],
    if_exists: bool,
) -> Result<Option<UserType>, CqlError> {
    let mut changed = user_type.clone();
    for (from, to) in in_map_order(renames) {
        let position = user_type.fields.iter().position(|(name, _)| &**name == from.as_str());
        match position.and_then(|position| changed.fields.get_mut(position)) {
            Some(field) => field.0 = to.as_str().into(),
            None if if_exists => {}
            None => {
                return Err(CqlError::invalid(format!(
                    "Unkown field {} in user type {}",
                    from.name,
                    cql_name(user_type)
                )));
            }
        }
    }
    for (name, _) in &changed.fields {
        if changed.fields.iter().filter(|(other, _)| other == name).count() > 1 {
            // Cassandra's format has one place too few: the keyspace stands where the type should.
            return Err(CqlError::invalid(format!(
                "Duplicate field name {name} in type {}",
                user_type.keyspace
            )));
        }
    }
    Ok(Some(changed))
}

/// `UserType.getCqlTypeName`.
fn cql_name(user_type: &UserType) -> String {
    format!("{}.{}", identifier(&user_type.keyspace), identifier(&user_type.name))
}
