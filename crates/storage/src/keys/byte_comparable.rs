//! Values as bytes whose order is the order of their type: Cassandra's `ByteComparable`, version
//! OSS50 (`utils/bytecomparable/ByteSource`, `AbstractType.asComparableBytes`). One file per
//! family of types. Knows neither columns nor directions: see [`super::clustering`].
//!
//! An encoding is *weakly prefix-free*: one value's bytes may begin with another's, but the byte
//! that follows then lies outside [`MIN_SEPARATOR`]`..=`[`MAX_SEPARATOR`], and every byte that is
//! written behind a value lies inside.

mod decimal;
mod escaped;
mod fixed;
mod nested;
mod uuids;
mod varint;

use basalt_model::DataType;

pub use escaped::{ESCAPE, decode_escaped, encode_escaped, escaped_len};
pub use varint::{decode_unsigned, encode_unsigned};

/// Smallest byte that may follow a value.
pub const MIN_SEPARATOR: u8 = 0x10;
/// Largest byte that may follow a value.
pub const MAX_SEPARATOR: u8 = 0xEF;
/// A component with bytes follows.
pub const NEXT_COMPONENT: u8 = 0x40;
/// A component follows whose value is empty and for which its type has no bytes.
pub const NEXT_COMPONENT_EMPTY: u8 = 0x3F;
/// The same, of a reversed type.
pub const NEXT_COMPONENT_EMPTY_REVERSED: u8 = 0x41;
/// An absent component.
pub const NEXT_COMPONENT_NULL: u8 = 0x3E;
/// Ends a sequence of components.
pub const TERMINATOR: u8 = 0x38;
/// Ends a bound: smaller than everything that has its prefix.
pub const BEFORE_PREFIX: u8 = 0x20;
/// Ends a bound: larger than everything that has its prefix.
pub const AFTER_PREFIX: u8 = 0x60;

/// Why a value has no key, or a key no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes are not a value, or not an encoding, of the type.
    #[error("malformed key: {0}")]
    Malformed(&'static str),
}

/// Whether a value has an encoding of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// Bytes were appended.
    Bytes,
    /// An empty value whose type has no bytes for it: the separator must say so.
    Empty,
}

/// Whether values are their own bytes, escaped; one without bytes, too, has an encoding then.
pub fn is_escaped(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Ascii
            | DataType::Text
            | DataType::Blob
            | DataType::Inet
            | DataType::Duration
            | DataType::Custom(_)
    )
}

const NOT_STORED: KeyError = KeyError::Malformed("a type that only selections have is not stored");

/// Appends the encoding of a serialized value.
///
/// # Errors
/// When the bytes are not a value of the type.
pub fn encode(data_type: &DataType, value: &[u8], out: &mut Vec<u8>) -> Result<Encoded, KeyError> {
    match data_type {
        DataType::Ascii
        | DataType::Text
        | DataType::Blob
        | DataType::Inet
        | DataType::Duration
        | DataType::Custom(_) => {
            encode_escaped(value, out);
            return Ok(Encoded::Bytes);
        }
        _ if value.is_empty() => return Ok(Encoded::Empty),
        DataType::Empty => return Err(KeyError::Malformed("an empty type has no values")),
        DataType::LegacyTimeUuid | DataType::Reversed(_) => return Err(NOT_STORED),
        DataType::Boolean => fixed::encode_boolean(value, out)?,
        DataType::TinyInt => fixed::encode_signed::<1>(value, out)?,
        DataType::SmallInt => fixed::encode_signed::<2>(value, out)?,
        DataType::Int => fixed::encode_signed::<4>(value, out)?,
        DataType::Timestamp => fixed::encode_signed::<8>(value, out)?,
        DataType::Date => fixed::encode_unsigned::<4>(value, out)?,
        DataType::Time => fixed::encode_unsigned::<8>(value, out)?,
        DataType::Float => fixed::encode_float::<4>(value, out)?,
        DataType::Double => fixed::encode_float::<8>(value, out)?,
        DataType::BigInt | DataType::Counter => {
            let bytes = value.try_into().map_err(|_| KeyError::Malformed("bigint is not 8 bytes"))?;
            varint::encode_signed(i64::from_be_bytes(bytes), out);
        }
        DataType::Varint => varint::encode_varint(value, out),
        DataType::Decimal => decimal::encode(value, out)?,
        DataType::Uuid => uuids::encode_uuid(value, out)?,
        DataType::TimeUuid => uuids::encode_time_uuid(value, out)?,
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            nested::encode_list(element, value, out)?;
        }
        DataType::Map { key, value: value_type, .. } => nested::encode_map(key, value_type, value, out)?,
        DataType::Tuple(types) => nested::encode_tuple(types.iter(), value, out)?,
        DataType::Udt { definition, .. } => {
            nested::encode_tuple(definition.fields.iter().map(|(_, t)| t), value, out)?;
        }
        DataType::Vector { element, dimension } => {
            nested::encode_vector(element, *dimension, value, out)?;
        }
    }
    Ok(Encoded::Bytes)
}

