//! Puts a changed user type everywhere in its keyspace (`KeyspaceMetadata.withUpdatedUserType`).

use std::sync::Arc;

use basalt_model::types::UserType;
use basalt_model::{DataType, Keyspace};

use super::assemble::TableDraft;
use super::types::references;

/// The keyspace with `changed` in place of the type of its name.
pub fn replace_user_type(keyspace: &Keyspace, changed: Arc<UserType>) -> Keyspace {
    let mut after = keyspace.clone();
    for user_type in after.types.values_mut() {
        if user_type.name == changed.name {
            *user_type = changed.clone();
        } else if user_type.fields.iter().any(|(_, field)| references(field, &changed.name)) {
            *user_type = Arc::new(replace_in_type(user_type, &changed));
        }
    }
    for table in after.tables.values_mut() {
        if table.columns.iter().any(|column| references(&column.data_type, &changed.name)) {
            let mut draft = TableDraft::of(table);
            for column in &mut draft.columns {
                column.data_type = replace(&column.data_type, &changed);
            }
            *table = Arc::new(draft.finish());
        }
    }
    after
}

fn replace_in_type(user_type: &UserType, changed: &Arc<UserType>) -> UserType {
    UserType {
        keyspace: user_type.keyspace.clone(),
        name: user_type.name.clone(),
        fields: user_type
            .fields
            .iter()
            .map(|(name, field)| (name.clone(), replace(field, changed)))
            .collect(),
    }
}

fn replace(data_type: &DataType, changed: &Arc<UserType>) -> DataType {
    let inner = |data_type: &Arc<DataType>| Arc::new(replace(data_type, changed));
    match data_type {
        DataType::List { element, frozen } => DataType::List { element: inner(element), frozen: *frozen },
        DataType::Set { element, frozen } => DataType::Set { element: inner(element), frozen: *frozen },
        DataType::Map { key, value, frozen } => {
            DataType::Map { key: inner(key), value: inner(value), frozen: *frozen }
        }
        DataType::Tuple(parts) => DataType::Tuple(parts.iter().map(|part| replace(part, changed)).collect()),
        DataType::Vector { element, dimension } => {
            DataType::Vector { element: inner(element), dimension: *dimension }
        }
        DataType::Udt { definition, frozen } if definition.name == changed.name => {
            DataType::Udt { definition: changed.clone(), frozen: *frozen }
        }
        DataType::Udt { definition, frozen } => {
            DataType::Udt { definition: Arc::new(replace_in_type(definition, changed)), frozen: *frozen }
        }
        other => other.clone(),
    }
}
