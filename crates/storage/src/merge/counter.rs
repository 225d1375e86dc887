//! Versions of counters becoming one each (`Cells.resolveCounter`).

use basalt_model::deletion::{NO_DELETION_TIME, NO_TTL};
use basalt_model::{ColumnId, CounterContext};
use bytes::Bytes;

use crate::cells::{CellData, EntryError};

/// A counter all of whose versions are folded.
pub struct MergedCounter {
    /// Its column.
    pub column: ColumnId,
    timestamp: i64,
    context: Bytes,
}

impl MergedCounter {
    /// The cell it is.
    pub fn cell(&self) -> CellData<'_> {
        CellData {
            timestamp: self.timestamp,
            ttl_s: NO_TTL,
            local_deletion_time_s: NO_DELETION_TIME,
            value: &self.context,
            is_counter: true,
        }
    }
}

/// Folds versions, which ascend by column: the contexts merge, the latest write time stays.
///
/// # Errors
/// When a value is no context that may be stored.
pub fn fold(versions: &[(ColumnId, CellData<'_>)]) -> Result<Vec<MergedCounter>, EntryError> {
    let same_column = |a: &(ColumnId, CellData<'_>), b: &(ColumnId, CellData<'_>)| a.0 == b.0;
    versions.chunk_by(same_column).map(fold_one).collect()
}

fn fold_one(versions: &[(ColumnId, CellData<'_>)]) -> Result<MergedCounter, EntryError> {
    const BAD: EntryError = EntryError::Malformed("not a counter context");
    let (&(column, first), others) = versions.split_first().ok_or(BAD)?;
    let context_of =
        |cell: &CellData<'_>| CounterContext::parse(cell.value).filter(CounterContext::is_settled).ok_or(BAD);
    let mut context = context_of(&first)?;
    let mut timestamp = first.timestamp;
    for (_, cell) in others {
        context.merge(&context_of(cell)?);
        timestamp = timestamp.max(cell.timestamp);
    }
    Ok(MergedCounter { column, timestamp, context: context.to_bytes() })
}

#[cfg(test)]
mod tests;
