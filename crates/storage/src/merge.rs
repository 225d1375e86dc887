//! How two versions of an entry become one, exactly as Cassandra's (`Cells.reconcile`,
//! `Row.Merger`, `LivenessInfo.supersedes`, `DeletionTime.supersedes`).
//!
//! Everything here is a choice of the larger in a total order, so that the result does not depend
//! on order, grouping or repetition. Nothing here knows a clock: what has expired stays what it is.
//! A purge brings its own: it takes out of what was written before it, and is folded only where all of that is.
//!
//! Counters are the exception: their merged value has one time, the latest. Which of them a row's deletion
//! still takes away depends on what was folded before it came, in Cassandra as here.

mod cell;
mod counter;
mod purge;
mod row;

use smallvec::SmallVec;

use crate::cells::{
    CELL_TAG, CellEntry, EntryError, HEAD_TAG, HeadEntry, PURGE_TAG, PurgeEntry, RANGE_TOMBSTONE_TAG,
    ROW_TAG, RangeTombstoneEntry, RowEntry,
};

pub use cell::reconcile;
pub use purge::purge;
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
    /// A purge waits for everything that was written before it.
    #[error("a purge among a part of the operands")]
    Purge,
}

/// Folds `operands`, any number in the order they were written, into `existing`. Nothing existing may also be empty;
/// an empty result says that nothing is left.
///
/// Versions may come in any order, group or repetition. A purge takes out of what was written before it.
///
/// # Errors
/// When bytes are not entries, or entries of different kinds.
pub fn merge(existing: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let mut versions: SmallVec<[&[u8]; 4]> = SmallVec::with_capacity(operands.len() + 1);
    versions.extend(existing.filter(|entry| !entry.is_empty()));
    versions.extend_from_slice(operands);
    if versions.iter().any(|version| is_purge(version)) { fold_purges(&versions) } else { fold(&versions) }
}

/// Folds some of the operands that belong together, neighbours in the order they were written.
///
/// # Errors
/// As [`merge`], and [`MergeError::Purge`] when what a purge takes from is not all at hand.
pub fn merge_operands(operands: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    if operands.iter().any(|operand| is_purge(operand)) {
        return Err(MergeError::Purge);
    }
    fold(operands)
}

fn is_purge(version: &[u8]) -> bool {
    version.first() == Some(&PURGE_TAG)
}

/// Purges and the versions between them, one after the other.
fn fold_purges(versions: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let mut state = Vec::new();
    for run in versions.chunk_by(|a, b| !is_purge(a) && !is_purge(b)) {
        match run {
            [only] if is_purge(only) => {
                let mut left = Vec::with_capacity(state.len());
                purge(&state, &PurgeEntry::parse(only)?, &mut left)?;
                state = left;
            }
            _ => {
                let before = (!state.is_empty()).then_some(state.as_slice());
                let versions: SmallVec<[&[u8]; 4]> = before.into_iter().chain(run.iter().copied()).collect();
                let folded = fold(&versions)?;
                drop(versions);
                state = folded;
            }
        }
    }
    Ok(state)
}

/// Folds versions of one entry.
fn fold(versions: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let tag_of = |version: &[u8]| version.first().copied().ok_or(EntryError::Malformed("no tag"));
    let tag = tag_of(versions.first().ok_or(MergeError::Nothing)?)?;
    for version in &versions[1..] {
        let other = tag_of(version)?;
        if other != tag {
            return Err(MergeError::Kinds(tag, other));
        }
    }
    let mut out = Vec::with_capacity(versions.iter().map(|version| version.len()).max().unwrap_or(0));
    match (tag, versions) {
        (HEAD_TAG | ROW_TAG | CELL_TAG | RANGE_TOMBSTONE_TAG, [only]) => out.extend_from_slice(only),
        (HEAD_TAG, _) => merge_heads(versions, &mut out)?,
        (ROW_TAG, _) => {
            let mut merged = MergedRow::new();
            for version in versions {
                merged.add(&RowEntry::parse(version)?)?;
            }
            merged.encode(&mut out)?;
        }
        (CELL_TAG, _) => merge_cells(versions, &mut out)?,
        (RANGE_TOMBSTONE_TAG, _) => merge_range_tombstones(versions, &mut out)?,
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
