//! Constants of CQL to serialized values and back.
//!
//! [`from_literal`] is what a constant in a statement is worth for a column; [`from_text`] reads
//! the text forms of scalar types (`AbstractType.fromString`); [`print`] writes a value as CQL
//! (`CQL3Type.toCQLLiteral`). Terms that are not constants (collections, functions, markers) are
//! not known here.

pub(crate) mod calendar;
mod duration;
mod java_float;
mod net;
mod number;
mod print;
mod time;
mod tuple;

use basalt_cql::ast::{Literal, LiteralKind};
use basalt_model::types::validate::MarshalError;
use basalt_model::{CqlError, DataType};
use bytes::Bytes;

pub use java_float::{java_double, java_float};
pub use print::{print, to_text};

/// How well a constant fits a type (`AssignmentTestable.TestResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assignment {
    /// It is of that very type.
    Exact,
    /// It can be converted.
    Weak,
    /// It cannot.
    No,
}

fn refuse<T>(text: String) -> Result<T, MarshalError> {
    Err(MarshalError(text))
}

/// Whether a constant may stand where a value of `data_type` is asked for
/// (`Constants.Literal.testAssignment`).
pub fn assignment(literal: &Literal, data_type: &DataType) -> Assignment {
    match data_type {
        DataType::Custom(_) | DataType::Tuple(_) => return Assignment::Weak,
        composite if composite.is_collection() => return Assignment::No,
        DataType::Udt { .. } | DataType::Vector { .. } => return Assignment::No,
        _ => {}
    }
    if preferred_type(literal).is_some_and(|preferred| preferred.equals(data_type)) {
        return Assignment::Exact;
    }
    use DataType as T;
    let fits = match literal.kind {
        LiteralKind::String => {
            matches!(data_type, T::Ascii | T::Text | T::Inet | T::Date | T::Time | T::Timestamp)
        }
        LiteralKind::Integer => matches!(
            data_type,
            T::BigInt
                | T::Counter
                | T::Date
                | T::Decimal
                | T::Double
                | T::Duration
                | T::Float
                | T::Int
                | T::SmallInt
                | T::Time
                | T::Timestamp
                | T::TinyInt
                | T::Varint
        ),
        LiteralKind::Uuid => matches!(data_type, T::Uuid | T::TimeUuid | T::LegacyTimeUuid),
        LiteralKind::Float => matches!(data_type, T::Decimal | T::Double | T::Float),
        LiteralKind::Boolean => matches!(data_type, T::Boolean),
        LiteralKind::Hex => matches!(data_type, T::Blob),
        LiteralKind::Duration => matches!(data_type, T::Duration),
    };
    if fits { Assignment::Weak } else { Assignment::No }
}

/// The type a constant has where nothing else says (`Constants.Type.getPreferedTypeFor`). `None`
/// when the text is no constant of its kind.
pub fn preferred_type(literal: &Literal) -> Option<DataType> {
    Some(match literal.kind {
        LiteralKind::String if literal.text.is_ascii() => DataType::Ascii,
        LiteralKind::String => DataType::Text,
        LiteralKind::Integer => number::smallest_integer(&literal.text)?,
        LiteralKind::Float => number::smallest_float(&literal.text)?,
        LiteralKind::Uuid => match net::uuid(&literal.text)?.get_version_num() {
            1 => DataType::TimeUuid,
            _ => DataType::Uuid,
        },
        LiteralKind::Boolean => DataType::Boolean,
        // Cassandra says tinyint here; a blob is then reached by weak assignment.
        LiteralKind::Hex => DataType::TinyInt,
        LiteralKind::Duration => DataType::Duration,
    })
}

