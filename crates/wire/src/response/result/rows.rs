//! The Rows result as a client holds it (v5 §4.2.5.2): metadata decoded, cells still in the body.

use bytes::{BufMut, Bytes, BytesMut};

use super::{ROWS, RowsMetadata};
use crate::primitives::Reader;
use crate::{ProtocolVersion, Result, WireError};

/// A page of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Columns and paging.
    pub metadata: RowsMetadata,
    /// Number of rows.
    pub row_count: i32,
    /// `<rows_content>`: `row_count` times `column_count` `[bytes]`.
    pub content: Bytes,
}

impl Rows {
    /// The values, row by row, as slices of the body. Ends after a value that cannot be read.
    pub fn cells(&self) -> impl Iterator<Item = Result<Option<Bytes>>> {
        let rows = u64::try_from(self.row_count).unwrap_or(0);
        let columns = u64::try_from(self.metadata.column_count).unwrap_or(0);
        let mut left = rows * columns;
        let mut body = Reader::new(self.content.clone());
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let cell = body.bytes();
            if cell.is_err() {
                left = 0;
            }
            Some(cell)
        })
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_i32(ROWS);
        self.metadata.append(version, out);
        out.put_i32(self.row_count);
        out.put_slice(&self.content);
    }

    pub(super) fn decode(version: ProtocolVersion, mut body: Reader) -> Result<Rows> {
        let metadata = RowsMetadata::decode(version, &mut body)?;
        let row_count = body.i32()?;
        if row_count < 0 || metadata.column_count < 0 {
            return Err(WireError::protocol(format!("Invalid number of rows {row_count}")));
        }
        Ok(Rows { metadata, row_count, content: body.into_rest() })
    }
}
