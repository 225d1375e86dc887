//! What a purge leaves of an entry (`Row.purge`, `DeletionPurger`).

use basalt_model::{Deletion, Liveness};

use super::MergeError;
use crate::cells::{
    CELL_TAG, CellEntry, EntryError, HEAD_TAG, HeadEntry, PurgeEntry, ROW_TAG, RowEntry, RowParts,
};
use crate::merge::MergedRow;

/// Appends what is left of `entry`: nothing when nothing is.
///
/// # Errors
/// When the bytes are no entry, or one that purges do not concern.
pub fn purge(entry: &[u8], purge: &PurgeEntry, out: &mut Vec<u8>) -> Result<(), MergeError> {
    match entry.first() {
        None => Ok(()),
        Some(&HEAD_TAG) => {
            let head = purge_head(HeadEntry::parse(entry)?, purge);
            if head != HeadEntry::NONE {
                head.encode(out);
            }
            Ok(())
        }
        Some(&ROW_TAG) => purge_row(&RowEntry::parse(entry)?, purge, out),
        Some(&CELL_TAG) => {
            let cell = CellEntry::parse(entry)?;
            if !purge.covering.deletes(cell.data.timestamp) && purge.keeps(&cell.data) {
                cell.encode(out);
            }
            Ok(())
        }
        Some(&other) => Err(EntryError::UnknownTag(other).into()),
    }
}

fn purge_head(mut head: HeadEntry, purge: &PurgeEntry) -> HeadEntry {
    if head.deletion == purge.deletion {
        head.deletion = Deletion::LIVE;
    }
    head.has_range_tombstones &= !purge.ends_range_tombstones;
    head
}

fn purge_row(row: &RowEntry<'_>, purge: &PurgeEntry, out: &mut Vec<u8>) -> Result<(), MergeError> {
    let mut parts = row.parts.clone();
    if !parts.deletion.supersedes(purge.covering) {
        parts.deletion = Deletion::LIVE;
    }
    let active = purge.covering.merge(parts.deletion);
    if parts.deletion == purge.deletion {
        parts.deletion = Deletion::LIVE;
    }
    let liveness = parts.liveness;
    let is_dead = !liveness.is_live(purge.now_s) && liveness.expires_at_s < purge.gc_before_s;
    if active.deletes(liveness.timestamp) || is_dead {
        parts.liveness = Liveness::NONE;
    }
    parts.complex_deletions.retain(|(column, deletion)| {
        deletion.supersedes(active)
            && deletion.timestamp > purge.dropped_time(*column)
            && !purge.complex_deletions.contains(&(*column, *deletion))
    });

    let mut left = MergedRow::of(parts);
    for cell in row.cells() {
        let (column, cell) = cell?;
        let is_covered = active.deletes(cell.timestamp) || cell.timestamp <= purge.dropped_time(column);
        if !is_covered && purge.keeps(&cell) {
            left.add_cell(column, cell);
        }
    }
    if purge.is_whole && left.is_spelling_only() {
        return Ok(());
    }
    if !left.is_empty() {
        left.encode(out)?;
    }
    Ok(())
}

impl RowParts<'_> {
    /// Whether there is nothing but the spelling of the clustering.
    pub fn is_spelling_only(&self) -> bool {
        self.liveness.is_none() && self.deletion.is_live() && self.complex_deletions.is_empty()
    }
}
