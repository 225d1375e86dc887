//! The row at which a page ended (`PagingState.RowMark`).
//!
//! Clustering values are taken as bytes whatever their types, so that a change of the schema
//! between two pages cannot garble them.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{Form, invalid, vint};
use crate::CqlError;

/// First two bytes of an old cell name that belongs to the static row (`CompositeType`).
const STATIC_MARKER: u16 = 0xffff;
/// Clustering values described by one header vint (`ClusteringPrefix.Serializer`).
const VALUES_PER_HEADER: usize = 32;

/// A row, in the form of one paging state or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowMark {
    form: Form,
    bytes: Bytes,
}

/// What a mark points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkedRow {
    /// The static row (v3 form only).
    Static,
    /// The row with this clustering: one value a clustering column, `None` for null.
    Row(Vec<Option<Bytes>>),
}

impl RowMark {
    pub(super) fn from_bytes(form: Form, bytes: Bytes) -> RowMark {
        RowMark { form, bytes }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The mark of v4 and later: the clustering alone.
    pub fn modern(clustering: &[Option<&[u8]>]) -> RowMark {
        let mut out = BytesMut::new();
        for chunk in clustering.chunks(VALUES_PER_HEADER) {
            let mut header = 0;
            for (index, value) in chunk.iter().enumerate() {
                header |= match value {
                    None => 0b10 << (2 * index),
                    Some([]) => 0b01 << (2 * index),
                    Some(_) => 0,
                };
            }
            vint::put(&mut out, header);
            for value in chunk.iter().flatten().filter(|value| !value.is_empty()) {
                vint::put(&mut out, value.len() as u64);
                out.put_slice(value);
            }
        }
        RowMark { form: Form::Modern, bytes: out.freeze() }
    }

    /// The mark of v3: the name Cassandra 2.x gave to the last cell of the row. `last_cell` is its
    /// column's name and, in a multi-cell column, its path; `None` for a row without cells (the
    /// row marker of old).
    pub fn legacy(clustering: &[Option<&[u8]>], last_cell: Option<(&str, Option<&[u8]>)>) -> RowMark {
        let mut out = BytesMut::new();
        for value in clustering {
            let Some(value) = value else {
                return RowMark { form: Form::Legacy, bytes: out.freeze() };
            };
            put_component(&mut out, value);
        }
        put_cell(&mut out, last_cell);
        RowMark { form: Form::Legacy, bytes: out.freeze() }
    }

    /// The v3 mark of a row of a compact table with one clustering column: its value alone.
    pub fn legacy_compact(value: &[u8]) -> RowMark {
        RowMark { form: Form::Legacy, bytes: Bytes::copy_from_slice(value) }
    }

    /// The row that the mark stands for in a compact table with one clustering column.
    ///
    /// # Errors
    /// As [`RowMark::row`].
    pub fn compact_row(&self) -> Result<MarkedRow, CqlError> {
        match self.form {
            Form::Modern => self.row(1),
            Form::Legacy => Ok(MarkedRow::Row(vec![Some(self.bytes.clone())])),
        }
    }

    /// The v3 mark of the static row of a table with this many clustering columns.
    pub fn legacy_static(clustering_len: usize, last_cell: Option<(&str, Option<&[u8]>)>) -> RowMark {
        let mut out = BytesMut::new();
        out.put_u16(STATIC_MARKER);
        for _ in 0..clustering_len {
            put_component(&mut out, &[]);
        }
        put_cell(&mut out, last_cell);
        RowMark { form: Form::Legacy, bytes: out.freeze() }
    }

    /// The row, in a table with this many clustering columns.
    ///
    /// # Errors
    /// `Protocol` for bytes that are no such row.
    pub fn row(&self, clustering_len: usize) -> Result<MarkedRow, CqlError> {
        if clustering_len == 0 {
            return Ok(MarkedRow::Row(Vec::new()));
        }
        match self.form {
            Form::Modern => read_modern(self.bytes.clone(), clustering_len),
            Form::Legacy => read_legacy(self.bytes.clone(), clustering_len),
        }
        .ok_or_else(invalid)
    }
}

fn put_component(out: &mut BytesMut, value: &[u8]) {
    let len = value.len().min(usize::from(u16::MAX));
    out.put_u16(len as u16);
    out.put_slice(value.get(..len).unwrap_or_default());
    out.put_u8(0);
}

fn put_cell(out: &mut BytesMut, last_cell: Option<(&str, Option<&[u8]>)>) {
    let (column, path) = last_cell.unwrap_or(("", None));
    put_component(out, column.as_bytes());
    if let Some(path) = path {
        put_component(out, path);
    }
}

fn read_modern(mut bytes: Bytes, clustering_len: usize) -> Option<MarkedRow> {
    // A value takes at least two bits of the mark.
    let mut values = Vec::with_capacity(clustering_len.min(4 * bytes.len() + VALUES_PER_HEADER));
    while values.len() < clustering_len {
        let mut header = vint::take(&mut bytes)?;
        for _ in values.len()..clustering_len.min(values.len() + VALUES_PER_HEADER) {
            values.push(match header & 0b11 {
                0b00 => {
                    let len = usize::try_from(vint::take(&mut bytes)?).ok()?;
                    Some((len <= bytes.len()).then(|| bytes.split_to(len))?)
                }
                0b01 => Some(Bytes::new()),
                _ => None,
            });
            header >>= 2;
        }
    }
    Some(MarkedRow::Row(values))
}

fn read_legacy(mut bytes: Bytes, clustering_len: usize) -> Option<MarkedRow> {
    if bytes.first_chunk::<2>().is_some_and(|head| u16::from_be_bytes(*head) == STATIC_MARKER) {
        return Some(MarkedRow::Static);
    }
    let mut values = Vec::new();
    while !bytes.is_empty() && values.len() < clustering_len {
        let len = usize::from(bytes.try_get_u16().ok()?);
        values.push(Some((len < bytes.len()).then(|| bytes.split_to(len))?));
        bytes.advance(1); // end-of-component
    }
    values.resize(clustering_len, None);
    Some(MarkedRow::Row(values))
}
