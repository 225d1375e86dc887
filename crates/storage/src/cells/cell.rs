//! One element of a multi-cell column, an entry of its own behind its row.

use basalt_model::deletion::{NO_DELETION_TIME, NO_TTL};

use super::codec::{CellKind, put_bytes, put_local_time, put_timestamp, put_unsigned, ttl};
use super::{CELL_TAG, CellData, EntryError, Reader};

const KIND_MASK: u8 = 3;
const HAS_ORIGINAL_PATH: u8 = 4;

/// A cell and, where its key does not keep them, the bytes of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellEntry<'a> {
    /// The cell.
    pub data: CellData<'a>,
    /// The path as the client wrote it, if the key gives another.
    pub original_path: Option<&'a [u8]>,
}

impl<'a> CellEntry<'a> {
    /// Reads an entry.
    ///
    /// # Errors
    /// When the bytes are not a cell.
    pub fn parse(bytes: &'a [u8]) -> Result<CellEntry<'a>, EntryError> {
        let mut reader = Reader::behind_tag(bytes, CELL_TAG)?;
        let flags = reader.byte()?;
        if flags & !(KIND_MASK | HAS_ORIGINAL_PATH) != 0 {
            return Err(EntryError::Malformed("unknown flags of a cell"));
        }
        let kind = CellKind::of(flags & KIND_MASK);
        if kind == CellKind::Counter {
            return Err(EntryError::Malformed("a counter in a multi-cell column"));
        }
        let timestamp = reader.timestamp()?;
        let (mut ttl_s, mut local_deletion_time_s) = (NO_TTL, NO_DELETION_TIME);
        if kind != CellKind::Live {
            local_deletion_time_s = reader.local_time()?;
        }
        if kind == CellKind::Expiring {
            ttl_s = ttl(reader.unsigned()?)?;
        }
        let original_path = if flags & HAS_ORIGINAL_PATH != 0 { Some(reader.bytes()?) } else { None };
        let value = reader.rest();
        if kind == CellKind::Tombstone && (!value.is_empty() || local_deletion_time_s == NO_DELETION_TIME) {
            return Err(EntryError::Malformed("not a cell tombstone"));
        }
        Ok(CellEntry {
            data: CellData { timestamp, ttl_s, local_deletion_time_s, value, is_counter: false },
            original_path,
        })
    }

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let kind = self.data.kind();
        out.push(CELL_TAG);
        out.push(kind as u8 | if self.original_path.is_some() { HAS_ORIGINAL_PATH } else { 0 });
        put_timestamp(self.data.timestamp, out);
        if kind != CellKind::Live {
            put_local_time(self.data.local_deletion_time_s, out);
        }
        if kind == CellKind::Expiring {
            put_unsigned(u64::from(self.data.ttl_s.unsigned_abs()), out);
        }
        if let Some(path) = self.original_path {
            put_bytes(path, out);
        }
        out.extend_from_slice(self.data.value);
    }
}
