//! How two versions of an entry become one, exactly as Cassandra's (`Cells.reconcile`,
//! `Row.Merger`, `LivenessInfo.supersedes`, `DeletionTime.supersedes`).
//!
//! Everything here is a choice of the larger in a total order, so that the result does not depend
//! on order, grouping or repetition. Nothing here knows a clock: what has expired stays what it is.
//!
//! Counters are the exception: their merged value has one time, the latest. Which of them a row's deletion
//! still takes away depends on what was folded before it came, in Cassandra as here.

mod cell;
mod counter;
mod row;

use smallvec::SmallVec;

use crate::cells::{
    CELL_TAG, CellEntry, EntryError, HEAD_TAG, HeadEntry, RANGE_TOMBSTONE_TAG, ROW_TAG, RangeTombstoneEntry,
    RowEntry,
};

pub use cell::{liveness_supersedes, reconcile};
pub use row::{MergedRow, shadow};

/// Why entries do not merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// One of them is no entry.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// They are of different kinds.
    #[error("entries of kinds {0:#04x} and {1:#04x} under one key")]
    Kinds(u8, u8),
    /// There is none.
    #[error("nothing to merge")]
    Nothing,
}

/// Folds `operands`, any number in any order, into `existing`.
///
/// The result does not depend on order, grouping or repetition, so that an engine may fold
/// whichever it meets first: a partial merge is this function without `existing`.
///
/// # Errors
/// When bytes are not entries, or entries of different kinds.
pub fn merge(existing: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let mut versions: SmallVec<[&[u8]; 4]> = SmallVec::with_capacity(operands.len() + 1);
    versions.extend(existing);
    versions.extend_from_slice(operands);
    let tag_of = |version: &[u8]| version.first().copied().ok_or(EntryError::Malformed("no tag"));
    let tag = tag_of(versions.first().ok_or(MergeError::Nothing)?)?;
    for version in &versions[1..] {
        let other = tag_of(version)?;
        if other != tag {
            return Err(MergeError::Kinds(tag, other));
        }
    }
    let mut out = Vec::with_capacity(versions.iter().map(|version| version.len()).max().unwrap_or(0));
    match (tag, versions.as_slice()) {
        (HEAD_TAG | ROW_TAG | CELL_TAG | RANGE_TOMBSTONE_TAG, [only]) => out.extend_from_slice(only),
        (HEAD_TAG, _) => merge_heads(&versions, &mut out)?,
        (ROW_TAG, _) => {
            let mut merged = MergedRow::new();
            for version in &versions {
                merged.add(&RowEntry::parse(version)?)?;
            }
            merged.encode(&mut out)?;
        }
        (CELL_TAG, _) => merge_cells(&versions, &mut out)?,
        (RANGE_TOMBSTONE_TAG, _) => merge_range_tombstones(&versions, &mut out)?,
        (other, _) => return Err(EntryError::UnknownTag(other).into()),
    }
    Ok(out)
}

fn merge_heads(versions: &[&[u8]], out: &mut Vec<u8>) -> Result<(), MergeError> {
    let mut merged = HeadEntry::NONE;
    for version in versions {
        let head = HeadEntry::parse(version)?;
        merged.deletion = merged.deletion.merge(head.deletion);
        merged.has_range_tombstones |= head.has_range_tombstones;
    }
    merged.encode(out);
    Ok(())
}

fn merge_cells(versions: &[&[u8]], out: &mut Vec<u8>) -> Result<(), MergeError> {
    let mut merged: Option<CellEntry<'_>> = None;
    for version in versions {
        let cell = CellEntry::parse(version)?;
        merged = Some(match merged {
            None => cell,
            Some(other) => reconcile_entries(other, cell),
        });
    }
    merged.ok_or(MergeError::Nothing)?.encode(out);
    Ok(())
}

/// The cell that wins brings its path along; of the same cell under two spellings of the path the larger one stays.
fn reconcile_entries<'a>(left: CellEntry<'a>, right: CellEntry<'a>) -> CellEntry<'a> {
    let data = reconcile(left.data, right.data);
    let original_path = match (data == left.data, data == right.data) {
        (true, true) => left.original_path.max(right.original_path),
        (true, false) => left.original_path,
        _ => right.original_path,
    };
    CellEntry { data, original_path }
}

fn merge_range_tombstones(versions: &[&[u8]], out: &mut Vec<u8>) -> Result<(), MergeError> {
    let mut all = SmallVec::new();
    for version in versions {
        all.extend(RangeTombstoneEntry::parse(version)?.covered);
    }
    RangeTombstoneEntry::of(all).encode(out);
    Ok(())
}

#[cfg(test)]
mod tests;
