//! Values of `system_schema` and the virtual tables as serialized bytes, and back.

use std::collections::BTreeMap;
use std::net::IpAddr;

use basalt_model::types::elements::{pack_collection, unpack_collection};
use bytes::Bytes;
use uuid::Uuid;

/// `text`.
pub fn text(value: &str) -> Bytes {
    Bytes::copy_from_slice(value.as_bytes())
}

/// `boolean`.
pub fn boolean(value: bool) -> Bytes {
    Bytes::from_static(if value { &[1] } else { &[0] })
}

/// `int`.
pub fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

/// `bigint`, and `timestamp` in milliseconds.
pub fn bigint(value: i64) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

/// `double`.
pub fn double(value: f64) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

/// `uuid`.
pub fn uuid(value: Uuid) -> Bytes {
    Bytes::copy_from_slice(value.as_bytes())
}

/// `inet`.
pub fn inet(value: IpAddr) -> Bytes {
    match value {
        IpAddr::V4(address) => Bytes::copy_from_slice(&address.octets()),
        IpAddr::V6(address) => Bytes::copy_from_slice(&address.octets()),
    }
}

/// `frozen<map<text, text>>`; a `BTreeMap` has Cassandra's order.
pub fn text_map(value: &BTreeMap<String, String>) -> Bytes {
    let flat: Vec<Bytes> = value.iter().flat_map(|(key, value)| [text(key), text(value)]).collect();
    pack_collection(value.len(), &flat)
}

/// `frozen<map<text, blob>>`.
pub fn blob_map(value: &BTreeMap<String, Vec<u8>>) -> Bytes {
    let flat: Vec<Bytes> =
        value.iter().flat_map(|(key, value)| [text(key), Bytes::copy_from_slice(value)]).collect();
    pack_collection(value.len(), &flat)
}

/// `frozen<list<text>>`, and `frozen<set<text>>` of texts that are sorted already.
pub fn text_list<'a>(values: impl IntoIterator<Item = &'a str>) -> Bytes {
    let values: Vec<Bytes> = values.into_iter().map(text).collect();
    pack_collection(values.len(), &values)
}

/// `frozen<list<boolean>>`.
pub fn boolean_list(values: &[bool]) -> Bytes {
    let flat: Vec<Bytes> = values.iter().map(|value| boolean(*value)).collect();
    pack_collection(values.len(), &flat)
}

/// Reads `text`.
pub fn read_text(value: &Bytes) -> Option<String> {
    String::from_utf8(value.to_vec()).ok()
}

/// Reads `boolean`.
pub fn read_boolean(value: &Bytes) -> Option<bool> {
    value.first().map(|byte| *byte != 0)
}

/// Reads `int`.
pub fn read_int(value: &Bytes) -> Option<i32> {
    value.as_ref().try_into().ok().map(i32::from_be_bytes)
}

/// Reads `bigint` and `timestamp`.
pub fn read_bigint(value: &Bytes) -> Option<i64> {
    value.as_ref().try_into().ok().map(i64::from_be_bytes)
}

/// Reads `double`.
pub fn read_double(value: &Bytes) -> Option<f64> {
    value.as_ref().try_into().ok().map(f64::from_be_bytes)
}

/// Reads `uuid`.
pub fn read_uuid(value: &Bytes) -> Option<Uuid> {
    Uuid::from_slice(value).ok()
}

/// Reads `frozen<map<text, text>>`.
pub fn read_text_map(value: &Bytes) -> Option<BTreeMap<String, String>> {
    let flat = unpack_collection(value, 2)?;
    flat.chunks_exact(2)
        .map(|pair| match pair {
            [key, value] => Some((read_text(key)?, read_text(value)?)),
            _ => None,
        })
        .collect()
}

/// Reads `frozen<map<text, blob>>`.
pub fn read_blob_map(value: &Bytes) -> Option<BTreeMap<String, Vec<u8>>> {
    let flat = unpack_collection(value, 2)?;
    flat.chunks_exact(2)
        .map(|pair| match pair {
            [key, value] => Some((read_text(key)?, value.to_vec())),
            _ => None,
        })
        .collect()
}

/// Reads `frozen<list<boolean>>`.
pub fn read_boolean_list(value: &Bytes) -> Option<Vec<bool>> {
    unpack_collection(value, 1)?.iter().map(read_boolean).collect()
}

/// Reads `frozen<list<text>>` and `frozen<set<text>>`.
pub fn read_text_list(value: &Bytes) -> Option<Vec<String>> {
    unpack_collection(value, 1)?.iter().map(read_text).collect()
}
