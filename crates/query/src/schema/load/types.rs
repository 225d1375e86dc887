//! `system_schema.types` back to user types, those that others use first; and types stored as CQL
//! text (`CQLTypeParser`).

use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::types::UserType;

use crate::schema::SchemaError;
use crate::schema::stored::StoredRow;
use crate::schema::types::{RawType, UserTypes};

/// A type as the schema stores it.
///
/// # Errors
/// When the text is no type or names one that is not there.
pub fn parse_stored_type(text: &str, keyspace: &str, types: &UserTypes) -> Result<DataType, SchemaError> {
    if let Some(scalar) = scalar(text) {
        return Ok(scalar);
    }
    let damaged = |error: &dyn std::fmt::Display| SchemaError::Damaged(format!("type '{text}': {error}"));
    let written = basalt_cql::parse_type(text).map_err(|error| damaged(&error))?;
    let raw = RawType::of(&written).map_err(|error| damaged(&error))?;
    raw.prepare(keyspace, types).map_err(|error| damaged(&error))
}

/// The types that most columns have need no parser.
fn scalar(text: &str) -> Option<DataType> {
    Some(match text {
        "ascii" => DataType::Ascii,
        "bigint" => DataType::BigInt,
        "blob" => DataType::Blob,
        "boolean" => DataType::Boolean,
        "double" => DataType::Double,
        "empty" => DataType::Empty,
        "float" => DataType::Float,
        "inet" => DataType::Inet,
        "int" => DataType::Int,
        "text" => DataType::Text,
        "timestamp" => DataType::Timestamp,
        "timeuuid" => DataType::TimeUuid,
        "uuid" => DataType::Uuid,
        _ => return None,
    })
}

/// A user type whose fields are not resolved yet.
struct Pending {
    name: Arc<str>,
    fields: Vec<(String, String)>,
}

/// All user types of a keyspace. Each round resolves those whose fields name only resolved ones.
pub fn load<'a>(keyspace: &str, rows: impl Iterator<Item = StoredRow<'a>>) -> Result<UserTypes, SchemaError> {
    let mut pending = Vec::new();
    for row in rows {
        let names = row.text_list("field_names")?;
        let types = row.text_list("field_types")?;
        let fields = names.into_iter().zip(types).collect();
        pending.push(Pending { name: row.clustering(0)?.into(), fields });
    }
    let mut resolved = UserTypes::new();
    while !pending.is_empty() {
        let before = pending.len();
        let mut last_error = None;
        pending.retain(|user_type| match resolve(keyspace, user_type, &resolved) {
            Ok(definition) => {
                resolved.insert(user_type.name.clone(), Arc::new(definition));
                false
            }
            Err(error) => {
                last_error = Some(error);
                true
            }
        });
        match last_error {
            Some(error) if pending.len() == before => return Err(error),
            _ => {}
        }
    }
    Ok(resolved)
}

fn resolve(keyspace: &str, user_type: &Pending, types: &UserTypes) -> Result<UserType, SchemaError> {
    let field = |(name, text): &(String, String)| {
        Ok((Arc::<str>::from(name.as_str()), parse_stored_type(text, keyspace, types)?))
    };
    let fields: Result<Vec<(Arc<str>, DataType)>, SchemaError> = user_type.fields.iter().map(field).collect();
    Ok(UserType { keyspace: keyspace.into(), name: user_type.name.clone(), fields: fields? })
}
