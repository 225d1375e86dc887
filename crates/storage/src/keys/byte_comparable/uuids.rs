//! `uuid` and `timeuuid`: time first (`UUIDType`, `AbstractTimeUUIDType`).

use super::{Input, KeyError};

/// `timeuuid` compares the last eight bytes as signed bytes.
const SIGNED_BYTES: u64 = 0x8080_8080_8080_8080;

fn halves(value: &[u8]) -> Result<(u64, u64), KeyError> {
    let value: [u8; 16] = value.try_into().map_err(|_| KeyError::Malformed("a UUID is not 16 bytes"))?;
    let value = u128::from_be_bytes(value);
    Ok(((value >> 64) as u64, value as u64))
}

fn take_halves(input: &mut Input<'_>) -> Result<(u64, u64), KeyError> {
    Ok((u64::from_be_bytes(input.take()?), u64::from_be_bytes(input.take()?)))
}

fn append(high: u64, low: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&high.to_be_bytes());
    out.extend_from_slice(&low.to_be_bytes());
}

/// Version and high time first, low time last.
fn time_first(high: u64) -> u64 {
    (high << 48) | ((high << 16) & 0xFFFF_0000_0000) | (high >> 32)
}

fn time_back(high: u64) -> u64 {
    (high << 32) | ((high >> 16) & 0xFFFF_0000) | (high >> 48)
}

pub fn encode_uuid(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let (high, low) = halves(value)?;
    let version = (high >> 12) & 0xF;
    let ordered = if version == 1 {
        time_first(high)
    } else {
        (version << 60) | ((high >> 4) & 0x0FFF_FFFF_FFFF_F000) | (high & 0xFFF)
    };
    append(ordered, low, out);
    Ok(())
}

pub fn decode_uuid(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let (ordered, low) = take_halves(input)?;
    let version = ordered >> 60;
    let high = if version == 1 {
        time_back(ordered)
    } else {
        ((ordered << 4) & 0xFFFF_FFFF_FFFF_0000) | (version << 12) | (ordered & 0xFFF)
    };
    append(high, low, out);
    Ok(())
}

pub fn encode_time_uuid(value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let (high, low) = halves(value)?;
    append(time_first(high), low ^ SIGNED_BYTES, out);
    Ok(())
}

pub fn decode_time_uuid(input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let (ordered, low) = take_halves(input)?;
    append(time_back(ordered), low ^ SIGNED_BYTES, out);
    Ok(())
}
