//! Writes a Rows result straight into an envelope's body, cell by cell (v5 §4.2.5.2).
//!
//! How many rows there are, and whether more pages follow, is only known at the end: the count is
//! filled in then, and a paging state, which stands before the columns, is moved in.

use bytes::{BufMut, BytesMut};

use super::ROWS;
use super::metadata::{EncodedColumns, HAS_MORE_PAGES, METADATA_CHANGED, NO_METADATA};
use crate::primitives::put_short_bytes;

/// What is known before the first row.
#[derive(Clone, Copy, Debug)]
pub struct RowsHead<'a> {
    /// The columns, encoded for the connection's version.
    pub columns: &'a EncodedColumns,
    /// Whether the client asked to do without them and holds what is current. Ignored when
    /// `new_metadata_id` is set: the two exclude each other (v5 §4.2.5.2).
    pub skip_metadata: bool,
    /// The id of the current metadata, if the client's is another (v5 only, EXECUTE only;
    /// `ExecuteMessage.execute` has the rules).
    pub new_metadata_id: Option<&'a [u8]>,
}

/// A Rows result in the making. Dropped without [`RowsWriter::finish`], it leaves a broken body.
#[derive(Debug)]
pub struct RowsWriter<'a> {
    out: &'a mut BytesMut,
    flags: u32,
    flags_at: usize,
    count_at: usize,
    rows: i32,
}

impl<'a> RowsWriter<'a> {
    /// Writes all that stands before the rows.
    pub fn begin(out: &'a mut BytesMut, head: RowsHead<'_>) -> RowsWriter<'a> {
        let mut flags = head.columns.flags();
        if head.new_metadata_id.is_some() {
            flags |= METADATA_CHANGED;
        } else if head.skip_metadata {
            flags |= NO_METADATA;
        }
        out.put_i32(ROWS);
        let flags_at = out.len();
        out.put_u32(flags);
        out.put_i32(head.columns.count());
        if let Some(id) = head.new_metadata_id {
            put_short_bytes(out, id);
        }
        if flags & NO_METADATA == 0 {
            out.put_slice(head.columns.bytes());
        }
        let count_at = out.len();
        out.put_i32(0);
        RowsWriter { out, flags, flags_at, count_at, rows: 0 }
    }

    /// Appends the next value of the row; `None` is null. Values are shorter than 2 GiB: they were
    /// read from a request or a row, both of which are bounded far below.
    pub fn cell(&mut self, value: Option<&[u8]>) {
        crate::primitives::put_bytes(self.out, value);
    }

    /// Appends a value in parts, for values that lie in several slices; `len` is their sum.
    pub fn cell_parts<'p>(&mut self, len: usize, parts: impl IntoIterator<Item = &'p [u8]>) {
        self.out.put_i32(i32::try_from(len).unwrap_or(i32::MAX));
        let start = self.out.len();
        for part in parts {
            self.out.put_slice(part);
        }
        debug_assert_eq!(self.out.len() - start, len);
    }

    /// Counts the row whose values were just appended.
    pub fn end_row(&mut self) {
        self.rows = self.rows.saturating_add(1);
    }

    /// Appends rows whose values stand behind their lengths already, in any number of parts.
    pub fn packed<'p>(&mut self, rows: usize, parts: impl IntoIterator<Item = &'p [u8]>) {
        for part in parts {
            self.out.put_slice(part);
        }
        self.rows = self.rows.saturating_add(i32::try_from(rows).unwrap_or(i32::MAX));
    }

    /// Rows ended so far.
    pub fn rows(&self) -> i32 {
        self.rows
    }

    /// Bytes written since the count of rows: what the rows take.
    pub fn content_len(&self) -> usize {
        self.out.len() - self.count_at - 4
    }

    /// Completes the result; with a paging state if there are more pages. The number of rows.
    pub fn finish(self, paging_state: Option<&[u8]>) -> i32 {
        let RowsWriter { out, mut flags, flags_at, count_at, rows } = self;
        patch(out, count_at, rows.to_be_bytes());
        if let Some(state) = paging_state {
            flags |= HAS_MORE_PAGES;
            insert_bytes(out, flags_at + 8, state);
        }
        patch(out, flags_at, flags.to_be_bytes());
        rows
    }
}

fn patch(out: &mut BytesMut, at: usize, bytes: [u8; 4]) {
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&bytes);
    }
}

/// Inserts a `[bytes]`, moving what follows.
fn insert_bytes(out: &mut BytesMut, at: usize, value: &[u8]) {
    let end = out.len();
    out.put_bytes(0, 4 + value.len());
    out.copy_within(at..end, at + 4 + value.len());
    let len = i32::try_from(value.len()).unwrap_or(i32::MAX);
    patch(out, at, len.to_be_bytes());
    if let Some(place) = out.get_mut(at + 4..at + 4 + value.len()) {
        place.copy_from_slice(value);
    }
}
