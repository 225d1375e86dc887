//! A row as most are, read with few questions: nothing of it dies, and everything was written at one time. What is
//! otherwise, [`RowEntry`](super::RowEntry) reads, garbage included.

use basalt_model::ColumnId;
use basalt_model::deletion::NO_TIMESTAMP;

use super::ROW_TAG;
use super::codec::Reader;
use super::row::{CELL_COLUMN_SHIFT, CELL_IS_UNUSUAL, HAS_LIVENESS};

/// A row whose front is plain; its cells may still turn out not to be.
#[derive(Clone, Copy, Debug)]
pub struct PlainRow<'a> {
    /// When all of it was written, microseconds.
    pub timestamp: i64,
    /// It exists beside its cells.
    pub is_inserted: bool,
    entry: &'a [u8],
    /// Where the cells begin.
    cells: usize,
}

impl<'a> PlainRow<'a> {
    /// Of an entry, unless it begins otherwise: its flags allow a liveness of the row's own time, and nothing else.
    #[inline]
    pub fn of(entry: &'a [u8]) -> Option<PlainRow<'a>> {
        let [ROW_TAG, flags, rest @ ..] = entry else { return None };
        if *flags & !HAS_LIVENESS != 0 {
            return None;
        }
        let mut reader = Reader::of(rest);
        let timestamp = reader.timestamp().ok()?;
        let is_inserted = *flags == HAS_LIVENESS;
        if is_inserted && (timestamp == NO_TIMESTAMP || reader.byte().ok()? != 0) {
            return None;
        }
        Some(PlainRow { timestamp, is_inserted, entry, cells: entry.len() - reader.rest().len() })
    }

    /// Hands out the cells, ascending by column: where in the entry each value begins, and its length. `false` at the first
    /// that is not alive for ever, has another time, or takes more than one byte for the distance of its column or for its
    /// length: what was handed out then says nothing.
    #[inline]
    pub fn for_each_cell(&self, mut take: impl FnMut(ColumnId, usize, u8)) -> bool {
        let mut next_column = 0u32;
        let mut at = self.cells;
        loop {
            let [header, length, rest @ ..] = self.entry.get(at..).unwrap_or_default() else {
                return at == self.entry.len();
            };
            let is_usual = header & (0x80 | CELL_IS_UNUSUAL) == 0 && *length < 0x80;
            if !is_usual || rest.len() < usize::from(*length) {
                return false;
            }
            let column = next_column.wrapping_add(u32::from(*header >> CELL_COLUMN_SHIFT));
            // The last id is never given, so that there is always a next one.
            if column < next_column || column == u32::MAX {
                return false;
            }
            next_column = column + 1;
            take(ColumnId(column), at + 2, *length);
            at += 2 + usize::from(*length);
        }
    }
}

#[cfg(test)]
mod tests;
