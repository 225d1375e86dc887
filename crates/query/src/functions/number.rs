//! Numbers of all CQL types, with Java's rules of narrowing (`java.lang.Number`).

use basalt_model::DataType;
use bytes::Bytes;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::decimal::{Decimal, Rounding};
use crate::literals::{java_double, java_float};

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    /// `tinyint`, `smallint`, `int`, `bigint`, `counter`.
    Long(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `varint`.
    Big(BigInt),
    /// `decimal`.
    Decimal(Decimal),
}

impl Number {
    /// Reads a serialized number; `None` for an empty value.
    pub(crate) fn read(data_type: &DataType, value: &[u8]) -> Option<Number> {
        match data_type {
            DataType::TinyInt => Some(Number::Long(i64::from(i8::from_be_bytes(*value.first_chunk()?)))),
            DataType::SmallInt => Some(Number::Long(i64::from(i16::from_be_bytes(*value.first_chunk()?)))),
            DataType::Int => Some(Number::Long(i64::from(i32::from_be_bytes(*value.first_chunk()?)))),
            DataType::BigInt | DataType::Counter => {
                Some(Number::Long(i64::from_be_bytes(*value.first_chunk()?)))
            }
            DataType::Float => Some(Number::Float(f32::from_be_bytes(*value.first_chunk()?))),
            DataType::Double => Some(Number::Double(f64::from_be_bytes(*value.first_chunk()?))),
            DataType::Varint if !value.is_empty() => Some(Number::Big(BigInt::from_signed_bytes_be(value))),
            DataType::Decimal => {
                let (scale, unscaled) = value.split_first_chunk::<4>()?;
                let unscaled = BigInt::from_signed_bytes_be(unscaled);
                Some(Number::Decimal(Decimal::new(unscaled, i64::from(i32::from_be_bytes(*scale)))))
            }
            _ => None,
        }
    }

    /// The serialized number of a type, narrowed as Java narrows.
    pub(crate) fn write(&self, data_type: &DataType) -> Bytes {
        match data_type {
            DataType::TinyInt => Bytes::copy_from_slice(&[self.as_int() as u8]),
            DataType::SmallInt => Bytes::copy_from_slice(&(self.as_int() as i16).to_be_bytes()),
            DataType::Int => Bytes::copy_from_slice(&self.as_int().to_be_bytes()),
            DataType::Float => Bytes::copy_from_slice(&self.as_float().to_be_bytes()),
            DataType::Double => Bytes::copy_from_slice(&self.as_double().to_be_bytes()),
            DataType::Varint => self.as_big().to_signed_bytes_be().into(),
            DataType::Decimal => decimal_bytes(&self.as_decimal()),
            _ => Bytes::copy_from_slice(&self.as_long().to_be_bytes()),
        }
    }

    /// `intValue`.
    pub(crate) fn as_int(&self) -> i32 {
        match self {
            Number::Float(value) => *value as i32,
            Number::Double(value) => *value as i32,
            other => other.as_long() as i32,
        }
    }

    /// `longValue`.
    pub(crate) fn as_long(&self) -> i64 {
        match self {
            Number::Long(value) => *value,
            Number::Float(value) => *value as i64,
            Number::Double(value) => *value as i64,
            Number::Big(value) => low_bits(value),
            Number::Decimal(value) => whole_bits(value),
        }
    }

    /// `floatValue`.
    pub(crate) fn as_float(&self) -> f32 {
        match self {
            Number::Long(value) => *value as f32,
            Number::Float(value) => *value,
            Number::Double(value) => *value as f32,
            Number::Big(value) => value.to_f32().unwrap_or(f32::NAN),
            Number::Decimal(value) => value.to_f32(),
        }
    }

    /// `doubleValue`.
    pub(crate) fn as_double(&self) -> f64 {
        match self {
            Number::Long(value) => *value as f64,
            Number::Float(value) => f64::from(*value),
            Number::Double(value) => *value,
            Number::Big(value) => value.to_f64().unwrap_or(f64::NAN),
            Number::Decimal(value) => value.to_f64(),
        }
    }

    /// As an integer of any length.
    pub(crate) fn as_big(&self) -> BigInt {
        match self {
            Number::Big(value) => value.clone(),
            other => BigInt::from(other.as_long()),
        }
    }

    /// As a decimal: doubles by their text. What is not finite becomes zero; callers
    /// refuse it first.
    pub(crate) fn as_decimal(&self) -> Decimal {
        match self {
            Number::Long(value) => Decimal::from(*value),
            Number::Float(value) => from_text(&java_float(*value)),
            Number::Double(value) => from_text(&java_double(*value)),
            Number::Big(value) => Decimal::new(value.clone(), 0),
            Number::Decimal(value) => value.clone(),
        }
    }

    /// Neither infinite nor NaN.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Number::Float(value) => value.is_finite(),
            Number::Double(value) => value.is_finite(),
            _ => true,
        }
    }
}

fn from_text(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_else(|| Decimal::from(0))
}

/// The low bits of a decimal's whole part. Those of multiples of 10^64 are zero, as are those of
/// what is less than one; neither is written out, as their digits could be billions.
fn whole_bits(value: &Decimal) -> i64 {
    if value.scale <= -64 || value.magnitude() <= 0 {
        return 0;
    }
    value.set_scale(0, Rounding::Down).map_or(0, |whole| low_bits(&whole.unscaled))
}

fn low_bits(value: &BigInt) -> i64 {
    let bytes = value.to_signed_bytes_le();
    let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut low = [fill; 8];
    for (slot, byte) in low.iter_mut().zip(&bytes) {
        *slot = *byte;
    }
    i64::from_le_bytes(low)
}

/// A decimal's serialized form. Scales beyond 32 bits were refused before.
fn decimal_bytes(value: &Decimal) -> Bytes {
    let scale = i32::try_from(value.scale).unwrap_or(if value.scale < 0 { i32::MIN } else { i32::MAX });
    let mut out = scale.to_be_bytes().to_vec();
    out.extend_from_slice(&value.unscaled.to_signed_bytes_be());
    out.into()
}
