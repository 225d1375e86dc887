//! Types of one length: integers up to 4 bytes, timestamps, dates, times, floats, booleans
//! (`ByteSource.SignedFixedLengthNumber`, `SignedFixedLengthFloat`).

use super::{Input, KeyError};

fn of_length<const N: usize>(value: &[u8]) -> Result<[u8; N], KeyError> {
    value.try_into().map_err(|_| KeyError::Malformed("a value of the wrong length"))
}

/// The sign bit is flipped, so that negative numbers come first.
pub fn encode_signed<const N: usize>(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut bytes = of_length::<N>(value)?;
    bytes[0] ^= 0x80;
    out.extend_from_slice(&bytes);
    Ok(())
}

pub fn decode_signed<const N: usize>(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut bytes = input.take::<N>()?;
    bytes[0] ^= 0x80;
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Bytes that are in order as they are.
pub fn encode_unsigned<const N: usize>(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    out.extend_from_slice(&of_length::<N>(value)?);
    Ok(())
}

pub fn decode_unsigned<const N: usize>(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    out.extend_from_slice(&input.take::<N>()?);
    Ok(())
}

/// Positive floats get the sign bit, negative ones are inverted whole. All bits come back, those of -0.0 too, but of
/// a NaN: all are one value, above all others (`Float.compare`), and encoded as Java's own.
pub fn encode_float<const N: usize>(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut bytes = of_length::<N>(value)?;
    if is_nan(&bytes) {
        bytes = [0; N];
        bytes[..2].copy_from_slice(if N == 4 { &[0x7F, 0xC0] } else { &[0x7F, 0xF8] });
    }
    if bytes[0] & 0x80 == 0 {
        bytes[0] |= 0x80;
    } else {
        bytes.iter_mut().for_each(|byte| *byte ^= 0xFF);
    }
    out.extend_from_slice(&bytes);
    Ok(())
}

fn is_nan(bytes: &[u8]) -> bool {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(bytes), _) => f32::from_be_bytes(bytes).is_nan(),
        (_, Ok(bytes)) => f64::from_be_bytes(bytes).is_nan(),
        _ => false,
    }
}

pub fn decode_float<const N: usize>(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut bytes = input.take::<N>()?;
    if bytes[0] & 0x80 == 0 {
        bytes.iter_mut().for_each(|byte| *byte ^= 0xFF);
    } else {
        bytes[0] ^= 0x80;
    }
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Any byte but zero is true.
pub fn encode_boolean(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let [byte] = of_length::<1>(value)?;
    out.push(u8::from(byte != 0));
    Ok(())
}

pub fn decode_boolean(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    match input.take_byte()? {
        byte @ (0 | 1) => {
            out.push(byte);
            Ok(())
        }
        _ => Err(KeyError::Malformed("a boolean is 0 or 1")),
    }
}
