//! Addresses, UUIDs and hexadecimal digits.

use std::net::{Ipv4Addr, Ipv6Addr};

use basalt_model::types::validate::MarshalError;
use bytes::Bytes;
use uuid::Uuid;

use super::refuse;

/// `8-4-4-4-12` hexadecimal digits and nothing else.
pub(super) fn uuid(text: &str) -> Option<Uuid> {
    // The crate also reads forms without dashes or in braces.
    if text.len() == 36 { Uuid::try_parse(text).ok() } else { None }
}

/// Pairs of hexadecimal digits.
pub(super) fn hex(text: &str) -> Result<Bytes, MarshalError> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
        }
        _ => refuse(format!("cannot parse '{text}' as hex bytes")),
    }
}

/// An address as Java's `InetAddress.getByName` reads it, host names excepted: no look-up is ever
/// made for a value.
pub(super) fn inet(text: &str) -> Result<Bytes, MarshalError> {
    if let Some(address) = short_ipv4(text) {
        return Ok(Bytes::copy_from_slice(&address.octets()));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    match ipv6(bare) {
        // Java turns a mapped address into the one it maps.
        Some(address) => Ok(match address.to_ipv4_mapped() {
            Some(address) => Bytes::copy_from_slice(&address.octets()),
            None => Bytes::copy_from_slice(&address.octets()),
        }),
        None => refuse(format!("Unable to make inet address from '{text}'")),
    }
}

/// Groups may have zeros before them; a zone is a number, for interfaces are not looked up either.
fn ipv6(text: &str) -> Option<Ipv6Addr> {
    let (address, zone) = text.split_once('%').unwrap_or((text, "0"));
    if zone.is_empty() || !zone.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let group = |group: &str| match group.len() {
        0..=4 => group.to_owned(),
        _ if group.contains('.') => group.to_owned(),
        _ => format!("{:0>1}", group.trim_start_matches('0')),
    };
    address.split(':').map(group).collect::<Vec<String>>().join(":").parse().ok()
}

/// One to four decimal parts, the last of which fills the bytes that are left: `1.2` is `1.0.0.2`.
fn short_ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Option<Vec<u32>> = text
        .split('.')
        .map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if digits { part.parse().ok() } else { None }
        })
        .collect();
    let parts = parts?;
    let (&last, leading) = parts.split_last()?;
    if parts.len() > 4 || leading.iter().any(|&part| part > 255) {
        return None;
    }
    let free_bits = 32 - 8 * leading.len() as u32;
    if u64::from(last) >= 1 << free_bits {
        return None;
    }
    let high = leading.iter().enumerate().map(|(index, &part)| part << (24 - 8 * index)).sum::<u32>();
    Some(Ipv4Addr::from(high | last))
}
