//! A row, static or not: liveness, deletion, deletions of multi-cell columns, simple cells.
//!
//! Times and TTLs are distances from the smallest of the row, which stand in its front.

use basalt_model::deletion::{NO_DELETION_TIME, NO_TTL};
use basalt_model::{ColumnId, Deletion, Liveness};
use smallvec::SmallVec;

use super::codec::{CellKind, not_live, put_bytes, put_local_time, put_timestamp, put_unsigned, ttl};
use super::{CellData, EntryError, ROW_TAG, Reader, TIMESTAMP_EPOCH};

pub(super) const HAS_LIVENESS: u8 = 1;
const LIVENESS_EXPIRES: u8 = 2;
const HAS_DELETION: u8 = 4;
const HAS_COMPLEX_DELETIONS: u8 = 8;
const HAS_ORIGINALS: u8 = 16;
const HAS_LOCAL_TIMES: u8 = 32;
const HAS_TTLS: u8 = 64;

const CELL_HAS_TIMESTAMP: u64 = 1;
const CELL_KIND_SHIFT: u32 = 1;
pub(super) const CELL_COLUMN_SHIFT: u32 = 3;
/// A time of its own, or another kind than a live cell.
pub(super) const CELL_IS_UNUSUAL: u8 = CELL_HAS_TIMESTAMP as u8 | (3 << CELL_KIND_SHIFT);

/// Deletions of multi-cell columns, ascending by column.
pub type ComplexDeletions = SmallVec<[(ColumnId, Deletion); 1]>;

/// Values of clustering columns that the key does not keep, ascending by index of the column.
pub type OriginalSlices<'a> = SmallVec<[(u16, &'a [u8]); 1]>;

/// All of a row's entry but the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowParts<'a> {
    /// Whether the row exists beside its cells.
    pub liveness: Liveness,
    /// The row's deletion.
    pub deletion: Deletion,
    /// Deletions of multi-cell columns.
    pub complex_deletions: ComplexDeletions,
    /// Clustering values as the client wrote them.
    pub originals: OriginalSlices<'a>,
}

impl RowParts<'_> {
    /// Nothing.
    pub fn none() -> Self {
        RowParts {
            liveness: Liveness::NONE,
            deletion: Deletion::LIVE,
            complex_deletions: SmallVec::new(),
            originals: SmallVec::new(),
        }
    }
}

/// A row's entry, its cells not read yet.
#[derive(Clone, Debug)]
pub struct RowEntry<'a> {
    /// All but the cells.
    pub parts: RowParts<'a>,
    base: Base,
    cells: Reader<'a>,
}

/// The smallest of a row's times.
#[derive(Clone, Copy, Debug)]
struct Base {
    timestamp: i64,
    local_time_s: i64,
    ttl_s: i32,
}

impl Base {
    const NONE: Base = Base { timestamp: i64::MAX, local_time_s: i64::MAX, ttl_s: i32::MAX };

    fn of(parts: &RowParts<'_>, cells: &[(ColumnId, CellData<'_>)]) -> (Base, u8) {
        let (mut base, mut flags) = (Base::NONE, 0);
        let mut has_timestamp = false;
        let mut add = |timestamp: i64, local_time_s: Option<i64>, ttl_s: i32| {
            has_timestamp = true;
            base.timestamp = base.timestamp.min(timestamp);
            if let Some(local_time_s) = local_time_s {
                flags |= HAS_LOCAL_TIMES;
                base.local_time_s = base.local_time_s.min(local_time_s);
            }
            if ttl_s != NO_TTL {
                flags |= HAS_TTLS;
                base.ttl_s = base.ttl_s.min(ttl_s);
            }
        };
        if !parts.liveness.is_none() {
            let expires = parts.liveness.is_expiring().then_some(parts.liveness.expires_at_s);
            add(parts.liveness.timestamp, expires, parts.liveness.ttl_s);
        }
        if !parts.deletion.is_live() {
            add(parts.deletion.timestamp, Some(parts.deletion.local_time_s), NO_TTL);
        }
        for (_, deletion) in &parts.complex_deletions {
            add(deletion.timestamp, Some(deletion.local_time_s), NO_TTL);
        }
        for (_, cell) in cells {
            let time = cell.kind().has_local_time().then_some(cell.local_deletion_time_s);
            add(cell.timestamp, time, cell.ttl_s);
        }
        if !has_timestamp {
            base.timestamp = TIMESTAMP_EPOCH;
        }
        (base, flags)
    }

    fn put_timestamp(&self, timestamp: i64, out: &mut Vec<u8>) {
        put_unsigned(timestamp.wrapping_sub(self.timestamp) as u64, out);
    }

    fn put_local_time(&self, time_s: i64, out: &mut Vec<u8>) {
        put_unsigned(time_s.wrapping_sub(self.local_time_s) as u64, out);
    }

    fn put_ttl(&self, ttl_s: i32, out: &mut Vec<u8>) {
        put_unsigned((ttl_s - self.ttl_s) as u64, out);
    }

    fn put_deletion(&self, deletion: Deletion, out: &mut Vec<u8>) {
        self.put_timestamp(deletion.timestamp, out);
        self.put_local_time(deletion.local_time_s, out);
    }

    fn ttl(&self, reader: &mut Reader<'_>) -> Result<i32, EntryError> {
        ttl((self.ttl_s as u64).saturating_add(reader.unsigned()?))
    }

    fn deletion(&self, reader: &mut Reader<'_>) -> Result<Deletion, EntryError> {
        let timestamp = reader.above(self.timestamp)?;
        not_live(Deletion { timestamp, local_time_s: reader.above(self.local_time_s)? })
    }
}

