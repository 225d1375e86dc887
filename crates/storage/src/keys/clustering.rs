//! Where a clustering, and a clustering bound, becomes bytes and is read back
//! (`ClusteringComparator.asByteComparable`).
//!
//! Each component has a separator before it: [`NEXT_COMPONENT`] and the value's ordered bytes
//! (inverted if the column is descending), or one of three others for a value without bytes. Then
//! one byte ends them: [`TERMINATOR`] a row's clustering, [`BEFORE_PREFIX`] or [`AFTER_PREFIX`] a
//! bound, which so lies before or after everything that has its prefix.

use basalt_model::schema::ClusteringOrder;
use basalt_model::{Bound, BoundKind, Clustering, DataType, Table};
use bytes::Bytes;
use smallvec::SmallVec;

use super::byte_comparable::{
    AFTER_PREFIX, BEFORE_PREFIX, Encoded, Input, KeyError, NEXT_COMPONENT, NEXT_COMPONENT_EMPTY,
    NEXT_COMPONENT_EMPTY_REVERSED, NEXT_COMPONENT_NULL, TERMINATOR, decode, encode, is_escaped,
    may_lose_bytes,
};
use super::is_too_long;

/// Values that decoding does not give back as they were: index of the component and its bytes.
pub type Originals = SmallVec<[(u16, Bytes); 1]>;

/// Appends a row's clustering; answers the components whose bytes the key does not keep.
///
/// # Errors
/// When a value is not one of its column's type, or their number is not the table's.
pub fn append_clustering(
    table: &Table,
    clustering: &Clustering,
    out: &mut Vec<u8>,
) -> Result<Originals, KeyError> {
    if clustering.len() != table.clustering_count {
        return Err(KeyError::Malformed("a clustering with the wrong number of components"));
    }
    let originals = append_components(table, clustering, out)?;
    out.push(TERMINATOR);
    Ok(originals)
}

/// Appends a bound: a position before or after all rows that begin with its prefix.
///
/// # Errors
/// As [`append_clustering`].
pub fn append_bound(table: &Table, bound: &Bound, out: &mut Vec<u8>) -> Result<Originals, KeyError> {
    if bound.prefix.len() > table.clustering_count {
        return Err(KeyError::Malformed("a bound with too many components"));
    }
    let originals = append_components(table, &bound.prefix, out)?;
    out.push(if bound.kind.is_after_prefix() { AFTER_PREFIX } else { BEFORE_PREFIX });
    Ok(originals)
}

fn append_components(
    table: &Table,
    clustering: &Clustering,
    out: &mut Vec<u8>,
) -> Result<Originals, KeyError> {
    let mut originals = Originals::new();
    for (index, (column, value)) in table.clustering().iter().zip(&clustering.0).enumerate() {
        let is_reversed = column.order == ClusteringOrder::Desc;
        let Some(value) = value else {
            out.push(NEXT_COMPONENT_NULL);
            continue;
        };
        if is_too_long(&column.data_type, value) {
            return Err(KeyError::Malformed("a clustering value is too long"));
        }
        let separator_at = out.len();
        out.push(NEXT_COMPONENT);
        let start = out.len();
        // What is looked for may have more bytes, because hexadecimal constants stand for a tinyint: the first counts.
        let length = if column.data_type == DataType::TinyInt { value.len().min(1) } else { value.len() };
        match encode(&column.data_type, &value[..length], out)? {
            Encoded::Empty => {
                out[separator_at] =
                    if is_reversed { NEXT_COMPONENT_EMPTY_REVERSED } else { NEXT_COMPONENT_EMPTY };
            }
            Encoded::Bytes => {
                if may_lose_bytes(&column.data_type) {
                    let mut decoded = Vec::with_capacity(value.len());
                    decode(&column.data_type, &mut Input::new(&out[start..]), &mut decoded)?;
                    if decoded != *value {
                        originals.push((index as u16, value.clone()));
                    }
                }
                if is_reversed {
                    out[start..].iter_mut().for_each(|byte| *byte ^= 0xFF);
                }
            }
        }
    }
    Ok(originals)
}

/// Takes a row's clustering from the start of `bytes`; answers it and how many bytes it took.
///
/// # Errors
/// When there is none.
pub fn decode_clustering(table: &Table, bytes: &[u8]) -> Result<(Clustering, usize), KeyError> {
    let mut input = Input::new(bytes);
    let (clustering, end) = take_components(table, &mut input)?;
    if end != TERMINATOR || clustering.len() != table.clustering_count {
        return Err(KeyError::Malformed("not a clustering"));
    }
    Ok((clustering, input.position()))
}

/// The bound that `bytes` stand for, a start or an end.
///
/// # Errors
/// When they are none.
pub fn decode_bound(table: &Table, bytes: &[u8], is_start: bool) -> Result<Bound, KeyError> {
    let mut input = Input::new(bytes);
    let (prefix, end) = take_components(table, &mut input)?;
    let kind = match (end, is_start) {
        (BEFORE_PREFIX, true) => BoundKind::InclusiveStart,
        (BEFORE_PREFIX, false) => BoundKind::ExclusiveEnd,
        (AFTER_PREFIX, true) => BoundKind::ExclusiveStart,
        (AFTER_PREFIX, false) => BoundKind::InclusiveEnd,
        _ => return Err(KeyError::Malformed("not a bound")),
    };
    if !input.rest().is_empty() {
        return Err(KeyError::Malformed("bytes behind a bound"));
    }
    Ok(Bound { kind, prefix })
}

/// Takes components up to the byte that ends them, and that byte.
fn take_components(table: &Table, input: &mut Input<'_>) -> Result<(Clustering, u8), KeyError> {
    let mut values = Vec::new();
    let mut ends: SmallVec<[Option<usize>; 4]> = SmallVec::new();
    let mut columns = table.clustering().iter();
    let end = loop {
        let separator = input.take_byte()?;
        if matches!(separator, TERMINATOR | BEFORE_PREFIX | AFTER_PREFIX) {
            break separator;
        }
        let column = columns.next().ok_or(KeyError::Malformed("too many components"))?;
        let is_reversed = column.order == ClusteringOrder::Desc;
        match separator {
            NEXT_COMPONENT_NULL => {
                ends.push(None);
                continue;
            }
            NEXT_COMPONENT => {
                input.set_inverted(is_reversed);
                decode(&column.data_type, input, &mut values)?;
                input.set_inverted(false);
            }
            // Where a value without bytes has an encoding, it has no separator of its own.
            _ if is_escaped(&column.data_type) => return Err(KeyError::Malformed("not a separator")),
            NEXT_COMPONENT_EMPTY if !is_reversed => {}
            NEXT_COMPONENT_EMPTY_REVERSED if is_reversed => {}
            _ => return Err(KeyError::Malformed("not a separator")),
        }
        ends.push(Some(values.len()));
    };
    let values = Bytes::from(values);
    let mut start = 0;
    let component = |end: Option<usize>| end.map(|end| values.slice(std::mem::replace(&mut start, end)..end));
    Ok((Clustering(ends.into_iter().map(component).collect()), end))
}

#[cfg(test)]
mod tests;
