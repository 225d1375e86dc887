//! Ordered bytes of values, held against Cassandra's.

use super::*;
use crate::recorded::{compared, recorded};
use crate::testing::{hex, may_hold_other_nan, parse_class, unhex};

/// Every value line of the golden file: Cassandra's bytes, and back.
#[test]
fn values_encode_and_decode_as_cassandra_does() {
    let (mut ascending, mut descending) = (0, 0);
    for line in recorded("byte_comparable").filter(|line| line.starts_with("value ")) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [_, class, serialized, encoded, again] = fields[..] else { panic!("bad line: {line}") };
        let Some((data_type, is_reversed)) = parse_class(class) else { continue };
        if encoded.starts_with("error") || may_hold_other_nan(class, &unhex(serialized)) {
            continue;
        }
        *if is_reversed { &mut descending } else { &mut ascending } += 1;
        let mut bytes = Vec::new();
        let result = encode(&data_type, &unhex(serialized), &mut bytes).expect(&line);
        if encoded == "null" {
            assert_eq!((result, bytes.len()), (Encoded::Empty, 0), "{line}");
            continue;
        }
        assert_eq!(result, Encoded::Bytes, "{line}");
        if is_reversed {
            bytes.iter_mut().for_each(|byte| *byte ^= 0xFF);
        }
        assert_eq!(hex(&bytes), encoded, "{line}");

        let mut input = Input::new(&bytes);
        input.set_inverted(is_reversed);
        let mut decoded = Vec::new();
        decode(&data_type, &mut input, &mut decoded).expect(&line);
        assert!(input.rest().is_empty(), "{line}");
        let encodes = |value: &[u8]| {
            let mut bytes = Vec::new();
            let is_value = encode(&data_type, value, &mut bytes).is_ok();
            if is_reversed {
                bytes.iter_mut().for_each(|byte| *byte ^= 0xFF);
            }
            is_value && hex(&bytes) == encoded
        };
        if again != "error" && hex(&decoded) != again {
            // Cassandra adds the nulls that are left out at the end of a tuple and lets scales of decimals wrap
            // around, for it does not read clusterings from these bytes.
            let is_tuple = class.contains("TupleType") || class.contains("UserType");
            assert!(encodes(&decoded) && (is_tuple || !encodes(&unhex(again))), "{line}");
        }
        assert!(decoded == unhex(serialized) || may_lose_bytes(&data_type), "{line}");
    }
    compared("values as ordered bytes, ascending", ascending, 1200);
    compared("values as ordered bytes, descending", descending, 200);
}

#[test]
fn cut_off_encodings_are_errors_never_values() {
    for line in recorded("byte_comparable").filter(|line| line.starts_with("value ")) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let Some((data_type, false)) = parse_class(fields[1]) else { continue };
        if fields[3] == "null" || fields[3].starts_with("error") {
            continue;
        }
        let bytes = unhex(fields[3]);
        // A separator stands where a cut would leave an escape as the last byte.
        for end in 0..bytes.len() {
            let mut out = Vec::new();
            let mut input = Input::new(&bytes[..end]);
            let result = decode(&data_type, &mut input, &mut out);
            let is_text =
                matches!(data_type, DataType::Ascii | DataType::Text | DataType::Blob | DataType::Inet);
            assert!(result.is_err() || is_text, "{line} cut at {end}");
        }
    }
}

#[test]
fn escaped_length_finds_the_end() {
    for value in [&b""[..], b"a", b"\0", b"\0\0", b"a\0", b"\0a\0\0b", b"a\0\0"] {
        let mut bytes = Vec::new();
        encode_escaped(value, &mut bytes);
        let length = bytes.len();
        assert_eq!(escaped_len(&bytes), None, "{value:?} without a separator");
        bytes.extend_from_slice(&[0x13, 0x40, 0x00]);
        assert_eq!(escaped_len(&bytes), Some(length), "{value:?}");
    }
}

/// A scale at the end of its range, and digits that end in zeros: found by fuzzing.
#[test]
fn a_huge_decimal_that_ends_in_zeros_decodes() {
    for zeros in [0u32, 1, 4, 5, 30, 1_000] {
        let unscaled = num_bigint::BigInt::from(7) * num_bigint::BigInt::from(10).pow(zeros);
        let mut value = i32::MIN.to_be_bytes().to_vec();
        value.extend_from_slice(&unscaled.to_signed_bytes_be());
        let (mut key, mut decoded, mut again) = (Vec::new(), Vec::new(), Vec::new());
        encode(&DataType::Decimal, &value, &mut key).expect("a decimal");
        decode(&DataType::Decimal, &mut Input::new(&key), &mut decoded).expect("what was encoded decodes");
        encode(&DataType::Decimal, &decoded, &mut again).expect("a decimal");
        assert_eq!(again, key, "{zeros} zeros");
    }
}