impl<'a> RowEntry<'a> {
    /// Reads an entry up to its cells.
    ///
    /// # Errors
    /// When the bytes are not a row.
    pub fn parse(bytes: &'a [u8]) -> Result<RowEntry<'a>, EntryError> {
        let mut reader = Reader::behind_tag(bytes, ROW_TAG)?;
        let flags = reader.byte()?;
        let mut base = Base::NONE;
        base.timestamp = reader.timestamp()?;
        if flags & HAS_LOCAL_TIMES != 0 {
            base.local_time_s = reader.local_time()?;
        }
        if flags & HAS_TTLS != 0 {
            base.ttl_s = ttl(reader.unsigned()?)?;
        }
        let is_consistent = flags & 0x80 == 0
            && (flags & LIVENESS_EXPIRES == 0 || flags & HAS_LIVENESS != 0 && flags & HAS_TTLS != 0)
            && (flags & HAS_TTLS == 0 || flags & HAS_LOCAL_TIMES != 0)
            && (flags & (HAS_DELETION | HAS_COMPLEX_DELETIONS) == 0 || flags & HAS_LOCAL_TIMES != 0);
        if !is_consistent {
            return Err(EntryError::Malformed("flags of a row contradict each other"));
        }
        let mut parts = RowParts::none();
        if flags & HAS_LIVENESS != 0 {
            parts.liveness = Liveness::at(reader.above(base.timestamp)?);
            if flags & LIVENESS_EXPIRES != 0 {
                parts.liveness.expires_at_s = reader.above(base.local_time_s)?;
                parts.liveness.ttl_s = base.ttl(&mut reader)?;
            }
            if parts.liveness.is_none() {
                return Err(EntryError::Malformed("a liveness without time"));
            }
        }
        if flags & HAS_DELETION != 0 {
            parts.deletion = base.deletion(&mut reader)?;
        }
        if flags & HAS_COMPLEX_DELETIONS != 0 {
            parts.complex_deletions = parse_complex_deletions(&base, &mut reader)?;
        }
        if flags & HAS_ORIGINALS != 0 {
            parts.originals = parse_originals(&mut reader)?;
        }
        Ok(RowEntry { parts, base, cells: reader })
    }

    /// Whether it has tombstones, or something that expires.
    pub fn is_mortal(&self) -> bool {
        self.base.local_time_s != Base::NONE.local_time_s
    }

    /// The simple cells, ascending by column.
    pub fn cells(&self) -> CellIter<'a> {
        CellIter { base: self.base, reader: self.cells, next_column: 0 }
    }

    /// Appends an entry; `cells` ascend by column, each column once.
    pub fn encode(parts: &RowParts<'_>, cells: &[(ColumnId, CellData<'_>)], out: &mut Vec<u8>) {
        let (base, mut flags) = Base::of(parts, cells);
        let has = |condition: bool, flag: u8| if condition { flag } else { 0 };
        flags |= has(!parts.liveness.is_none(), HAS_LIVENESS);
        flags |= has(parts.liveness.is_expiring(), LIVENESS_EXPIRES);
        flags |= has(!parts.deletion.is_live(), HAS_DELETION);
        flags |= has(!parts.complex_deletions.is_empty(), HAS_COMPLEX_DELETIONS);
        flags |= has(!parts.originals.is_empty(), HAS_ORIGINALS);

        out.push(ROW_TAG);
        out.push(flags);
        put_timestamp(base.timestamp, out);
        if flags & HAS_LOCAL_TIMES != 0 {
            put_local_time(base.local_time_s, out);
        }
        if flags & HAS_TTLS != 0 {
            put_unsigned(base.ttl_s as u64, out);
        }
        if flags & HAS_LIVENESS != 0 {
            base.put_timestamp(parts.liveness.timestamp, out);
            if flags & LIVENESS_EXPIRES != 0 {
                base.put_local_time(parts.liveness.expires_at_s, out);
                base.put_ttl(parts.liveness.ttl_s, out);
            }
        }
        if flags & HAS_DELETION != 0 {
            base.put_deletion(parts.deletion, out);
        }
        if flags & HAS_COMPLEX_DELETIONS != 0 {
            put_unsigned(parts.complex_deletions.len() as u64, out);
            let mut next_column = 0;
            for (column, deletion) in &parts.complex_deletions {
                put_unsigned(u64::from(column.0.wrapping_sub(next_column)), out);
                base.put_deletion(*deletion, out);
                next_column = column.0.wrapping_add(1);
            }
        }
        if flags & HAS_ORIGINALS != 0 {
            put_unsigned(parts.originals.len() as u64, out);
            for (index, value) in &parts.originals {
                put_unsigned(u64::from(*index), out);
                put_bytes(value, out);
            }
        }
        encode_cells(&base, cells, out);
    }
}

