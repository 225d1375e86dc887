//! Serialized values of composite types, as terms and selectors take them apart and build them:
//! canonical form of collections, elements that may be null, parts by key.

use basalt_model::DataType;
use basalt_model::types::elements::{
    pack_collection, pack_vector, put_value, take_count, take_value, unpack_collection,
};
use bytes::Bytes;

/// Whether values of the type hold a set or map, whose elements have one right order.
fn has_order(data_type: &DataType) -> bool {
    match data_type {
        DataType::Set { .. } | DataType::Map { .. } => true,
        DataType::List { element, .. } => has_order(element),
        _ => false,
    }
}

/// The form in which a collection is stored: sets and maps sorted, without duplicates. The same
/// bytes if they have that form. Other types, and bytes that are not a value, stay as they are.
pub(crate) fn canonical(data_type: &DataType, value: Bytes) -> Bytes {
    if !has_order(data_type) {
        return value;
    }
    match data_type {
        DataType::List { element, .. } => {
            let Some(elements) = unpack_collection(&value, 1) else { return value };
            let elements: Vec<Bytes> = elements.into_iter().map(|e| canonical(element, e)).collect();
            pack_collection(elements.len(), &elements)
        }
        DataType::Set { element, .. } => {
            let Some(elements) = unpack_collection(&value, 1) else { return value };
            if !has_order(element) && elements.is_sorted_by(|a, b| element.compare(a, b).is_lt()) {
                return value;
            }
            let elements = elements.into_iter().map(|e| canonical(element, e)).collect();
            pack_set(element, elements)
        }
        DataType::Map { key, value: values, .. } => {
            let Some(flat) = unpack_collection(&value, 2) else { return value };
            let sorted = flat.chunks_exact(2).is_sorted_by(|a, b| key.compare(&a[0], &b[0]).is_lt());
            if sorted && !has_order(key) && !has_order(values) {
                return value;
            }
            let entries = flat.chunks_exact(2);
            let entries = entries.map(|e| (canonical(key, e[0].clone()), canonical(values, e[1].clone())));
            pack_map(key, entries.collect())
        }
        _ => value,
    }
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
