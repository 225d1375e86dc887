//! Orders and formats of Java's library that show in Cassandra's answers: the iteration order of
//! a `HashMap` of strings, `Double.toString`, and what `Double.parseDouble` and
//! `UUID.fromString` take.

use uuid::Uuid;

/// `String.hashCode`.
fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `ByteBuffer.hashCode`.
fn bytes_hash(text: &str) -> i32 {
    text.bytes().rev().fold(1i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)))
}

/// The order in which a Java `HashMap` that got `keys` in this order iterates. `expected` is the
/// number of entries it was made for (`new HashMap<>(otherMap)`), 0 for one that grew.
pub fn hash_order<'a>(keys: &[&'a str], expected: usize) -> Vec<&'a str> {
    by_bucket(keys, expected, string_hash)
}

/// The same for a map that grew, keyed by names of columns or fields (`ColumnIdentifier`), which
/// hash as their bytes.
pub fn name_order<'a>(names: &[&'a str]) -> Vec<&'a str> {
    by_bucket(names, 0, bytes_hash)
}

/// The same for a map keyed by the texts' bytes, read from rows: filled once as it grew, then
/// copied.
pub fn bytes_hash_order<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    by_bucket(&by_bucket(keys, 0, bytes_hash), keys.len(), bytes_hash)
}

/// Buckets keep the order of insertion; that holds as long as no bucket has become a tree, which
/// needs 64 buckets and eight keys in one of them.
fn by_bucket<'a>(keys: &[&'a str], expected: usize, hash: fn(&str) -> i32) -> Vec<&'a str> {
    let mut buckets = 16usize;
    if expected > 0 {
        // tableSizeFor(expected / 0.75 + 1)
        buckets = (expected * 4 / 3 + 1).next_power_of_two();
    }
    while keys.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    let bucket = |key: &str| {
        let hash = hash(key) as u32;
        (hash ^ (hash >> 16)) as usize & (buckets - 1)
    };
    let mut ordered = keys.to_vec();
    ordered.sort_by_key(|key| bucket(key));
    ordered
}

/// `{a=b}` sets print as `[a, b]` (`AbstractCollection.toString`).
pub fn bracketed(keys: &[&str]) -> String {
    format!("[{}]", keys.join(", "))
}

pub use crate::literals::java_double as double;

/// `Double.parseDouble`: decimal or hexadecimal, spaces around it, perhaps a suffix of Java's.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match magnitude {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        number => {
            let number = number.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(number);
            match number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
                Some(digits) => hexadecimal(digits)?,
                // Rust also reads words for infinities and NaN; Java does not.
                None if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                    number.parse().ok()?
                }
                None => return None,
            }
        }
    };
    Some(if negative { -value } else { value })
}

/// `1.8p3`: digits to the base of 16, times a power of 2.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut significand = 0u128;
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16)?;
        let is_fraction = index >= whole.len();
        // More digits than a double can tell apart only move the point.
        if significand >> 120 == 0 {
            significand = significand << 4 | u128::from(digit);
            exponent = exponent.saturating_sub(if is_fraction { 4 } else { 0 });
        } else if !is_fraction {
            exponent = exponent.saturating_add(4);
        }
    }
    Some(significand as f64 * 2f64.powi(exponent))
}

/// `UUID.fromString`: five numbers to the base of 16, of which leading digits that are too many do
/// not count and missing ones are zeros; 36 characters at most.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() > 36 {
        return None;
    }
    let parts: Vec<&str> = text.split('-').collect();
    let [a, b, c, d, e] = parts.as_slice() else { return None };
    let number = |part: &str, bits: u32| {
        let value = i64::from_str_radix(part, 16).ok()?.cast_unsigned();
        Some(u128::from(value & (u64::MAX >> (64 - bits))))
    };
    let (a, b, c) = (number(a, 32)?, number(b, 16)?, number(c, 16)?);
    let (d, e) = (number(d, 16)?, number(e, 48)?);
    Some(Uuid::from_u128(a << 96 | b << 80 | c << 64 | d << 48 | e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_java_does() {
        for (text, value) in [
            (" 0.5 ", 0.5),
            ("0.5f", 0.5),
            ("1d", 1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-1e-3D", -0.001),
            ("0x1p-2", 0.25),
            ("0x1.8p1", 3.0),
            ("-0xAp0", -10.0),
            ("+Infinity", f64::INFINITY),
        ] {
            assert_eq!(parse_double(text), Some(value), "{text}");
        }
        for text in ["", "x", "inf", "infinity", "nan", "1 2", "0x1", "0xp1", "--1", "1e", "f"] {
            assert_eq!(parse_double(text), None, "{text}");
        }
        assert!(parse_double("NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn uuids_are_read_as_java_does() {
        let shown = |text: &str| parse_uuid(text).map(|uuid| uuid.to_string());
        assert_eq!(shown("1-2-3-4-5").as_deref(), Some("00000001-0002-0003-0004-000000000005"));
        assert_eq!(shown("1ffffffff-1-1-1-1").as_deref(), Some("ffffffff-0001-0001-0001-000000000001"));
        for text in ["", "1-2-3-4", "1-2-3-4-5-6", "1--3-4-5", "{1-2-3-4-5}", "g-2-3-4-5"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn doubles_print_as_java_does() {
        for (value, text) in [
            (0.01, "0.01"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (1e-5, "1.0E-5"),
            (1.5e10, "1.5E10"),
            (123456.7, "123456.7"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn maps_iterate_by_bucket() {
        // "dc1".hashCode() is 0x18392, which falls into bucket 3; "dc2" into 2. "Aa" and "BB" collide.
        assert_eq!(hash_order(&["dc1", "dc2"], 0), ["dc2", "dc1"]);
        assert_eq!(hash_order(&["BB", "Aa"], 0), ["BB", "Aa"]);
    }
}
