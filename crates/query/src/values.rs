//! Serialized values of composite types, as terms and selectors take them apart and build them:
//! stored form of collections, elements that may be null, parts by key.

use std::net::Ipv6Addr;

use basalt_model::DataType;
use basalt_model::types::elements::{
    pack_collection, pack_vector, put_value, put_vint, take_count, take_value, take_vint, unpack_collection,
};
use bytes::Bytes;

use crate::error::{CqlResult, invalid};

/// Whether an element of the type is written as it was read. Of the others Cassandra reads more forms than it writes:
/// padded numbers, booleans that are not one, IPv4 inside IPv6, sets in another order.
fn keeps_bytes(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Boolean | T::Varint | T::Decimal | T::Inet | T::Duration | T::Set { .. } | T::Map { .. } => false,
        T::List { element, .. } => keeps_bytes(element),
        _ => true,
    }
}

/// The form in which a bound collection or user type is stored: each element as Cassandra writes what it reads
/// (`decompose` after `compose`), empty elements of a list null where the type says so, sets and maps sorted and without
/// duplicates. The same bytes if they have that form. Other types stay as they are.
///
/// # Errors
/// What cannot be read although it is valid: a decimal without digits.
pub(crate) fn stored_form(data_type: &DataType, value: Bytes) -> CqlResult<Bytes> {
    let element = match data_type {
        DataType::List { element, .. } => element,
        DataType::Set { .. } | DataType::Map { .. } => return element_form(data_type, value),
        DataType::Udt { .. } => return Ok(usual_nulls(&value).unwrap_or(value)),
        _ => return Ok(value),
    };
    let Some(elements) = list_to_rewrite(element, &value) else { return Ok(value) };
    let read = |element_value: Option<Bytes>| match element_value {
        Some(bytes) if !(bytes.is_empty() && element.reads_empty_as_null()) => {
            element_form(element, bytes).map(Some)
        }
        _ => Ok(None),
    };
    let elements: Vec<Option<Bytes>> = elements.into_iter().map(read).collect::<CqlResult<_>>()?;
    Ok(pack_nullable_list(&elements))
}

/// A user type's value with the usual length for each null; `None` when it has no other.
fn usual_nulls(value: &[u8]) -> Option<Bytes> {
    let (mut at, mut rewritten) = (0, None);
    while let Some(length) = value.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        let length = i32::from_be_bytes(*length);
        if length < -1 {
            let rewritten = rewritten.get_or_insert_with(|| value.to_vec());
            rewritten[at..at + 4].copy_from_slice(&(-1i32).to_be_bytes());
        }
        at += 4 + usize::try_from(length).unwrap_or(0);
    }
    rewritten.map(Bytes::from)
}

/// The elements of a list that may be stored in another form than it came in.
fn list_to_rewrite(element: &DataType, value: &Bytes) -> Option<Vec<Option<Bytes>>> {
    if keeps_bytes(element) && !has_gap(value, element.reads_empty_as_null()) {
        return None;
    }
    unpack_nullable_list(value)
}

/// Whether a list has null elements, or empty ones if those count.
fn has_gap(value: &[u8], empty_counts: bool) -> bool {
    let mut rest = value;
    let _count = take_count(&mut rest);
    while let Some(element) = take_value(&mut rest) {
        if element.is_none_or(|element| empty_counts && element.is_empty()) {
            return true;
        }
    }
    false
}