/// Takes one value's encoding from the input and appends the serialized value.
///
/// # Errors
/// When the input does not begin with an encoding of the type.
pub fn decode(data_type: &DataType, input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    match data_type {
        DataType::Ascii
        | DataType::Text
        | DataType::Blob
        | DataType::Inet
        | DataType::Duration
        | DataType::Custom(_) => decode_escaped(input, out),
        DataType::Empty => Err(KeyError::Malformed("an empty type has no values")),
        DataType::LegacyTimeUuid | DataType::Reversed(_) => Err(NOT_STORED),
        DataType::Boolean => fixed::decode_boolean(input, out),
        DataType::TinyInt => fixed::decode_signed::<1>(input, out),
        DataType::SmallInt => fixed::decode_signed::<2>(input, out),
        DataType::Int => fixed::decode_signed::<4>(input, out),
        DataType::Timestamp => fixed::decode_signed::<8>(input, out),
        DataType::Date => fixed::decode_unsigned::<4>(input, out),
        DataType::Time => fixed::decode_unsigned::<8>(input, out),
        DataType::Float => fixed::decode_float::<4>(input, out),
        DataType::Double => fixed::decode_float::<8>(input, out),
        DataType::BigInt | DataType::Counter => {
            out.extend_from_slice(&varint::decode_signed(input)?.to_be_bytes());
            Ok(())
        }
        DataType::Varint => varint::decode_varint(input, out),
        DataType::Decimal => decimal::decode(input, out),
        DataType::Uuid => uuids::decode_uuid(input, out),
        DataType::TimeUuid => uuids::decode_time_uuid(input, out),
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            nested::decode_list(element, input, out)
        }
        DataType::Map { key, value, .. } => nested::decode_map(key, value, input, out),
        DataType::Tuple(types) => nested::decode_tuple(types.iter(), input, out),
        DataType::Udt { definition, .. } => {
            nested::decode_tuple(definition.fields.iter().map(|(_, t)| t), input, out)
        }
        DataType::Vector { element, dimension } => nested::decode_vector(element, *dimension, input, out),
    }
}

/// Whether decoding can give other bytes than were encoded: equal values of the type may be
/// written in more than one way.
pub fn may_lose_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean | DataType::Float | DataType::Double => true,
        DataType::Varint | DataType::Decimal => true,
        DataType::List { .. }
        | DataType::Set { .. }
        | DataType::Map { .. }
        | DataType::Tuple(_)
        | DataType::Udt { .. } => true,
        DataType::Vector { element, .. } => element.fixed_length().is_none() || may_lose_bytes(element),
        _ => false,
    }
}

/// Encoded bytes being read, inverted if their type is reversed.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    invert: u8,
}

impl<'a> Input<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, at: 0, invert: 0 }
    }

    /// From here on bytes are taken inverted, or no longer.
    pub fn set_inverted(&mut self, is_inverted: bool) {
        self.invert = if is_inverted { 0xFF } else { 0 };
    }

    /// How many bytes were taken.
    pub fn position(&self) -> usize {
        self.at
    }

    /// What was not taken yet, as stored.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte, left where it is.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).map(|byte| byte ^ self.invert)
    }

    /// Takes the next byte.
    ///
    /// # Errors
    /// At the end.
    pub fn take_byte(&mut self) -> Result<u8, KeyError> {
        let byte = self.peek().ok_or(KeyError::Malformed("ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    /// Takes `N` bytes.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], KeyError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.take_byte()?;
        }
        Ok(bytes)
    }

    /// Takes `length` bytes and appends them.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn copy(&mut self, length: usize, out: &mut Vec<u8>) -> Result<(), KeyError> {
        let bytes = self.rest().get(..length).ok_or(KeyError::Malformed("ends too early"))?;
        out.extend(bytes.iter().map(|byte| byte ^ self.invert));
        self.at += length;
        Ok(())
    }

    /// Takes what stands before the next `end`, appends it, and takes `end`.
    ///
    /// # Errors
    /// When there is none.
    pub fn copy_until(&mut self, end: u8, out: &mut Vec<u8>) -> Result<(), KeyError> {
        let end = end ^ self.invert;
        let length = self.rest().iter().position(|&byte| byte == end);
        self.copy(length.ok_or(KeyError::Malformed("ends too early"))?, out)?;
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
