//! Values of the engine: what stands behind a key. Drawn byte by byte in `docs/formats/entries.md`.
//!
//! The first byte of each value is its tag, so that values merge without their keys. Parsing
//! copies nothing and answers garbage with an error. Knows no table: columns are ids here.

mod cell;
mod codec;
mod head;
mod plain;
mod purge;
mod range_tombstone;
mod row;

use basalt_model::Deletion;

pub use cell::CellEntry;
pub use codec::{CellData, Reader};
pub use head::HeadEntry;
pub use plain::PlainRow;
pub use purge::PurgeEntry;
pub use range_tombstone::{Covered, RangeTombstoneEntry, push_original};
pub use row::{CellIter, RowEntry, RowParts};

/// Tag of a partition's head: kind 1, version 1.
pub const HEAD_TAG: u8 = 0x11;
/// Tag of a row, static or not: kind 2, version 1.
pub const ROW_TAG: u8 = 0x12;
/// Tag of a cell of a multi-cell column: kind 3, version 1.
pub const CELL_TAG: u8 = 0x13;
/// Tag of range tombstones that start at one bound: kind 4, version 1.
pub const RANGE_TOMBSTONE_TAG: u8 = 0x14;
/// Tag of a purge, an operand that takes out instead of adding: kind 5, version 1.
pub const PURGE_TAG: u8 = 0x15;

/// Write times are stored as distances from 2025-01-01T00:00:00Z, microseconds: one byte shorter
/// for some years than from 1970.
pub const TIMESTAMP_EPOCH: i64 = 1_735_689_600_000_000;

/// Local times are stored as distances from the same moment, seconds.
pub const LOCAL_TIME_EPOCH_S: i64 = TIMESTAMP_EPOCH / 1_000_000;

/// Why bytes are not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// No tag, or one this version does not know.
    #[error("unknown entry tag {0:#04x}")]
    UnknownTag(u8),
    /// The tag is known, what follows does not fit it.
    #[error("malformed entry: {0}")]
    Malformed(&'static str),
}

/// How two deletions are ordered (`DeletionTime.supersedes`): the larger wins.
pub(crate) fn deletion_rank(deletion: Deletion) -> (i64, i64) {
    (deletion.timestamp, deletion.local_time_s)
}
