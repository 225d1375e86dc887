//! Types as `[option]` (v5 §4.2.5.2, `transport/DataType`).
//!
//! What has no number of its own (vectors, custom types), or none in the client's version yet,
//! travels as a custom type under its Java class name.

use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::types::UserType;
use bytes::{BufMut, BytesMut};

use crate::limits::{MAX_SHORT_COUNT, MAX_TYPE_DEPTH};
use crate::primitives::{Reader, put_count, put_string};
use crate::{ProtocolVersion, Result, WireError};

const CUSTOM: u16 = 0x0000;
const LIST: u16 = 0x0020;
const MAP: u16 = 0x0021;
const SET: u16 = 0x0022;
const UDT: u16 = 0x0030;
const TUPLE: u16 = 0x0031;

/// The number of a type without parameters, and the first version that knows it.
fn simple_id(data_type: &DataType) -> Option<(u16, ProtocolVersion)> {
    let always = |id| Some((id, ProtocolVersion::V3));
    match data_type {
        DataType::Ascii => always(0x0001),
        DataType::BigInt => always(0x0002),
        DataType::Blob => always(0x0003),
        DataType::Boolean => always(0x0004),
        DataType::Counter => always(0x0005),
        DataType::Decimal => always(0x0006),
        DataType::Double => always(0x0007),
        DataType::Float => always(0x0008),
        DataType::Int => always(0x0009),
        DataType::Timestamp => always(0x000b),
        DataType::Uuid => always(0x000c),
        DataType::Text => always(0x000d),
        DataType::Varint => always(0x000e),
        DataType::TimeUuid => always(0x000f),
        DataType::Inet => always(0x0010),
        DataType::Date => Some((0x0011, ProtocolVersion::V4)),
        DataType::Time => Some((0x0012, ProtocolVersion::V4)),
        DataType::SmallInt => Some((0x0013, ProtocolVersion::V4)),
        DataType::TinyInt => Some((0x0014, ProtocolVersion::V4)),
        DataType::Duration => Some((0x0015, ProtocolVersion::V5)),
        _ => None,
    }
}

fn simple_type(id: u16) -> Option<DataType> {
    Some(match id {
        0x0001 => DataType::Ascii,
        0x0002 => DataType::BigInt,
        0x0003 => DataType::Blob,
        0x0004 => DataType::Boolean,
        0x0005 => DataType::Counter,
        0x0006 => DataType::Decimal,
        0x0007 => DataType::Double,
        0x0008 => DataType::Float,
        0x0009 => DataType::Int,
        0x000b => DataType::Timestamp,
        0x000c => DataType::Uuid,
        // 0x000a is "text", gone since version 3 and still understood.
        0x000a | 0x000d => DataType::Text,
        0x000e => DataType::Varint,
        0x000f => DataType::TimeUuid,
        0x0010 => DataType::Inet,
        0x0011 => DataType::Date,
        0x0012 => DataType::Time,
        0x0013 => DataType::SmallInt,
        0x0014 => DataType::TinyInt,
        0x0015 => DataType::Duration,
        _ => return None,
    })
}

/// Appends a type. Whether it is frozen does not travel, but inside a class name it does.
pub fn put_type(out: &mut BytesMut, data_type: &DataType, version: ProtocolVersion) {
    if let Some((id, since)) = simple_id(data_type)
        && version >= since
    {
        return out.put_u16(id);
    }
    match data_type {
        DataType::List { element, .. } => {
            out.put_u16(LIST);
            put_type(out, element, version);
        }
        DataType::Set { element, .. } => {
            out.put_u16(SET);
            put_type(out, element, version);
        }
        DataType::Map { key, value, .. } => {
            out.put_u16(MAP);
            put_type(out, key, version);
            put_type(out, value, version);
        }
        DataType::Udt { definition, .. } => put_udt(out, definition, version),
        DataType::Tuple(types) => {
            out.put_u16(TUPLE);
            put_count(out, types.len());
            for field in types.iter().take(MAX_SHORT_COUNT) {
                put_type(out, field, version);
            }
        }
        DataType::Reversed(base) => put_type(out, base, version),
        other => {
            out.put_u16(CUSTOM);
            put_string(out, &other.class_name());
        }
    }
}

fn put_udt(out: &mut BytesMut, definition: &UserType, version: ProtocolVersion) {
    out.put_u16(UDT);
    put_string(out, &definition.keyspace);
    put_string(out, &definition.name);
    put_count(out, definition.fields.len());
    for (name, data_type) in definition.fields.iter().take(MAX_SHORT_COUNT) {
        put_string(out, name);
        put_type(out, data_type, version);
    }
}

/// Reads a type. Collections and UDTs come out as not frozen, for the message does not say. A custom
/// type becomes the type its class name says, if that is one of ours.
pub fn read_type(body: &mut Reader) -> Result<DataType> {
    read_nested(body, 0)
}

fn read_nested(body: &mut Reader, depth: usize) -> Result<DataType> {
    if depth > MAX_TYPE_DEPTH {
        return Err(WireError::protocol("A type is nested too deeply"));
    }
    let inner = |body: &mut Reader| read_nested(body, depth + 1);
    let id = body.u16()?;
    Ok(match id {
        CUSTOM => {
            let class_name = body.string()?;
            match DataType::from_class_name(&class_name) {
                Some((data_type, false)) => data_type,
                _ => DataType::Custom(class_name.into()),
            }
        }
        LIST => DataType::List { element: Arc::new(inner(body)?), frozen: false },
        SET => DataType::Set { element: Arc::new(inner(body)?), frozen: false },
        MAP => {
            let key = Arc::new(inner(body)?);
            DataType::Map { key, value: Arc::new(inner(body)?), frozen: false }
        }
        UDT => {
            let (keyspace, name) = (body.string()?.into(), body.string()?.into());
            let count = usize::from(body.u16()?);
            let mut fields = Vec::with_capacity(body.capacity(count, 4));
            for _ in 0..count {
                fields.push((body.string()?.into(), inner(body)?));
            }
            let definition = Arc::new(UserType { keyspace, name, fields });
            DataType::Udt { definition, frozen: false }
        }
        TUPLE => {
            let count = usize::from(body.u16()?);
            let mut types = Vec::with_capacity(body.capacity(count, 2));
            for _ in 0..count {
                types.push(inner(body)?);
            }
            DataType::Tuple(types.into())
        }
        other => {
            simple_type(other).ok_or_else(|| WireError::protocol(format!("Unknown option id {other}")))?
        }
    })
}

#[cfg(test)]
mod tests;
