//! Whether a column may come back with another type than it was dropped with
//! (`AbstractType.isSerializationCompatibleWith`): the bytes of the old type must still be values
//! of the new one.

use std::sync::Arc;

use basalt_model::DataType;

use super::types::expand_user_types;

/// Whether cells of `previous` can be read as `new`.
pub fn is_serialization_compatible(new: &DataType, previous: &DataType) -> bool {
    let composed = previous.is_collection() || matches!(previous, DataType::Udt { .. });
    if !is_value_compatible(new, previous) || (*new == DataType::Blob && composed) {
        return false;
    }
    match (values(new), values(previous)) {
        (Some(new), Some(previous)) => is_serialization_compatible(new, previous),
        _ => new.fixed_length() == previous.fixed_length() && new.is_multi_cell() == previous.is_multi_cell(),
    }
}

/// The type of what a collection's cells hold; sets hold nothing there.
fn values(data_type: &DataType) -> Option<&Arc<DataType>> {
    match data_type {
        DataType::List { element, .. } => Some(element),
        DataType::Map { value, .. } => Some(value),
        _ => None,
    }
}

fn fields(data_type: &DataType) -> Option<Vec<&DataType>> {
    match data_type {
        DataType::Tuple(parts) => Some(parts.iter().collect()),
        DataType::Udt { definition, .. } => Some(definition.fields.iter().map(|(_, field)| field).collect()),
        _ => None,
    }
}

fn is_value_compatible(new: &DataType, previous: &DataType) -> bool {
    if new == previous {
        return true;
    }
    if let (DataType::Udt { definition, .. }, DataType::Udt { definition: before, .. }) = (new, previous) {
        return new.is_multi_cell() == previous.is_multi_cell()
            && definition.keyspace == before.keyspace
            && definition.fields.len() >= before.fields.len()
            && definition.fields.iter().zip(&before.fields).all(|(new, old)| is_compatible(&new.1, &old.1));
    }
    // A tuple may take the place of a user type, not the other way round.
    if let (DataType::Tuple(new), Some(previous)) = (new, fields(previous)) {
        return new.len() >= previous.len()
            && new.iter().zip(&previous).all(|(new, previous)| is_value_compatible(new, previous));
    }
    if matches!(new, DataType::Udt { .. }) {
        return false;
    }
    match (new, previous) {
        (DataType::Blob, _) => true,
        (DataType::Varint, DataType::Int | DataType::BigInt | DataType::Timestamp) => true,
        (DataType::BigInt, DataType::Timestamp) => true,
        (DataType::Timestamp, DataType::BigInt) => true,
        (DataType::Date, DataType::Int) => true,
        (DataType::Time, DataType::BigInt) => true,
        (DataType::Uuid, DataType::TimeUuid) => true,
        _ if new.is_multi_cell() => is_compatible(new, previous),
        (
            DataType::List { element: new, frozen: true },
            DataType::List { element: previous, frozen: true },
        ) => is_value_compatible(new, previous),
        (DataType::Set { element: new, frozen: true }, DataType::Set { element: previous, frozen: true }) => {
            is_compatible(new, previous)
        }
        (
            DataType::Map { key, value, frozen: true },
            DataType::Map { key: previous_key, value: previous_value, frozen: true },
        ) => is_compatible(key, previous_key) && is_value_compatible(value, previous_value),
        _ => is_compatible(new, previous),
    }
}

/// Also ordered alike (`isCompatibleWith`).
fn is_compatible(new: &DataType, previous: &DataType) -> bool {
    if new == previous {
        return true;
    }
    if let (Some(new), Some(previous)) = (fields(new), fields(previous)) {
        return new.len() >= previous.len()
            && new.iter().zip(&previous).all(|(new, previous)| is_compatible(new, previous));
    }
    match (new, previous) {
        (DataType::Text, DataType::Ascii) => true,
        (DataType::Blob, DataType::Text | DataType::Ascii) => true,
        (DataType::List { element, frozen }, DataType::List { element: before, frozen: was_frozen }) => {
            frozen == was_frozen
                && if *frozen {
                    is_compatible(element, before)
                } else {
                    is_serialization_compatible(element, before)
                }
        }
        (DataType::Set { element, frozen }, DataType::Set { element: before, frozen: was_frozen }) => {
            frozen == was_frozen && is_compatible(element, before)
        }
        (
            DataType::Map { key, value, frozen },
            DataType::Map { key: key_before, value: before, frozen: was_frozen },
        ) => {
            frozen == was_frozen
                && is_compatible(key, key_before)
                && if *frozen {
                    is_compatible(value, before)
                } else {
                    is_serialization_compatible(value, before)
                }
        }
        // Cassandra leaves user types inside a vector as they are when it forgets those of a dropped column.
        (DataType::Vector { .. }, DataType::Vector { .. }) => expand_user_types(new) == *previous,
        _ => false,
    }
}