/// What a constant is worth for a value of `data_type`; `receiver` is the name messages show.
///
/// # Errors
/// With Cassandra's text when it does not fit or cannot be read.
pub fn from_literal(literal: &Literal, receiver: &str, data_type: &DataType) -> Result<Bytes, CqlError> {
    if assignment(literal, data_type) == Assignment::No {
        let kind = kind_name(literal.kind);
        let text = &literal.text;
        return Err(CqlError::invalid(format!(
            "Invalid {kind} constant ({text}) for \"{receiver}\" of type {data_type}"
        )));
    }
    let value = match literal.kind {
        // The digits stand for the bytes, whatever the type.
        LiteralKind::Hex => net::hex(literal.text.get(2..).unwrap_or_default()),
        _ => from_text(data_type, &literal.text),
    };
    value.map_err(|error| CqlError::invalid(error.0))
}

fn kind_name(kind: LiteralKind) -> &'static str {
    match kind {
        LiteralKind::String => "STRING",
        LiteralKind::Integer => "INTEGER",
        LiteralKind::Float => "FLOAT",
        LiteralKind::Boolean => "BOOLEAN",
        LiteralKind::Uuid => "UUID",
        LiteralKind::Hex => "HEX",
        LiteralKind::Duration => "DURATION",
    }
}

/// Reads the text form of a value of a scalar type, or of a tuple or user type. Collections and vectors are read as
/// hexadecimal, as Cassandra does.
///
/// # Errors
/// With Cassandra's text.
pub fn from_text(data_type: &DataType, text: &str) -> Result<Bytes, MarshalError> {
    let empty_is_a_value = matches!(
        data_type,
        DataType::Boolean | DataType::Date | DataType::Time | DataType::Text | DataType::Ascii
    );
    if text.is_empty() && !empty_is_a_value {
        return Ok(Bytes::new());
    }
    match data_type {
        DataType::Text => Ok(Bytes::copy_from_slice(text.as_bytes())),
        DataType::Ascii => ascii(text),
        DataType::Boolean => boolean(text),
        DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Counter
        | DataType::Varint => number::integer(data_type, text),
        DataType::Float | DataType::Double => number::float(data_type, text),
        DataType::Decimal => number::decimal(text),
        DataType::Date => time::date(text),
        DataType::Time => time::time(text),
        DataType::Timestamp => time::timestamp(text),
        DataType::Duration => duration::parse(text),
        DataType::Inet => net::inet(text),
        DataType::Uuid => match net::uuid(text) {
            Some(uuid) => Ok(Bytes::copy_from_slice(uuid.as_bytes())),
            None => refuse(format!("Unable to make UUID from '{text}'")),
        },
        DataType::TimeUuid | DataType::LegacyTimeUuid => match net::uuid(text) {
            Some(uuid) if uuid.get_version_num() == 1 => Ok(Bytes::copy_from_slice(uuid.as_bytes())),
            Some(_) => refuse("TimeUUID supports only version 1 UUIDs".to_owned()),
            None => refuse(format!("Unknown timeuuid representation: {text}")),
        },
        DataType::Tuple(types) => tuple::parse(data_type, types.iter(), text),
        DataType::Udt { definition, .. } => {
            tuple::parse(data_type, definition.fields.iter().map(|(_, field)| field), text)
        }
        DataType::Empty => refuse(format!("'{text}' is not empty")),
        _ => net::hex(text),
    }
}

fn ascii(text: &str) -> Result<Bytes, MarshalError> {
    if text.is_ascii() {
        return Ok(Bytes::copy_from_slice(text.as_bytes()));
    }
    // What Java's encoder says of a character it cannot write; two units above the basic plane.
    let units = text.chars().find(|c| !c.is_ascii()).map_or(1, char::len_utf16);
    refuse(format!(
        "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = {units}"
    ))
}

fn boolean(text: &str) -> Result<Bytes, MarshalError> {
    if text.is_empty() || text.eq_ignore_ascii_case("false") {
        Ok(Bytes::from_static(&[0]))
    } else if text.eq_ignore_ascii_case("true") {
        Ok(Bytes::from_static(&[1]))
    } else {
        refuse(format!("Unable to make boolean from '{text}'"))
    }
}

#[cfg(test)]
mod tests;
