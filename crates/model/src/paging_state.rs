//! Where a page ended, as the client carries it to the next request (v5 §7,
//! `service/pager/PagingState`). docs/formats/paging-state.md draws the bytes.
//!
//! Two forms exist: the one of v3 (short lengths, the row as an old cell name) and the one of v4
//! and later (vint lengths, the row as its clustering). A client may bring either to any version.

mod row_mark;
mod vint;

pub use row_mark::{MarkedRow, RowMark};

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::CqlError;

/// Which of the two forms a paging state has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Version 3.
    Legacy,
    /// Version 4 and later.
    Modern,
}

impl Form {
    /// The form that a connection of this version writes.
    pub fn of(protocol_version: u8) -> Form {
        if protocol_version >= 4 { Form::Modern } else { Form::Legacy }
    }
}

/// A decoded paging state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagingState {
    /// The form it came in, or will be written in; that of its row mark, too.
    pub form: Form,
    /// Serialized partition key of the last row; `None` where only one partition is read. Never
    /// empty: empty and absent are the same bytes.
    pub partition_key: Option<Bytes>,
    /// The last row; `None` if the page ended with its partition.
    pub row_mark: Option<RowMark>,
    /// Rows still wanted in all, at least 0.
    pub remaining: i32,
    /// Rows still wanted of this partition, at least 0.
    pub remaining_in_partition: i32,
}

fn invalid() -> CqlError {
    CqlError::protocol("Invalid value for the paging state")
}

fn non_empty(bytes: Bytes) -> Option<Bytes> {
    (!bytes.is_empty()).then_some(bytes)
}

impl PagingState {
    /// Appends the state's bytes, without a length of their own.
    pub fn append(&self, out: &mut BytesMut) {
        let key = self.partition_key.as_deref().unwrap_or_default();
        let mark = self.row_mark.as_ref().map(RowMark::bytes).unwrap_or_default();
        match self.form {
            Form::Legacy => {
                for part in [key, mark] {
                    // Keys and clusterings are at most 65,535 bytes in all; sent as they are here.
                    let len = part.len().min(usize::from(u16::MAX));
                    out.put_u16(len as u16);
                    out.put_slice(part.get(..len).unwrap_or_default());
                }
                out.put_i32(self.remaining);
                out.put_i32(self.remaining_in_partition);
            }
            Form::Modern => {
                for part in [key, mark] {
                    vint::put(out, part.len() as u64);
                    out.put_slice(part);
                }
                vint::put(out, u64::from(self.remaining.max(0).cast_unsigned()));
                vint::put(out, u64::from(self.remaining_in_partition.max(0).cast_unsigned()));
            }
        }
    }

    /// The state's bytes.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(32);
        self.append(&mut out);
        out.freeze()
    }

    /// Reads a state a client brought, trying the version's own form first.
    ///
    /// # Errors
    /// When the bytes are neither form.
    pub fn decode(bytes: &Bytes, protocol_version: u8) -> Result<PagingState, CqlError> {
        let (modern, legacy) = (|| decode_modern(bytes.clone()), || decode_legacy(bytes.clone()));
        match Form::of(protocol_version) {
            Form::Modern => modern().or_else(legacy),
            Form::Legacy => legacy().or_else(modern),
        }
        .ok_or_else(invalid)
    }
}

/// Reads the v4 form; `None` unless all of `bytes` is one.
fn decode_modern(mut bytes: Bytes) -> Option<PagingState> {
    let mut part = || {
        let len = i32::try_from(vint::take(&mut bytes)?).ok()?;
        let len = usize::try_from(len).ok()?;
        (len < bytes.len()).then(|| bytes.split_to(len))
    };
    let (key, mark) = (part()?, part()?);
    let remaining = i32::try_from(vint::take(&mut bytes)?).ok()?;
    let remaining_in_partition = i32::try_from(vint::take(&mut bytes)?).ok()?;
    bytes.is_empty().then(|| PagingState {
        form: Form::Modern,
        partition_key: non_empty(key),
        row_mark: non_empty(mark).map(|mark| RowMark::from_bytes(Form::Modern, mark)),
        remaining,
        remaining_in_partition,
    })
}

/// Reads the v3 form; `None` unless all of `bytes` is one. Cassandra 2.1 and 2.2 left the last
/// field out: everything is wanted then.
fn decode_legacy(mut bytes: Bytes) -> Option<PagingState> {
    let mut part = || {
        let len = usize::try_from(bytes.try_get_i16().ok()?).ok()?;
        (len <= bytes.len()).then(|| bytes.split_to(len))
    };
    let (key, mark) = (part()?, part()?);
    let count = |bytes: &mut Bytes| bytes.try_get_i32().ok().filter(|count| *count >= 0);
    let remaining = count(&mut bytes)?;
    let remaining_in_partition = if bytes.is_empty() { i32::MAX } else { count(&mut bytes)? };
    bytes.is_empty().then(|| PagingState {
        form: Form::Legacy,
        partition_key: non_empty(key),
        row_mark: non_empty(mark).map(|mark| RowMark::from_bytes(Form::Legacy, mark)),
        remaining,
        remaining_in_partition,
    })
}

#[cfg(test)]
mod tests;
