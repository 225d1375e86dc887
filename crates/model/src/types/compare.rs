//! How serialized values of a type compare (`AbstractType.compare`).
//!
//! Empty values come first. Bytes that are not values of the type (they never pass
//! [`DataType::validate`]) still have some place and never panic.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::DataType;
use super::elements::{take_count, take_value, take_vector_element};

impl DataType {
    /// Orders two serialized values.
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if let DataType::Reversed(base) = self {
            return base.compare(right, left);
        }
        if self.is_byte_ordered() {
            return left.cmp(right);
        }
        if left.is_empty() || right.is_empty() {
            return right.is_empty().cmp(&left.is_empty());
        }
        match self {
            DataType::Boolean => (left[0] != 0).cmp(&(right[0] != 0)),
            // Not looked at further, should there be more.
            DataType::TinyInt => (left[0] as i8).cmp(&(right[0] as i8)),
            DataType::SmallInt | DataType::Int | DataType::BigInt | DataType::Timestamp => {
                signed_order(left).cmp(&signed_order(right))
            }
            DataType::Float => compare_floats(single(left), single(right)),
            DataType::Double => compare_floats(double(left), double(right)),
            DataType::Varint => compare_varints(left, right),
            DataType::Decimal => compare_decimals(left, right),
            DataType::Uuid => uuid_order(left).cmp(&uuid_order(right)),
            DataType::TimeUuid | DataType::LegacyTimeUuid => timeuuid_order(left).cmp(&timeuuid_order(right)),
            DataType::List { element, .. } | DataType::Set { element, .. } => {
                compare_collections(&[element], left, right)
            }
            DataType::Map { key, value, .. } => compare_collections(&[key, value], left, right),
            DataType::Tuple(types) => compare_tuples(types.iter(), left, right),
            DataType::Udt { definition, .. } => {
                compare_tuples(definition.fields.iter().map(|(_, data_type)| data_type), left, right)
            }
            DataType::Vector { element, dimension } => compare_vectors(element, *dimension, left, right),
            _ => left.cmp(right),
        }
    }

    /// Whether only equal bytes compare as equal: not so where a value can be written in several ways.
    pub fn has_one_form(&self) -> bool {
        !matches!(
            self.unwrap_reversed(),
            DataType::Boolean
                | DataType::Float
                | DataType::Double
                | DataType::Varint
                | DataType::Decimal
                | DataType::List { .. }
                | DataType::Set { .. }
                | DataType::Map { .. }
                | DataType::Tuple(_)
                | DataType::Udt { .. }
                | DataType::Vector { .. }
        )
    }

    /// Whether values compare as their unsigned bytes do (`ComparisonType.BYTE_ORDER`).
    pub fn is_byte_ordered(&self) -> bool {
        matches!(
            self,
            DataType::Ascii
                | DataType::Blob
                | DataType::Counter
                | DataType::Custom(_)
                | DataType::Date
                | DataType::Duration
                | DataType::Empty
                | DataType::Inet
                | DataType::Text
                | DataType::Time
        )
    }
}

/// By the first byte, which has the sign, then by all bytes (`LongType.compareLongs`). In selections numbers of other
/// lengths meet.
fn signed_order(bytes: &[u8]) -> (i8, &[u8]) {
    (bytes.first().map_or(0, |byte| *byte as i8), bytes)
}

fn single(bytes: &[u8]) -> f64 {
    bytes.first_chunk().map_or(0.0, |bytes| f64::from(f32::from_be_bytes(*bytes)))
}

fn double(bytes: &[u8]) -> f64 {
    bytes.first_chunk().map_or(0.0, |bytes| f64::from_be_bytes(*bytes))
}

/// Java's `Float.compare` and `Double.compare`: -0.0 below 0.0, every NaN equal and above all.
fn compare_floats(left: f64, right: f64) -> Ordering {
    match (left.is_nan(), right.is_nan()) {
        (false, false) => left.total_cmp(&right),
        (left, right) => left.cmp(&right),
    }
}

/// Numbers of any length, without building them.
fn compare_varints(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (without_padding(left), without_padding(right));
    let negative = |bytes: &[u8]| bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    match (negative(left), negative(right)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, true) => right.len().cmp(&left.len()).then_with(|| left.cmp(right)),
    }
}

