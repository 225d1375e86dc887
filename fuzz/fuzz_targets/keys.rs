//! Bytes of an engine: keys, values in keys, entries and their merging. Damage is an error, never a
//! panic; what was decoded encodes to a form that stays.
#![no_main]

use basalt_model::DataType;
use basalt_storage::cells::PURGE_TAG;
use basalt_storage::keys::byte_comparable::{self, Input};
use basalt_storage::keys::{decode_partition, split};
use basalt_storage::merge::merge;

const SCALARS: [DataType; 20] = [
    DataType::Ascii,
    DataType::BigInt,
    DataType::Blob,
    DataType::Boolean,
    DataType::Counter,
    DataType::Date,
    DataType::Decimal,
    DataType::Double,
    DataType::Duration,
    DataType::Float,
    DataType::Inet,
    DataType::Int,
    DataType::SmallInt,
    DataType::Text,
    DataType::Time,
    DataType::Timestamp,
    DataType::TimeUuid,
    DataType::TinyInt,
    DataType::Uuid,
    DataType::Varint,
];

/// A type out of bytes: nested while bits say so, four deep at most.
fn data_type(choice: &mut std::slice::Iter<'_, u8>, depth: u32) -> DataType {
    let byte = choice.next().copied().unwrap_or(0);
    let scalar = SCALARS[usize::from(byte) % SCALARS.len()].clone();
    if depth == 0 {
        return scalar;
    }
    let mut inner = || data_type(choice, depth - 1);
    match byte >> 5 {
        5 => DataType::Tuple([inner(), inner()].into()),
        6 => DataType::Vector { element: inner().into(), dimension: 2 },
        _ => scalar,
    }
}

fn decode(data_type: &DataType, bytes: &[u8], is_inverted: bool) -> Option<Vec<u8>> {
    let mut input = Input::new(bytes);
    input.set_inverted(is_inverted);
    let mut value = Vec::new();
    byte_comparable::decode(data_type, &mut input, &mut value).ok()?;
    Some(value)
}

fn values(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first_chunk::<8>() else { return };
    let data_type = data_type(&mut choice[1..].iter(), 4);
    let _any = decode(&data_type, bytes, true);
    let Some(value) = decode(&data_type, bytes, false) else { return };
    let mut encoded = Vec::new();
    if byte_comparable::encode(&data_type, &value, &mut encoded).is_err() || encoded.is_empty() {
        return;
    }
    let again = decode(&data_type, &encoded, false).expect("what was encoded decodes");
    let mut stays = Vec::new();
    byte_comparable::encode(&data_type, &again, &mut stays).expect("what was decoded encodes");
    assert_eq!(stays, encoded, "{data_type:?}");
}

fn entries(data: &[u8]) {
    let Some((&at, rest)) = data.split_first() else { return };
    let (one, other) = rest.split_at(usize::from(at).min(rest.len()));
    let Ok(merged) = merge(Some(one), &[other]) else { return };
    // Nothing is no version, and to a purge the order matters.
    if [one, other].iter().any(|part| part.first().is_none_or(|tag| *tag == PURGE_TAG)) {
        return;
    }
    assert_eq!(merge(Some(other), &[one]).as_ref(), Ok(&merged), "in the other order");
    assert_eq!(merge(Some(&merged), &[one, other]).as_ref(), Ok(&merged), "once more");
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    basalt_storage::fuzzing::fuzz_one(data);
    if let Ok(parts) = split(data) {
        let _any = decode_partition(parts.partition);
    }
    values(data);
    entries(data);
});
