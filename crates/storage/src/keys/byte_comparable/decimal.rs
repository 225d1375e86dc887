//! `decimal` (`DecimalType.asComparableBytes`): sign, base-100 exponent, base-100 digits of a
//! mantissa below one, zero. `1.0` and `1.00` are one encoding; a scale without digits is zero.

use num_bigint::{BigInt, BigUint, Sign};

use super::{Input, KeyError};

const ZERO: u8 = 0x80;
const POSITIVE: u8 = 0x80;
const EXPONENT: i32 = 0x40;
const DIGIT: u8 = 0x80;
const END: u8 = 0x00;

/// Zeros that encoding takes off a value's end: no more than the longest value, 65,535 bytes, has digits.
const EXCESS_MAX: u32 = 160_000;

pub fn encode(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let (scale, unscaled) =
        value.split_first_chunk::<4>().ok_or(KeyError::Malformed("a decimal without scale"))?;
    let (sign, magnitude) = BigInt::from_signed_bytes_be(unscaled).into_parts();
    if sign == Sign::NoSign {
        out.push(ZERO);
        return Ok(());
    }
    let is_negative = sign == Sign::Minus;
    let mut digits = magnitude.to_radix_be(10);

    // The value is 0.d1d2d3... * 100^exponent; when its power of ten is odd a zero goes before d1.
    let before_point = digits.len() as i64 - i64::from(i32::from_be_bytes(*scale));
    let exponent = (before_point + 1) >> 1;
    if before_point & 1 != 0 {
        digits.insert(0, 0);
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    if digits.len() % 2 != 0 {
        digits.push(0);
    }
    let exponent = i32::try_from(if is_negative { -exponent } else { exponent })
        .map_err(|_| KeyError::Malformed("a decimal out of range"))?;

    let length = 4 - exponent.unsigned_abs().leading_zeros() as i32 / 8;
    let header = EXPONENT + if exponent < 0 { -length } else { length };
    out.push(header as u8 | if is_negative { 0 } else { POSITIVE });
    out.extend_from_slice(&exponent.to_be_bytes()[4 - length as usize..]);
    let pairs = digits.chunks_exact(2).map(|pair| pair[0] * 10 + pair[1]);
    if is_negative {
        append_negative_digits(pairs, out);
    } else {
        out.extend(pairs.map(|pair| DIGIT + pair));
    }
    out.push(END);
    Ok(())
}

/// The first digit is the mantissa's floor, negative; what remains above it is positive: the
/// hundreds' complement of the other digits.
fn append_negative_digits(pairs: impl ExactSizeIterator<Item = u8>, out: &mut Vec<u8>) {
    let last = pairs.len() - 1;
    for (index, pair) in pairs.enumerate() {
        out.push(match (index == 0, index == last) {
            (true, true) => DIGIT - pair,
            (true, false) => DIGIT - pair - 1,
            (false, true) => DIGIT + (100 - pair),
            (false, false) => DIGIT + (99 - pair),
        });
    }
}

pub fn decode(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    const BAD: KeyError = KeyError::Malformed("not a decimal");
    let header = input.take_byte()?;
    if header == ZERO {
        out.extend_from_slice(&[0; 5]);
        return Ok(());
    }
    let is_negative = header < POSITIVE;
    let length = i32::from(header & 0x7F) - EXPONENT;
    if !(-4..=4).contains(&length) {
        return Err(BAD);
    }
    let mut exponent = if length < 0 { -1i32 } else { 0 };
    for _ in 0..length.abs() {
        exponent = (exponent << 8) | i32::from(input.take_byte()?);
    }
    let mut exponent = if is_negative { -i64::from(exponent) } else { i64::from(exponent) };

    let mut pairs = Vec::new();
    loop {
        let byte = input.take_byte()?;
        if byte == END {
            break;
        }
        let is_first = pairs.is_empty();
        let pair = i16::from(byte) - i16::from(DIGIT);
        let range = if is_negative && is_first { -100..=0 } else { 0..=99 };
        if !range.contains(&pair) {
            return Err(BAD);
        }
        pairs.push(pair.unsigned_abs() as u8);
    }
    if is_negative {
        uncomplement(&mut pairs).ok_or(BAD)?;
    }
    exponent -= pairs.len() as i64;
    let magnitude = BigUint::from_radix_be(&pairs, 100).ok_or(BAD)?;
    let mut unscaled = BigInt::from_biguint(if is_negative { Sign::Minus } else { Sign::Plus }, magnitude);

    // Powers of ten beyond what a scale can say are multiplied in, as Cassandra does.
    let mut power = 2 * exponent;
    let excess = power - i64::from(i32::MAX);
    if excess > 0 {
        let excess = u32::try_from(excess).ok().filter(|&excess| excess <= EXCESS_MAX).ok_or(BAD)?;
        unscaled *= BigInt::from(10u32).pow(excess);
        power = i64::from(i32::MAX);
    }
    // At the other end the zero that made the number of digits even goes; Cassandra's scale wraps around there.
    if power == i64::from(i32::MIN) && (&unscaled % 10u32).sign() == Sign::NoSign {
        unscaled /= 10u32;
        power += 1;
    }
    let scale = i32::try_from(-power).map_err(|_| BAD)?;
    out.extend_from_slice(&scale.to_be_bytes());
    out.extend_from_slice(&unscaled.to_signed_bytes_be());
    Ok(())
}

/// Turns floor and complement back into the digits of the magnitude.
fn uncomplement(pairs: &mut [u8]) -> Option<()> {
    let last = pairs.len().checked_sub(1)?;
    if last == 0 {
        return Some(());
    }
    pairs[0] = pairs[0].checked_sub(1)?;
    for pair in &mut pairs[1..last] {
        *pair = 99u8.checked_sub(*pair)?;
    }
    pairs[last] = 100u8.checked_sub(pairs[last])?;
    (pairs[last] < 100).then_some(())
}
