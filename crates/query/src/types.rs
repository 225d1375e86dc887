//! Types as written in casts and hints, looked up in the schema (`CQL3Type.Raw.prepare`).
//! CREATE and ALTER have stricter rules of their own.

use std::sync::Arc;

use basalt_cql::ast::{CqlType, Ident, NativeType, QualifiedName};
use basalt_model::{DataType, Schema};

use crate::error::{CqlResult, bail};

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
    let inner = |written: &CqlType| -> CqlResult<Arc<DataType>> {
        Ok(Arc::new(resolve(schema, keyspace, written)?.freeze()))
    };
    Ok(match written {
        CqlType::Native(name) => native(*name),
        CqlType::List(element) => DataType::List { element: inner(element)?, frozen: false },
        CqlType::Set(element) => DataType::Set { element: inner(element)?, frozen: false },
        CqlType::Map(key, value) => DataType::Map { key: inner(key)?, value: inner(value)?, frozen: false },
        CqlType::Tuple(types) => {
            let types = types.iter().map(|t| Ok(resolve(schema, keyspace, t)?.freeze()));
            DataType::Tuple(types.collect::<CqlResult<Vec<DataType>>>()?.into())
        }
        CqlType::Vector(element, dimension) => match u32::try_from(*dimension) {
            Ok(dimension) if dimension > 0 => DataType::Vector { element: inner(element)?, dimension },
            _ => bail!("vectors may only have positive dimensions; given {dimension}"),
        },
        CqlType::User(name) => {
            let keyspace = name.keyspace.as_ref().map_or(keyspace, |k| &k.name);
            match schema.user_type(keyspace, &name.name.name) {
                Some(definition) => DataType::Udt { definition: definition.clone(), frozen: false },
                None => bail!("Unknown type {keyspace}.{}", name.name.name),
            }
        }
        CqlType::Frozen(inner) => resolve(schema, keyspace, inner)?.freeze(),
        CqlType::Custom(class) => DataType::Custom(class.as_str().into()),
    })
}

/// The same with the keyspace written at user types that have none: messages show types as looking them up leaves them.
pub(crate) fn qualified(written: &CqlType, keyspace: &str) -> CqlType {
    let inner = |written: &CqlType| Box::new(qualified(written, keyspace));
    match written {
        CqlType::Native(_) | CqlType::Custom(_) => written.clone(),
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
