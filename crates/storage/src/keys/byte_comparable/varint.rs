//! Integers of varying length: `bigint`, `varint`, and the unsigned form used for lengths and
//! column ids (`ByteSource.VariableLengthInteger`, `VariableLengthUnsignedInteger`, `IntegerType`).

use super::{Input, KeyError};

/// `varint`s with this many significant bytes and more have a header with their length.
const FULL_FORM_BYTES: usize = 7;

/// Appends 1 to 9 bytes: as many leading ones as further bytes follow the first, then the number.
pub fn encode_unsigned(value: u64, out: &mut Vec<u8>) {
    let more = ((63 - (value | 1).leading_zeros() as usize) / 7).min(8);
    let ones = (0xFF00u16 >> more) as u8;
    // With nine bytes the first holds ones only.
    let first = if more == 8 { 0 } else { (value >> (8 * more)) as u8 };
    out.push(first | ones);
    out.extend_from_slice(&value.to_be_bytes()[8 - more..]);
}

/// Takes what [`encode_unsigned`] appended.
///
/// # Errors
/// At the end of the input, or when a shorter form exists.
pub fn decode_unsigned(input: &mut Input<'_>) -> Result<u64, KeyError> {
    decode_unsigned_inverted(input, 0)
}

fn decode_unsigned_inverted(input: &mut Input<'_>, invert: u8) -> Result<u64, KeyError> {
    let first = input.take_byte()? ^ invert;
    let more = first.leading_ones() as usize;
    let mut value = if more >= 7 { 0 } else { u64::from(first & (0xFF >> more)) };
    for _ in 0..more {
        value = (value << 8) | u64::from(input.take_byte()? ^ invert);
    }
    if more > 0 && value >> (7 * more) == 0 {
        return Err(KeyError::Malformed("an integer is longer than needed"));
    }
    Ok(value)
}

/// Appends 1 to 9 bytes: the inverted sign, as many bits like it as further bytes follow, then
/// the two's complement.
pub fn encode_signed(value: i64, out: &mut Vec<u8>) {
    let negative = value >> 63;
    let magnitude = value ^ negative;
    let bits = 64 - (magnitude | 1).leading_zeros() as usize;
    let length = bits / 7 + 1;
    if length >= 9 {
        // The eighth length bit is the first bit of the second byte.
        out.push(if negative < 0 { 0x00 } else { 0xFF });
        out.extend_from_slice(&((magnitude | i64::MIN) ^ negative).to_be_bytes());
    } else {
        let ones = i64::from((0xFF00u16 >> length) as u8);
        let marked = (magnitude | (ones << (8 * length - 8))) ^ negative;
        out.extend_from_slice(&marked.to_be_bytes()[8 - length..]);
    }
}

/// Takes what [`encode_signed`] appended.
///
/// # Errors
/// At the end of the input, or when a shorter form exists.
pub fn decode_signed(input: &mut Input<'_>) -> Result<i64, KeyError> {
    let first = input.take_byte()?;
    let is_negative = first & 0x80 == 0;
    let flip = if is_negative { 0xFFu8 } else { 0 };
    let more = ((first ^ flip) << 1).leading_ones().min(7) as usize;
    let mut magnitude = 0u64;
    for _ in 0..more {
        magnitude = (magnitude << 8) | u64::from(input.take_byte()? ^ flip);
    }
    let mut length = more + 1;
    if more == 7 && magnitude & (1 << 55) != 0 {
        magnitude = ((magnitude << 8) | u64::from(input.take_byte()? ^ flip)) & !(1 << 63);
        length = 9;
    } else if more < 7 {
        magnitude |= u64::from((first ^ flip) & (0x3F >> more)) << (8 * more);
    }
    let value = i64::try_from(magnitude).map_err(|_| KeyError::Malformed("an integer of 65 bits"))?;
    let needed = ((64 - (value | 1).leading_zeros() as usize) / 7 + 1).min(9);
    if needed != length {
        return Err(KeyError::Malformed("an integer is longer than needed"));
    }
    Ok(if is_negative { !value } else { value })
}

/// Appends a `varint` that is not empty.
pub fn encode_varint(value: &[u8], out: &mut Vec<u8>) {
    let sign = value.first().map_or(0, |first| if first & 0x80 == 0 { 0x00 } else { 0xFFu8 });
    let last = value.len().saturating_sub(1);
    let start = value.iter().take(last).position(|&byte| byte != sign).unwrap_or(last);
    let significant = &value[start..];
    if significant.len() < FULL_FORM_BYTES {
        let extended = if sign == 0 { 0 } else { -1 };
        let number = significant.iter().fold(extended, |n: i64, &byte| (n << 8) | i64::from(byte));
        encode_signed(number, out);
        return;
    }
    out.push(sign ^ 0xFF);
    let length_at = out.len();
    encode_unsigned((significant.len() - FULL_FORM_BYTES) as u64, out);
    out[length_at..].iter_mut().for_each(|byte| *byte ^= sign);
    out.extend_from_slice(significant);
}

pub fn decode_varint(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let start = out.len();
    let sign = input.peek().ok_or(KeyError::Malformed("ends too early"))? ^ 0xFF;
    if sign != 0x00 && sign != 0xFF {
        let number = decode_signed(input)?;
        let magnitude = number ^ (number >> 63);
        let length = (64 - magnitude.leading_zeros() as usize) / 8 + 1;
        out.extend_from_slice(&number.to_be_bytes()[8 - length..]);
    } else {
        input.take_byte()?;
        let more = decode_unsigned_inverted(input, sign)?;
        let length = usize::try_from(more).ok().and_then(|more| more.checked_add(FULL_FORM_BYTES));
        let length = length.ok_or(KeyError::Malformed("a length beyond all memory"))?;
        let first = input.peek().ok_or(KeyError::Malformed("ends too early"))?;
        // A first byte like the sign would have been left out.
        if first == sign {
            return Err(KeyError::Malformed("an integer is longer than needed"));
        }
        if (first ^ sign) & 0x80 != 0 {
            out.push(sign);
        }
        input.copy(length, out)?;
    }
    debug_assert!(out.len() > start);
    Ok(())
}
