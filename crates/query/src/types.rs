//! Types as written in casts and hints, looked up in the schema (`CQL3Type.Raw.prepare`).

use basalt_cql::ast::{CqlType, Ident, NativeType, QualifiedName};
use basalt_model::{CqlError, DataType, Schema};

use crate::error::CqlResult;

/// The type of a native name.
pub(crate) fn native(native: NativeType) -> DataType {
    match native {
        NativeType::Ascii => DataType::Ascii,
        NativeType::Bigint => DataType::BigInt,
        NativeType::Blob => DataType::Blob,
        NativeType::Boolean => DataType::Boolean,
        NativeType::Counter => DataType::Counter,
        NativeType::Date => DataType::Date,
        NativeType::Decimal => DataType::Decimal,
        NativeType::Double => DataType::Double,
        NativeType::Duration => DataType::Duration,
        NativeType::Float => DataType::Float,
        NativeType::Inet => DataType::Inet,
        NativeType::Int => DataType::Int,
        NativeType::Smallint => DataType::SmallInt,
        NativeType::Text | NativeType::Varchar => DataType::Text,
        NativeType::Time => DataType::Time,
        NativeType::Timestamp => DataType::Timestamp,
        NativeType::Timeuuid => DataType::TimeUuid,
        NativeType::Tinyint => DataType::TinyInt,
        NativeType::Uuid => DataType::Uuid,
        NativeType::Varint => DataType::Varint,
    }
}

/// The type a written one names; user types without a keyspace are looked up in `keyspace`.
pub(crate) fn resolve(schema: &Schema, keyspace: &str, written: &CqlType) -> CqlResult<DataType> {
    match schema.keyspaces.get(keyspace) {
        Some(found) => crate::schema::types::resolve(written, keyspace, &found.types),
        None => Err(CqlError::Config(format!("Keyspace {keyspace} doesn't exist").into())),
    }
}

/// The same with the keyspace written at user types that have none: messages show types as looking them up leaves them.
pub(crate) fn qualified(written: &CqlType, keyspace: &str) -> CqlType {
    let inner = |written: &CqlType| Box::new(qualified(written, keyspace));
    match written {
        CqlType::Native(_) => written.clone(),
        CqlType::Custom(class) => {
            let known = DataType::from_class_name(class).map(|(data_type, _)| data_type.class_name());
            CqlType::Custom(known.unwrap_or_else(|| class.clone()))
        }
        CqlType::List(element) => CqlType::List(inner(element)),
        CqlType::Set(element) => CqlType::Set(inner(element)),
        CqlType::Map(key, value) => CqlType::Map(inner(key), inner(value)),
        CqlType::Tuple(types) => CqlType::Tuple(types.iter().map(|t| qualified(t, keyspace)).collect()),
        CqlType::Vector(element, dimension) => CqlType::Vector(inner(element), *dimension),
        CqlType::Frozen(element) => CqlType::Frozen(inner(element)),
        CqlType::User(name) => {
            let keyspace = name.keyspace.clone().unwrap_or_else(|| Ident::new(keyspace));
            CqlType::User(QualifiedName { keyspace: Some(keyspace), name: name.name.clone() })
        }
    }
}
