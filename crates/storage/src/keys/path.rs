//! The tail of a cell's key: which column, which element of it.
//!
//! The column's id is an unsigned integer in order-preserving form; the path is one component:
//! the element of a set, the key of a map, the timeuuid of a list, the field of a UDT.

use basalt_model::{ColumnId, DataType};
use bytes::Bytes;

use super::byte_comparable::{
    Encoded, Input, KeyError, NEXT_COMPONENT, NEXT_COMPONENT_EMPTY, decode, decode_unsigned, encode,
    encode_unsigned, may_lose_bytes,
};
use super::is_too_long;

/// The type that orders the paths of a multi-cell column (`CollectionType.nameComparator`,
/// `UserType.nameComparator`); `None` for a column without paths.
pub fn path_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::List { .. } => Some(DataType::TimeUuid),
        DataType::Set { element, .. } => Some((**element).clone()),
        DataType::Map { key, .. } => Some((**key).clone()),
        DataType::Udt { .. } => Some(DataType::SmallInt),
        _ => None,
    }
}

/// Appends a column's id: what the keys of all its cells in a row go on with.
pub fn append_column(column: ColumnId, out: &mut Vec<u8>) {
    encode_unsigned(u64::from(column.0), out);
}

/// Takes a column's id.
///
/// # Errors
/// When there is none.
pub fn take_column(input: &mut Input<'_>) -> Result<ColumnId, KeyError> {
    let id = decode_unsigned(input)?;
    u32::try_from(id).map(ColumnId).map_err(|_| KeyError::Malformed("not a column id"))
}

/// Appends a path; answers whether its bytes must be kept beside the key.
///
/// # Errors
/// When it is not a value of the type.
pub fn append_path(path_type: &DataType, path: &[u8], out: &mut Vec<u8>) -> Result<bool, KeyError> {
    if is_too_long(path_type, path) {
        return Err(KeyError::Malformed("a path is too long"));
    }
    let separator_at = out.len();
    out.push(NEXT_COMPONENT);
    if encode(path_type, path, out)? == Encoded::Empty {
        out[separator_at] = NEXT_COMPONENT_EMPTY;
        return Ok(false);
    }
    if !may_lose_bytes(path_type) {
        return Ok(false);
    }
    let mut decoded = Vec::with_capacity(path.len());
    decode(path_type, &mut Input::new(&out[separator_at + 1..]), &mut decoded)?;
    Ok(decoded != path)
}

/// Reads back a path, all that `input` still holds.
///
/// # Errors
/// When it is none.
pub fn take_path(path_type: &DataType, input: &mut Input<'_>) -> Result<Bytes, KeyError> {
    let mut path = Vec::new();
    match input.take_byte()? {
        NEXT_COMPONENT => decode(path_type, input, &mut path)?,
        NEXT_COMPONENT_EMPTY => {}
        _ => return Err(KeyError::Malformed("not a path")),
    }
    if !input.rest().is_empty() {
        return Err(KeyError::Malformed("bytes behind a path"));
    }
    Ok(Bytes::from(path))
}
