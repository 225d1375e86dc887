//! Writes the notations of v5 §3 at the end of a buffer.
//!
//! Lengths that do not fit their field are cut, never wrapped: a `[string]` ends at the last whole
//! character within 65,535 bytes (error texts are the only strings that long), a list whose count
//! is a `[short]` at its 65,535th element.

use std::net::{IpAddr, SocketAddr};

use basalt_model::Consistency;
use bytes::{BufMut, Bytes, BytesMut};
use uuid::Uuid;

use super::Value;
use crate::limits::{MAX_SHORT_COUNT, MAX_STRING_LEN};

/// A `[short]` count or length, at most 65,535 (v5 §3).
pub fn put_count(out: &mut BytesMut, count: usize) {
    out.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
}

/// `[string]` (v5 §3).
pub fn put_string(out: &mut BytesMut, text: &str) {
    let mut len = text.len().min(MAX_STRING_LEN);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    let bytes = text.as_bytes().get(..len).unwrap_or_default();
    put_count(out, bytes.len());
    out.put_slice(bytes);
}

/// `[long string]` (v5 §3).
pub fn put_long_string(out: &mut BytesMut, text: &str) {
    put_bytes(out, Some(text.as_bytes()));
}

/// `[short bytes]` (v5 §3).
pub fn put_short_bytes(out: &mut BytesMut, bytes: &[u8]) {
    let bytes = bytes.get(..bytes.len().min(MAX_STRING_LEN)).unwrap_or_default();
    put_count(out, bytes.len());
    out.put_slice(bytes);
}

/// `[bytes]` (v5 §3). What does not fit an `[int]` length cannot fit an envelope either and is
/// refused before it gets here; it is written as null rather than wrapped.
pub fn put_bytes(out: &mut BytesMut, bytes: Option<&[u8]>) {
    match bytes.and_then(|bytes| i32::try_from(bytes.len()).ok().map(|len| (len, bytes))) {
        Some((len, bytes)) => {
            out.reserve(4 + bytes.len());
            out.put_i32(len);
            out.put_slice(bytes);
        }
        None => out.put_i32(-1),
    }
}

/// `[value]` (v5 §3).
pub fn put_value(out: &mut BytesMut, value: &Value) {
    match value {
        Value::Null => out.put_i32(-1),
        Value::Unset => out.put_i32(-2),
        Value::Bytes(bytes) => put_bytes(out, Some(bytes)),
    }
}

/// `[uuid]` (v5 §3).
pub fn put_uuid(out: &mut BytesMut, uuid: Uuid) {
    out.put_slice(uuid.as_bytes());
}

/// `[inetaddr]` (v5 §3).
pub fn put_inet_addr(out: &mut BytesMut, address: IpAddr) {
    match address {
        IpAddr::V4(v4) => {
            out.put_u8(4);
            out.put_slice(&v4.octets());
        }
        IpAddr::V6(v6) => {
            out.put_u8(16);
            out.put_slice(&v6.octets());
        }
    }
}

/// `[inet]` (v5 §3).
pub fn put_inet(out: &mut BytesMut, address: SocketAddr) {
    put_inet_addr(out, address.ip());
    out.put_i32(i32::from(address.port()));
}

/// `[consistency]` (v5 §3).
pub fn put_consistency(out: &mut BytesMut, consistency: Consistency) {
    out.put_u16(consistency.code());
}

/// `[string list]` (v5 §3).
pub fn put_string_list<S: AsRef<str>>(out: &mut BytesMut, list: &[S]) {
    put_count(out, list.len());
    for text in list.iter().take(MAX_SHORT_COUNT) {
        put_string(out, text.as_ref());
    }
}

/// `[string map]` (v5 §3).
pub fn put_string_map(out: &mut BytesMut, map: &[(String, String)]) {
    put_count(out, map.len());
    for (key, value) in map.iter().take(MAX_SHORT_COUNT) {
        put_string(out, key);
        put_string(out, value);
    }
}

/// `[string multimap]` (v5 §3).
pub fn put_string_multimap(out: &mut BytesMut, map: &[(String, Vec<String>)]) {
    put_count(out, map.len());
    for (key, values) in map.iter().take(MAX_SHORT_COUNT) {
        put_string(out, key);
        put_string_list(out, values);
    }
}

/// `[bytes map]` (v5 §3).
pub fn put_bytes_map(out: &mut BytesMut, map: &[(String, Option<Bytes>)]) {
    put_count(out, map.len());
    for (key, value) in map.iter().take(MAX_SHORT_COUNT) {
        put_string(out, key);
        put_bytes(out, value.as_deref());
    }
}
