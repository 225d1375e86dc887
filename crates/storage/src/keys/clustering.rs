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
    let mut components = Components::of(table, bytes);
    let (clustering, end) = take_components(&mut components)?;
    if end != TERMINATOR || clustering.len() != table.clustering_count {
        return Err(KeyError::Malformed("not a clustering"));
    }
    Ok((clustering, components.input.position()))
}

/// The bound that `bytes` stand for, a start or an end.
///
/// # Errors
/// When they are none.
pub fn decode_bound(table: &Table, bytes: &[u8], is_start: bool) -> Result<Bound, KeyError> {
    let mut components = Components::of(table, bytes);
    let (prefix, end) = take_components(&mut components)?;
    let kind = match (end, is_start) {
        (BEFORE_PREFIX, true) => BoundKind::InclusiveStart,
        (BEFORE_PREFIX, false) => BoundKind::ExclusiveEnd,
        (AFTER_PREFIX, true) => BoundKind::ExclusiveStart,
        (AFTER_PREFIX, false) => BoundKind::InclusiveEnd,
        _ => return Err(KeyError::Malformed("not a bound")),
    };
    if !components.input.rest().is_empty() {
        return Err(KeyError::Malformed("bytes behind a bound"));
    }
    Ok(Bound { kind, prefix })
}

/// Takes components up to the byte that ends them, and that byte.
fn take_components(components: &mut Components<'_>) -> Result<(Clustering, u8), KeyError> {
    let mut values = Vec::new();
    let mut ends: SmallVec<[Option<usize>; 4]> = SmallVec::new();
    let end = loop {
        match components.next(&mut values)? {
            Component::Value => ends.push(Some(values.len())),
            Component::Absent => ends.push(None),
            Component::End(end) => break end,
        }
    };
    let values = Bytes::from(values);
    let mut start = 0;
    let component = |end: Option<usize>| end.map(|end| values.slice(std::mem::replace(&mut start, end)..end));
    Ok((Clustering(ends.into_iter().map(component).collect()), end))
}

/// What comes next in an encoded clustering or bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// A value.
    Value,
    /// A column without one.
    Absent,
    /// The byte behind the last.
    End(u8),
}

/// The components of an encoded clustering or bound, one after the other.
pub struct Components<'a> {
    table: &'a Table,
    input: Input<'a>,
    at: usize,
}

impl<'a> Components<'a> {
    /// Of these bytes.
    pub fn of(table: &'a Table, bytes: &'a [u8]) -> Components<'a> {
        Components { table, input: Input::new(bytes), at: 0 }
    }

    /// How many were taken.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Takes the next one and appends its value.
    ///
    /// # Errors
    /// When there is none.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Result<Component, KeyError> {
        let separator = self.input.take_byte()?;
        if matches!(separator, TERMINATOR | BEFORE_PREFIX | AFTER_PREFIX) {
            return Ok(Component::End(separator));
        }
        let column =
            self.table.clustering().get(self.at).ok_or(KeyError::Malformed("too many components"))?;
        self.at += 1;
        let is_reversed = column.order == ClusteringOrder::Desc;
        match separator {
            NEXT_COMPONENT_NULL => return Ok(Component::Absent),
            NEXT_COMPONENT => {
                self.input.set_inverted(is_reversed);
                decode(&column.data_type, &mut self.input, out)?;
                self.input.set_inverted(false);
            }
            // Where a value without bytes has an encoding, it has no separator of its own.
            _ if is_escaped(&column.data_type) => return Err(KeyError::Malformed("not a separator")),
            NEXT_COMPONENT_EMPTY if !is_reversed => {}
            NEXT_COMPONENT_EMPTY_REVERSED if is_reversed => {}
            _ => return Err(KeyError::Malformed("not a separator")),
        }
        Ok(Component::Value)
    }
}

#[cfg(test)]
mod tests;
