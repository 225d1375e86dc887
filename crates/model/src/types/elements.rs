//! Walking serialized composite values: collections, tuples, UDTs, vectors.
//!
//! Readers take what is there and never trust a length; whoever needs to know why a value is
//! malformed asks [`super::validate`].

use bytes::Bytes;

use super::DataType;

/// Takes a 4-byte big-endian length and that many bytes off `rest`. A negative length is null.
/// `None` when the bytes end too soon.
pub fn take_value<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (length, tail) = rest.split_first_chunk::<4>()?;
    let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
        *rest = tail;
        return Some(None);
    };
    let (value, tail) = tail.split_at_checked(length)?;
    *rest = tail;
    Some(Some(value))
}

/// Takes a 4-byte big-endian count off `rest`; a negative one counts as zero.
pub fn take_count(rest: &mut &[u8]) -> Option<usize> {
    let (count, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(usize::try_from(i32::from_be_bytes(*count)).unwrap_or(0))
}

/// Takes one element of a vector off `rest`: elements of a fixed length stand bare, others behind
/// an unsigned vint length (`VectorType`). `None` when the bytes end too soon.
pub fn take_vector_element<'a>(rest: &mut &'a [u8], element: &DataType) -> Option<&'a [u8]> {
    let Some(length) = element.fixed_length() else {
        return take_vint_value(rest);
    };
    let (value, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(value)
}

/// A vector's serialized form; as many values as its dimension.
pub fn pack_vector(element: &DataType, values: &[Bytes]) -> Bytes {
    let mut out = Vec::with_capacity(values.iter().map(|value| value.len() + 2).sum());
    for value in values {
        if element.fixed_length().is_none() {
            put_unsigned_vint(&mut out, value.len() as u64);
        }
        out.extend_from_slice(value);
    }
    out.into()
}

/// Takes an unsigned vint length and that many bytes off `rest` (elements of a vector whose
/// element type has no fixed length). A length may be written in more bytes than it needs; the
/// value then begins behind those needed, as in Cassandra (`VectorType.VariableLengthSerializer`).
pub fn take_vint_value<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_unsigned_vint(&mut &**rest)?;
    let (_, tail) = rest.split_at_checked(1 + extra_bytes(length))?;
    let (value, tail) = tail.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = tail;
    Some(value)
}

/// Takes an unsigned vint (`VIntCoding.readUnsignedVInt`): the leading one bits of the first byte
/// say how many bytes follow.
pub fn take_unsigned_vint(rest: &mut &[u8]) -> Option<u64> {
    let (&first, tail) = rest.split_first()?;
    let extra = first.leading_ones() as usize;
    let (bytes, tail) = tail.split_at_checked(extra)?;
    // Eight leading ones leave no payload bit in the first byte.
    let payload = if extra >= 7 { 0 } else { u64::from(first) & (0xff >> (extra + 1)) };
    *rest = tail;
    Some(bytes.iter().fold(payload, |value, &byte| (value << 8) | u64::from(byte)))
}

/// Takes a signed (zig-zag) vint.
pub fn take_vint(rest: &mut &[u8]) -> Option<i64> {
    let encoded = take_unsigned_vint(rest)?;
    Some((encoded >> 1) as i64 ^ -((encoded & 1) as i64))
}

/// How many bytes an unsigned vint has behind its first: each byte carries seven bits, up to eight
/// bytes; nine bytes carry all 64.
fn extra_bytes(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    if bits > 56 { 8 } else { (bits - 1) / 7 }
}

/// Appends an unsigned vint.
pub fn put_unsigned_vint(out: &mut Vec<u8>, value: u64) {
    let extra = extra_bytes(value);
    let bytes = value.to_be_bytes();
    if extra == 8 {
        out.push(0xff);
        out.extend_from_slice(&bytes);
        return;
    }
    let start = out.len();
    out.extend_from_slice(&bytes[7 - extra..]);
    out[start] |= !(0xff_u16 >> extra) as u8;
}

/// Appends a signed (zig-zag) vint.
pub fn put_vint(out: &mut Vec<u8>, value: i64) {
    put_unsigned_vint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a value with its 4-byte length; null has length -1.
pub fn put_value(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        None => out.extend_from_slice(&(-1i32).to_be_bytes()),
        Some(value) => {
            // Values are bounded by the frame size, far below 2 GiB.
            let length = i32::try_from(value.len()).unwrap_or(i32::MAX);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(value);
        }
    }
}

/// A collection's serialized form: the count, then each value with its length. A map gives keys
/// and values in turn and counts entries (`CollectionSerializer.pack`).
pub fn pack_collection(count: usize, values: &[Bytes]) -> Bytes {
    let mut out = Vec::with_capacity(4 + values.iter().map(|value| value.len() + 4).sum::<usize>());
    out.extend_from_slice(&i32::try_from(count).unwrap_or(i32::MAX).to_be_bytes());
    for value in values {
        put_value(&mut out, Some(value));
    }
    out.into()
}

/// A tuple's or UDT's serialized form (`TupleType.buildValue`).
pub fn pack_tuple(values: &[Option<Bytes>]) -> Bytes {
    let mut out = Vec::with_capacity(values.iter().map(|v| 4 + v.as_ref().map_or(0, Bytes::len)).sum());
    for value in values {
        put_value(&mut out, value.as_deref());
    }
    out.into()
}

/// The values of a serialized list, set or map (keys and values in turn), as slices of it. `None`
/// when malformed.
pub fn unpack_collection(value: &Bytes, values_per_element: usize) -> Option<Vec<Bytes>> {
    let mut rest: &[u8] = value;
    let count = take_count(&mut rest)?.checked_mul(values_per_element)?;
    // A count larger than the bytes could hold is malformed and must not reserve memory.
    if count > rest.len() / 4 {
        return None;
    }
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        values.push(value.slice_ref(take_value(&mut rest)??));
    }
    rest.is_empty().then_some(values)
}

/// The fields of a serialized tuple or UDT, as slices of it; fields missing at the end are null.
/// `None` when malformed or when there are more than `fields`.
pub fn unpack_tuple(value: &Bytes, fields: usize) -> Option<Vec<Option<Bytes>>> {
    let mut rest: &[u8] = value;
    let mut values = Vec::with_capacity(fields);
    while values.len() < fields && !rest.is_empty() {
        values.push(take_value(&mut rest)?.map(|field| value.slice_ref(field)));
    }
    values.resize(fields, None);
    rest.is_empty().then_some(values)
}