/// Drops leading bytes that only repeat the sign.
fn without_padding(mut bytes: &[u8]) -> &[u8] {
    while let [first, second, ..] = bytes {
        let repeats = (*first == 0 && second & 0x80 == 0) || (*first == 0xff && second & 0x80 != 0);
        if !repeats {
            break;
        }
        bytes = &bytes[1..];
    }
    bytes
}

/// By value, whatever the scales: 1.0 equals 1.00. Scales may be huge, so nothing is scaled up.
fn compare_decimals(left: &[u8], right: &[u8]) -> Ordering {
    let parse = |bytes: &[u8]| {
        let (scale, unscaled) = bytes.split_first_chunk::<4>()?;
        let (sign, digits) = BigInt::from_signed_bytes_be(unscaled).into_parts();
        Some((sign, digits.to_str_radix(10), i64::from(i32::from_be_bytes(*scale))))
    };
    let (Some((sign, digits, scale)), Some((other_sign, other_digits, other_scale))) =
        (parse(left), parse(right))
    else {
        return left.cmp(right);
    };
    let by_sign = sign.cmp(&other_sign);
    if by_sign != Ordering::Equal || sign == Sign::NoSign {
        return by_sign;
    }
    // Digits before the decimal point decide first, then the digits themselves.
    let exponent = digits.len() as i64 - scale;
    let other_exponent = other_digits.len() as i64 - other_scale;
    let magnitude = exponent
        .cmp(&other_exponent)
        .then_with(|| digits.trim_end_matches('0').cmp(other_digits.trim_end_matches('0')));
    if sign == Sign::Minus { magnitude.reverse() } else { magnitude }
}

/// Both halves of a uuid, in network order.
fn halves(bytes: &[u8]) -> (u64, u64) {
    match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) => {
            let whole = u128::from_be_bytes(bytes);
            ((whole >> 64) as u64, whole as u64)
        }
        Err(_) => (0, 0),
    }
}

/// Time high, mid, low: the version nibble out of the way and the parts by significance.
fn reorder_timestamp(most: u64) -> u64 {
    (most << 48) | ((most << 16) & 0xffff_0000_0000) | (most >> 32)
}

/// By version; time-based ones by time, others by their bytes (`UUIDType`).
fn uuid_order(bytes: &[u8]) -> (u64, u64, u64) {
    let (most, least) = halves(bytes);
    let version = (most >> 12) & 0xf;
    (version, if version == 1 { reorder_timestamp(most) } else { most }, least)
}

/// By time, then by the rest as signed bytes (`AbstractTimeUUIDType`).
fn timeuuid_order(bytes: &[u8]) -> (u64, u64) {
    let (most, least) = halves(bytes);
    (reorder_timestamp(most), least ^ 0x8080_8080_8080_8080)
}

/// Element by element, then by count. `types`: of the element, or of key and value.
fn compare_collections(types: &[&DataType], left: &[u8], right: &[u8]) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    let (Some(left_count), Some(right_count)) = (take_count(&mut left_rest), take_count(&mut right_rest))
    else {
        return left.cmp(right);
    };
    for _ in 0..left_count.min(right_count) {
        for data_type in types {
            let (Some(a), Some(b)) = (take_value(&mut left_rest), take_value(&mut right_rest)) else {
                return left.cmp(right);
            };
            let order = data_type.compare(a.unwrap_or_default(), b.unwrap_or_default());
            if order != Ordering::Equal {
                return order;
            }
        }
    }
    left_count.cmp(&right_count)
}

/// Component by component, null first; components missing at the end are null.
fn compare_tuples<'a>(types: impl Iterator<Item = &'a DataType>, left: &[u8], right: &[u8]) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    for data_type in types {
        let a = take_value(&mut left_rest).flatten();
        let b = take_value(&mut right_rest).flatten();
        let order = match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => data_type.compare(a, b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn compare_vectors(element: &DataType, dimension: u32, left: &[u8], right: &[u8]) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    for _ in 0..dimension {
        let a = take_vector_element(&mut left_rest, element).unwrap_or_default();
        let b = take_vector_element(&mut right_rest, element).unwrap_or_default();
        let order = element.compare(a, b);
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}
