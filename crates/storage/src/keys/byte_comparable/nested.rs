//! Values made of values: frozen lists, sets and maps, tuples, UDTs, vectors
//! (`CollectionType`, `MapType`, `TupleType`, `VectorType`; `ByteSource.Multi`).
//!
//! Each part has [`NEXT_COMPONENT`] before it, or [`NEXT_COMPONENT_NULL`] alone when it is null or
//! has no bytes; [`TERMINATOR`] ends them.

use basalt_model::DataType;

use super::{Encoded, Input, KeyError, NEXT_COMPONENT, NEXT_COMPONENT_NULL, TERMINATOR, decode, encode};

/// Serialized parts, each with a 4-byte length; a negative one is null.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    /// Fewer elements than none are none: Cassandra takes such bytes for a descending column (the original is kept).
    fn count(&mut self) -> Result<usize, KeyError> {
        Ok(usize::try_from(self.int()?).unwrap_or(0))
    }

    fn int(&mut self) -> Result<i32, KeyError> {
        let (bytes, rest) =
            self.0.split_first_chunk::<4>().ok_or(KeyError::Malformed("a length is cut off"))?;
        self.0 = rest;
        Ok(i32::from_be_bytes(*bytes))
    }

    fn next(&mut self) -> Result<Option<&'a [u8]>, KeyError> {
        let Ok(length) = usize::try_from(self.int()?) else { return Ok(None) };
        let (part, rest) =
            self.0.split_at_checked(length).ok_or(KeyError::Malformed("an element is cut off"))?;
        self.0 = rest;
        Ok(Some(part))
    }
}

fn encode_part(data_type: &DataType, part: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let at = out.len();
    out.push(NEXT_COMPONENT);
    let encoded = match part {
        Some(part) => encode(data_type, part, out)?,
        None => Encoded::Empty,
    };
    if encoded == Encoded::Empty {
        out.truncate(at);
        out.push(NEXT_COMPONENT_NULL);
    }
    Ok(())
}

/// Takes a separator and the part behind it, and appends the part with its length; `false` at the
/// terminator.
fn decode_part(data_type: &DataType, input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<bool, KeyError> {
    match input.take_byte()? {
        TERMINATOR => return Ok(false),
        NEXT_COMPONENT_NULL => out.extend_from_slice(&(-1i32).to_be_bytes()),
        NEXT_COMPONENT => {
            let length_at = out.len();
            out.extend_from_slice(&[0; 4]);
            decode(data_type, input, out)?;
            let length = i32::try_from(out.len() - length_at - 4)
                .map_err(|_| KeyError::Malformed("an element beyond 2 GiB"))?;
            out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
        }
        _ => return Err(KeyError::Malformed("not a separator")),
    }
    Ok(true)
}

pub fn encode_list(element: &DataType, value: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let mut parts = Parts(value);
    for _ in 0..parts.count()? {
        encode_part(element, parts.next()?, out)?;
    }
    out.push(TERMINATOR);
    Ok(())
}

pub fn decode_list(element: &DataType, input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let count_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0u32;
    while decode_part(element, input, out)? {
        count += 1;
    }
    out[count_at..count_at + 4].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

pub fn encode_map(
    key: &DataType,
    value_type: &DataType,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let mut parts = Parts(value);
    for _ in 0..parts.count()? {
        encode_part(key, parts.next()?, out)?;
        encode_part(value_type, parts.next()?, out)?;
    }
    out.push(TERMINATOR);
    Ok(())
}

pub fn decode_map(
    key: &DataType,
    value_type: &DataType,
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let count_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0u32;
    while decode_part(key, input, out)? {
        if !decode_part(value_type, input, out)? {
            return Err(KeyError::Malformed("a map key without value"));
        }
        count += 1;
    }
    out[count_at..count_at + 4].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// Nulls at the end are left out: a tuple that ends early equals one that says so.
pub fn encode_tuple<'t>(
    types: impl Iterator<Item = &'t DataType>,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let mut parts = Parts(value);
    let mut end = out.len();
    for data_type in types {
        if parts.0.is_empty() {
            break;
        }
        let part = parts.next()?;
        encode_part(data_type, part, out)?;
        if part.is_some() {
            end = out.len();
        }
    }
    out.truncate(end);
    out.push(TERMINATOR);
    Ok(())
}

/// As many fields as were encoded: a tuple that was written before its type got more of them ends
/// where it ended then. One of nulls alone has one field, whatever its type has got since, for without any it
/// would be a value without bytes, which is another one.
pub fn decode_tuple<'t>(
    types: impl Iterator<Item = &'t DataType>,
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let start = out.len();
    for data_type in types {
        if !decode_part(data_type, input, out)? {
            if out.len() == start {
                out.extend_from_slice(&(-1i32).to_be_bytes());
            }
            return Ok(());
        }
    }
    if input.take_byte()? != TERMINATOR {
        return Err(KeyError::Malformed("a tuple with too many fields"));
    }
    Ok(())
}

/// Elements of one length stand side by side; others each have their length as a vint
/// (`VIntCoding`, the same code as [`super::encode_unsigned`]) before them.
pub fn encode_vector(
    element: &DataType,
    dimension: u32,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let mut rest = value;
    for _ in 0..dimension {
        let length = match element.fixed_length() {
            Some(length) => length,
            None => {
                let mut input = Input::new(rest);
                let length = super::decode_unsigned(&mut input)?;
                rest = input.rest();
                usize::try_from(length).map_err(|_| KeyError::Malformed("a length beyond all memory"))?
            }
        };
        let (part, more) =
            rest.split_at_checked(length).ok_or(KeyError::Malformed("an element is cut off"))?;
        rest = more;
        encode_part(element, Some(part), out)?;
    }
    if !rest.is_empty() {
        return Err(KeyError::Malformed("a vector with too many elements"));
    }
    out.push(TERMINATOR);
    Ok(())
}

pub fn decode_vector(
    element: &DataType,
    dimension: u32,
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let mut part = Vec::new();
    for _ in 0..dimension {
        part.clear();
        match input.take_byte()? {
            NEXT_COMPONENT => decode(element, input, &mut part)?,
            NEXT_COMPONENT_NULL => {}
            _ => return Err(KeyError::Malformed("a vector with too few elements")),
        }
        if element.fixed_length().is_none() {
            super::encode_unsigned(part.len() as u64, out);
        }
        out.extend_from_slice(&part);
    }
    match input.take_byte()? {
        TERMINATOR => Ok(()),
        _ => Err(KeyError::Malformed("a vector with too many elements")),
    }
}