fn encode_cells(base: &Base, cells: &[(ColumnId, CellData<'_>)], out: &mut Vec<u8>) {
    let mut next_column = 0;
    for (column, cell) in cells {
        let kind = cell.kind();
        let has_timestamp = cell.timestamp != base.timestamp;
        put_unsigned(
            (u64::from(column.0.wrapping_sub(next_column)) << CELL_COLUMN_SHIFT)
                | ((kind as u64) << CELL_KIND_SHIFT)
                | if has_timestamp { CELL_HAS_TIMESTAMP } else { 0 },
            out,
        );
        next_column = column.0.wrapping_add(1);
        if has_timestamp {
            base.put_timestamp(cell.timestamp, out);
        }
        if kind.has_local_time() {
            base.put_local_time(cell.local_deletion_time_s, out);
        }
        if kind == CellKind::Expiring {
            base.put_ttl(cell.ttl_s, out);
        }
        if kind != CellKind::Tombstone {
            put_bytes(cell.value, out);
        }
    }
}

/// The column a distance leads to from the one before, and what the next distance counts from.
pub(super) fn take_column(reader_value: u64, next_column: &mut u32) -> Result<ColumnId, EntryError> {
    const BAD: EntryError = EntryError::Malformed("a column id beyond 32 bits");
    let distance = u32::try_from(reader_value).map_err(|_| BAD)?;
    let column = next_column.checked_add(distance).ok_or(BAD)?;
    // Id u32::MAX is never given: there is always a next one.
    *next_column = column.checked_add(1).ok_or(BAD)?;
    Ok(ColumnId(column))
}

fn parse_complex_deletions(base: &Base, reader: &mut Reader<'_>) -> Result<ComplexDeletions, EntryError> {
    let count = reader.unsigned()?;
    if count == 0 {
        return Err(EntryError::Malformed("no deletions where some are announced"));
    }
    let mut deletions = ComplexDeletions::new();
    let mut next_column = 0;
    for _ in 0..count {
        let column = take_column(reader.unsigned()?, &mut next_column)?;
        deletions.push((column, base.deletion(reader)?));
    }
    Ok(deletions)
}

fn parse_originals<'a>(reader: &mut Reader<'a>) -> Result<OriginalSlices<'a>, EntryError> {
    let count = reader.unsigned()?;
    if count == 0 {
        return Err(EntryError::Malformed("no originals where some are announced"));
    }
    let mut originals = OriginalSlices::new();
    for _ in 0..count {
        let index = u16::try_from(reader.unsigned()?)
            .ok()
            .filter(|index| originals.last().is_none_or(|(last, _)| last < index))
            .ok_or(EntryError::Malformed("originals out of order"))?;
        originals.push((index, reader.bytes()?));
    }
    Ok(originals)
}

/// The cells of a row's entry, in order.
#[derive(Clone, Debug)]
pub struct CellIter<'a> {
    base: Base,
    reader: Reader<'a>,
    next_column: u32,
}

impl<'a> CellIter<'a> {
    fn cell(&mut self) -> Result<(ColumnId, CellData<'a>), EntryError> {
        let reader = &mut self.reader;
        let header = reader.unsigned()?;
        let column = take_column(header >> CELL_COLUMN_SHIFT, &mut self.next_column)?;
        let kind = CellKind::of(((header >> CELL_KIND_SHIFT) & 3) as u8);
        let mut timestamp = self.base.timestamp;
        if header & CELL_HAS_TIMESTAMP != 0 {
            timestamp = reader.above(timestamp)?;
            if timestamp == self.base.timestamp {
                return Err(EntryError::Malformed("a timestamp that needs no bytes"));
            }
        }
        let mut cell = CellData { is_counter: kind == CellKind::Counter, ..CellData::live(timestamp, &[]) };
        if kind.has_local_time() {
            if self.base.local_time_s == i64::MAX {
                return Err(EntryError::Malformed("a cell with time in a row without"));
            }
            cell.local_deletion_time_s = reader.above(self.base.local_time_s)?;
        }
        match kind {
            CellKind::Live | CellKind::Counter => {}
            CellKind::Expiring => cell.ttl_s = self.base.ttl(reader)?,
            CellKind::Tombstone if cell.local_deletion_time_s == NO_DELETION_TIME => {
                return Err(EntryError::Malformed("a cell tombstone without time"));
            }
            CellKind::Tombstone => return Ok((column, cell)),
        }
        cell.value = reader.bytes()?;
        Ok((column, cell))
    }
}

impl<'a> Iterator for CellIter<'a> {
    type Item = Result<(ColumnId, CellData<'a>), EntryError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let cell = self.cell();
        if cell.is_err() {
            // Nothing behind garbage can be trusted.
            self.reader = Reader::of(&[]);
        }
        Some(cell)
    }
}
