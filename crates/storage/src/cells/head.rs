//! The head of a partition: its deletion, and whether it has range tombstones.

use basalt_model::Deletion;

use super::codec::put_deletion;
use super::{EntryError, HEAD_TAG, Reader};

const HAS_DELETION: u8 = 1;
const HAS_RANGE_TOMBSTONES: u8 = 2;

/// A partition's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadEntry {
    /// Deletion of the partition, static row included; `LIVE` for none.
    pub deletion: Deletion,
    /// Whether range tombstones were ever written: else nobody looks for them.
    pub has_range_tombstones: bool,
}

impl HeadEntry {
    /// Of a partition without head.
    pub const NONE: HeadEntry = HeadEntry { deletion: Deletion::LIVE, has_range_tombstones: false };

    /// Reads an entry.
    ///
    /// # Errors
    /// When the bytes are not a head.
    pub fn parse(bytes: &[u8]) -> Result<HeadEntry, EntryError> {
        let mut reader = Reader::behind_tag(bytes, HEAD_TAG)?;
        let flags = reader.byte()?;
        if flags & !(HAS_DELETION | HAS_RANGE_TOMBSTONES) != 0 {
            return Err(EntryError::Malformed("unknown flags of a head"));
        }
        let deletion = if flags & HAS_DELETION != 0 { reader.deletion()? } else { Deletion::LIVE };
        if !reader.is_empty() {
            return Err(EntryError::Malformed("bytes behind a head"));
        }
        Ok(HeadEntry { deletion, has_range_tombstones: flags & HAS_RANGE_TOMBSTONES != 0 })
    }

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let has_deletion = !self.deletion.is_live();
        out.push(HEAD_TAG);
        out.push(
            if has_deletion { HAS_DELETION } else { 0 }
                | if self.has_range_tombstones { HAS_RANGE_TOMBSTONES } else { 0 },
        );
        if has_deletion {
            put_deletion(self.deletion, out);
        }
    }
}
