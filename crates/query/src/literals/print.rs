//! Serialized values as CQL text (`CQL3Type.toCQLLiteral`). Values that are not of their type are
//! shown as blobs: this serves messages, never storage.

use std::net::{Ipv4Addr, Ipv6Addr};

use basalt_model::DataType;
use basalt_model::quote;
use basalt_model::types::elements::{take_vector_element, unpack_collection, unpack_tuple};
use bytes::Bytes;
use num_bigint::BigInt;
use uuid::Uuid;

use super::java_float::{java_double, java_float};
use super::{duration, time};

/// A value as a CQL literal; absent and (but for text and blobs) empty ones are `null`.
pub fn print(data_type: &DataType, value: Option<&Bytes>) -> String {
    let Some(value) = value else { return "null".to_owned() };
    let composite = match data_type {
        DataType::List { element, .. } => unpack_collection(value, 1)
            .map(|values| format!("[{}]", join(values.iter().map(|value| print(element, Some(value)))))),
        DataType::Set { element, .. } => unpack_collection(value, 1)
            .map(|values| format!("{{{}}}", join(values.iter().map(|value| print(element, Some(value)))))),
        DataType::Map { key, value: values, .. } => unpack_collection(value, 2).map(|entries| {
            let entries = entries.chunks_exact(2);
            let entries = entries
                .map(|entry| format!("{}: {}", print(key, Some(&entry[0])), print(values, Some(&entry[1]))));
            format!("{{{}}}", join(entries))
        }),
        DataType::Tuple(types) => unpack_tuple(value, types.len()).map(|fields| {
            let present = fields.iter().zip(types.iter()).take(present_fields(value));
            format!("({})", join(present.map(|(field, data_type)| print(data_type, field.as_ref()))))
        }),
        DataType::Udt { definition, .. } => unpack_tuple(value, definition.fields.len()).map(|fields| {
            let present = fields.iter().zip(&definition.fields).take(present_fields(value));
            let present = present.map(|(field, (name, data_type))| {
                format!("{}: {}", quote::identifier(name), print(data_type, field.as_ref()))
            });
            format!("{{{}}}", join(present))
        }),
        DataType::Vector { element, dimension } => print_vector(element, *dimension, value),
        DataType::Reversed(base) => return print(base, Some(value)),
        scalar => {
            return to_text(scalar, value).map_or_else(
                || if value.is_empty() { "null".to_owned() } else { blob(value) },
                |text| if is_quoted(scalar) { quote::string(&text) } else { text },
            );
        }
    };
    composite.unwrap_or_else(|| blob(value))
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn blob(value: &[u8]) -> String {
    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

fn is_quoted(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(data_type, T::Ascii | T::Text | T::Date | T::Time | T::Timestamp | T::Inet)
}

/// How many fields the bytes have: fewer than declared when the type has grown since.
fn present_fields(value: &Bytes) -> usize {
    let mut rest: &[u8] = value;
    let mut count = 0;
    while !rest.is_empty() && basalt_model::types::elements::take_value(&mut rest).is_some() {
        count += 1;
    }
    count
}

fn print_vector(element: &DataType, dimension: u32, value: &Bytes) -> Option<String> {
    let mut rest: &[u8] = value;
    let mut parts = Vec::new();
    for _ in 0..dimension {
        let next = take_vector_element(&mut rest, element)?;
        parts.push(print(element, Some(&value.slice_ref(next))));
    }
    Some(format!("[{}]", parts.join(", ")))
}

/// The text of a scalar value without quotes (`TypeSerializer.toString`). `None` when it is empty
/// where that means nothing, or is no value of the type.
pub fn to_text(data_type: &DataType, value: &[u8]) -> Option<String> {
    // As Cassandra reads them, numbers may have more bytes: elements of a list that is told to be of another type.
    let int = || Some(i32::from_be_bytes(*value.first_chunk()?));
    let long = || Some(i64::from_be_bytes(*value.first_chunk()?));
    match data_type {
        DataType::Ascii | DataType::Text => Some(String::from_utf8_lossy(value).into_owned()),
        DataType::Boolean => value.first().map(|byte| (*byte != 0).to_string()),
        DataType::TinyInt => value.first().map(|byte| (*byte as i8).to_string()),
        DataType::SmallInt => Some(i16::from_be_bytes(*value.first_chunk()?).to_string()),
        DataType::Int => int().map(|number| number.to_string()),
        DataType::BigInt | DataType::Counter => long().map(|number| number.to_string()),
        DataType::Varint if value.is_empty() => None,
        DataType::Varint => Some(BigInt::from_signed_bytes_be(value).to_string()),
        DataType::Decimal => print_decimal(value),
        DataType::Float => int().map(|bits| java_float(f32::from_bits(bits.cast_unsigned()))),
        DataType::Double => long().map(|bits| java_double(f64::from_bits(bits.cast_unsigned()))),
        DataType::Date => int().map(|days| time::print_date(days.cast_unsigned())),
        DataType::Time => long().map(time::print_time),
        DataType::Timestamp => long().map(time::print_timestamp),
        DataType::Duration => duration::print(value),
        DataType::Uuid | DataType::TimeUuid | DataType::LegacyTimeUuid => {
            Some(Uuid::from_bytes(*value.first_chunk()?).to_string())
        }
        DataType::Inet => match (<[u8; 4]>::try_from(value), <[u8; 16]>::try_from(value)) {
            (Ok(octets), _) => Some(Ipv4Addr::from(octets).to_string()),
            (_, Ok(octets)) => Some(java_ipv6(Ipv6Addr::from(octets))),
            _ => None,
        },
        DataType::Empty => None,
        _ => Some(blob(value)),
    }
}

/// Java writes all eight groups and never shortens zeros; a mapped address it turns into IPv4.
fn java_ipv6(address: Ipv6Addr) -> String {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return mapped.to_string();
    }
    address.segments().iter().map(|segment| format!("{segment:x}")).collect::<Vec<_>>().join(":")
}

/// `BigDecimal.toString`: plain while the scale is not negative and the number not below 1E-6.
fn print_decimal(value: &[u8]) -> Option<String> {
    let (scale, unscaled) = value.split_first_chunk::<4>()?;
    let scale = i64::from(i32::from_be_bytes(*scale));
    let number = BigInt::from_signed_bytes_be(unscaled).to_string();
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number.as_str()),
    };
    let adjusted = digits.len() as i64 - 1 - scale;
    if scale == 0 {
        return Some(number);
    }
    if scale > 0 && adjusted >= -6 {
        // Bounded: adjusted >= -6 leaves at most six zeros to add.
        let padded = format!("{digits:0>width$}", width = usize::try_from(scale + 1).ok()?.max(digits.len()));
        let (whole, fraction) = padded.split_at(padded.len() - usize::try_from(scale).ok()?);
        return Some(format!("{sign}{whole}.{fraction}"));
    }
    let (first, others) = digits.split_at(1);
    let point = if others.is_empty() { "" } else { "." };
    let exponent = if adjusted == 0 { String::new() } else { format!("E{adjusted:+}") };
    Some(format!("{sign}{first}{point}{others}{exponent}"))
}