/// A value inside a collection. Types nest at most 64 deep.
fn element_form(data_type: &DataType, value: Bytes) -> CqlResult<Bytes> {
    match data_type {
        _ if value.is_empty() => Ok(value),
        DataType::Boolean if value[0] > 1 => Ok(Bytes::from_static(&[1])),
        DataType::Varint => Ok(without_padding(value)),
        DataType::Decimal if value.len() == 4 => invalid("Zero length BigInteger"),
        DataType::Decimal => {
            let digits = without_padding(value.slice(4..));
            Ok(if digits.len() + 4 == value.len() { value } else { [&value[..4], &digits].concat().into() })
        }
        DataType::Inet => Ok(match <[u8; 16]>::try_from(&value[..]).ok().map(Ipv6Addr::from) {
            Some(address) if address.to_ipv4_mapped().is_some() => value.slice(12..),
            _ => value,
        }),
        DataType::Duration => Ok(shortest_duration(&value).unwrap_or(value)),
        DataType::List { element, .. } if !keeps_bytes(element) => {
            let Some(elements) = unpack_collection(&value, 1) else { return Ok(value) };
            let elements = elements.into_iter().map(|e| element_form(element, e));
            let elements: Vec<Bytes> = elements.collect::<CqlResult<_>>()?;
            Ok(pack_collection(elements.len(), &elements))
        }
        DataType::Set { element, .. } => {
            let Some(elements) = unpack_collection(&value, 1) else { return Ok(value) };
            if keeps_bytes(element) && elements.is_sorted_by(|a, b| element.compare(a, b).is_lt()) {
                return Ok(value);
            }
            let elements = elements.into_iter().map(|e| element_form(element, e));
            Ok(pack_set(element, elements.collect::<CqlResult<_>>()?))
        }
        DataType::Map { key, value: values, .. } => {
            let Some(flat) = unpack_collection(&value, 2) else { return Ok(value) };
            let sorted = flat.chunks_exact(2).is_sorted_by(|a, b| key.compare(&a[0], &b[0]).is_lt());
            if sorted && keeps_bytes(key) && keeps_bytes(values) {
                return Ok(value);
            }
            let entries = flat
                .chunks_exact(2)
                .map(|e| Ok((element_form(key, e[0].clone())?, element_form(values, e[1].clone())?)));
            Ok(pack_map(key, entries.collect::<CqlResult<_>>()?))
        }
        _ => Ok(value),
    }
}

/// A two's complement number in as few bytes as it needs.
fn without_padding(number: Bytes) -> Bytes {
    let repeats = |pair: &[u8]| (pair[0] == 0 && pair[1] < 0x80) || (pair[0] == 0xff && pair[1] >= 0x80);
    let padding = number.windows(2).take_while(|pair| repeats(pair)).count();
    number.slice(padding..)
}

/// A duration's three numbers, each in as few bytes as it needs; what stands behind them is dropped.
fn shortest_duration(value: &[u8]) -> Option<Bytes> {
    let mut rest = value;
    let mut out = Vec::with_capacity(value.len());
    for _ in 0..3 {
        put_vint(&mut out, take_vint(&mut rest)?);
    }
    Some(out.into())
}

/// A set of these elements in any order.
pub(crate) fn pack_set(element: &DataType, mut elements: Vec<Bytes>) -> Bytes {
    elements.sort_by(|a, b| element.compare(a, b));
    elements.dedup_by(|a, b| element.compare(a, b).is_eq());
    pack_collection(elements.len(), &elements)
}

/// A map of these entries in any order; of equal keys the last counts.
pub(crate) fn pack_map(key: &DataType, mut entries: Vec<(Bytes, Bytes)>) -> Bytes {
    entries.sort_by(|a, b| key.compare(&a.0, &b.0));
    // The sort is stable, so the later of two equal keys is `a` here.
    entries.dedup_by(|a, b| {
        let same = key.compare(&a.0, &b.0).is_eq();
        if same {
            b.1 = a.1.clone();
        }
        same
    });
    let count = entries.len();
    let flat: Vec<Bytes> = entries.into_iter().flat_map(|(key, value)| [key, value]).collect();
    pack_collection(count, &flat)
}

/// A list whose elements may be null (times of cells).
pub(crate) fn pack_nullable_list(elements: &[Option<Bytes>]) -> Bytes {
    let mut out = Vec::with_capacity(4 + elements.len() * 12);
    out.extend_from_slice(&i32::try_from(elements.len()).unwrap_or(i32::MAX).to_be_bytes());
    for element in elements {
        put_value(&mut out, element.as_deref());
    }
    out.into()
}

/// The elements of a serialized list, nulls included; `None` when malformed.
pub(crate) fn unpack_nullable_list(value: &Bytes) -> Option<Vec<Option<Bytes>>> {
    let mut rest: &[u8] = value;
    let count = take_count(&mut rest)?;
    // A count larger than the bytes could hold is malformed and must not reserve memory.
    if count > rest.len() / 4 {
        return None;
    }
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        elements.push(take_value(&mut rest)?.map(|element| value.slice_ref(element)));
    }
    rest.is_empty().then_some(elements)
}

/// The fields that are there in a serialized tuple or UDT, at most `limit`; `None` when malformed.
pub(crate) fn split_tuple(value: &Bytes) -> Option<Vec<Option<Bytes>>> {
    let mut rest: &[u8] = value;
    let mut fields = Vec::new();
    while !rest.is_empty() {
        fields.push(take_value(&mut rest)?.map(|field| value.slice_ref(field)));
    }
    Some(fields)
}

/// Builds a vector; refuses nothing: the caller counted the elements.
pub(crate) fn vector(element: &DataType, elements: &[Bytes]) -> Bytes {
    pack_vector(element, elements)
}
