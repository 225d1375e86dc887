//! Bytes of entries: integers, times, and the data of a cell.

use basalt_model::deletion::{NO_DELETION_TIME, NO_TTL};
use basalt_model::{Cell, Deletion};

use super::{EntryError, LOCAL_TIME_EPOCH_S, TIMESTAMP_EPOCH};

const CUT_OFF: EntryError = EntryError::Malformed("ends too early");

/// What a cell holds beside its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellData<'a> {
    /// Write time, microseconds.
    pub timestamp: i64,
    /// Seconds to live; `NO_TTL` for ever.
    pub ttl_s: i32,
    /// As in [`Cell::local_deletion_time_s`].
    pub local_deletion_time_s: i64,
    /// The serialized value; empty in tombstones.
    pub value: &'a [u8],
    /// The value is a counter context: two of them become a third.
    pub is_counter: bool,
}

/// What of a cell is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    Live = 0,
    Expiring = 1,
    Tombstone = 2,
    /// Live, its value a counter context.
    Counter = 3,
}

impl CellKind {
    /// Of two bits.
    pub fn of(bits: u8) -> CellKind {
        match bits & 3 {
            0 => CellKind::Live,
            1 => CellKind::Expiring,
            2 => CellKind::Tombstone,
            _ => CellKind::Counter,
        }
    }

    /// Whether a local deletion time stands with it.
    pub fn has_local_time(self) -> bool {
        matches!(self, CellKind::Expiring | CellKind::Tombstone)
    }
}

impl<'a> CellData<'a> {
    /// A value that lives for ever.
    pub fn live(timestamp: i64, value: &'a [u8]) -> CellData<'a> {
        CellData {
            timestamp,
            ttl_s: NO_TTL,
            local_deletion_time_s: NO_DELETION_TIME,
            value,
            is_counter: false,
        }
    }

    /// The data of a cell.
    pub fn of(cell: &'a Cell) -> CellData<'a> {
        CellData {
            timestamp: cell.timestamp,
            ttl_s: cell.ttl_s,
            local_deletion_time_s: cell.local_deletion_time_s,
            value: if cell.is_tombstone() { &[] } else { &cell.value },
            is_counter: false,
        }
    }

    /// The data of a cell of a counter column.
    pub fn of_counter(cell: &'a Cell) -> CellData<'a> {
        CellData { is_counter: !cell.is_tombstone(), ..CellData::of(cell) }
    }

    pub(super) fn kind(&self) -> CellKind {
        if self.ttl_s != NO_TTL {
            CellKind::Expiring
        } else if self.local_deletion_time_s != NO_DELETION_TIME {
            CellKind::Tombstone
        } else if self.is_counter {
            CellKind::Counter
        } else {
            CellKind::Live
        }
    }

    /// Has a TTL, expired or not.
    pub fn is_expiring(&self) -> bool {
        self.ttl_s != NO_TTL
    }

    /// Deleted by a client.
    pub fn is_tombstone(&self) -> bool {
        self.kind() == CellKind::Tombstone
    }

    /// The tombstone that an expiring cell leaves when it has expired: it died when it was written, as far as
    /// `gc_grace_seconds` are concerned.
    pub fn expired(&self) -> Option<CellData<'a>> {
        let died_s = self.local_deletion_time_s.saturating_sub(i64::from(self.ttl_s));
        let tombstone = CellData { ttl_s: NO_TTL, local_deletion_time_s: died_s, value: &[], ..*self };
        self.is_expiring().then_some(tombstone)
    }

    /// Visible at `now_s`, before covering deletions are looked at.
    pub fn is_live(&self, now_s: i64) -> bool {
        self.local_deletion_time_s == NO_DELETION_TIME
            || (self.is_expiring() && now_s < self.local_deletion_time_s)
    }
}

/// Appends an unsigned integer: as many leading ones as bytes follow the first (`VIntCoding`).
pub(super) fn put_unsigned(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push(value as u8);
    } else {
        crate::keys::byte_comparable::encode_unsigned(value, out);
    }
}

/// Appends a signed integer, zigzag.
pub(super) fn put_signed(value: i64, out: &mut Vec<u8>) {
    put_unsigned(((value << 1) ^ (value >> 63)) as u64, out);
}

pub(super) fn put_timestamp(timestamp: i64, out: &mut Vec<u8>) {
    put_signed(timestamp.wrapping_sub(TIMESTAMP_EPOCH), out);
}

pub(super) fn put_local_time(time_s: i64, out: &mut Vec<u8>) {
    put_signed(time_s.wrapping_sub(LOCAL_TIME_EPOCH_S), out);
}

pub(super) fn put_deletion(deletion: Deletion, out: &mut Vec<u8>) {
    put_timestamp(deletion.timestamp, out);
    put_local_time(deletion.local_time_s, out);
}

pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_unsigned(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Takes an entry's bytes from the front.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Behind the tag.
    ///
    /// # Errors
    /// When the tag is another one.
    pub fn behind_tag(bytes: &'a [u8], tag: u8) -> Result<Reader<'a>, EntryError> {
        match bytes.split_first() {
            Some((&first, rest)) if first == tag => Ok(Reader { rest }),
            Some((&first, _)) => Err(EntryError::UnknownTag(first)),
            None => Err(CUT_OFF),
        }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn of(rest: &'a [u8]) -> Reader<'a> {
        Reader { rest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn byte(&mut self) -> Result<u8, EntryError> {
        let (&first, rest) = self.rest.split_first().ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(first)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, EntryError> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let more = first.leading_ones();
        let (bytes, rest) = self.rest.split_at_checked(more as usize).ok_or(CUT_OFF)?;
        let start = if more >= 7 { 0 } else { u64::from(first & (0x7F >> more)) };
        let value = match self.rest.first_chunk::<8>() {
            // Mostly more stands behind it: then eight bytes are taken at once.
            Some(bytes) if more < 8 => {
                start.wrapping_shl(8 * more) | (u64::from_be_bytes(*bytes) >> (64 - 8 * more))
            }
            _ => bytes.iter().fold(start, |value, &byte| (value << 8) | u64::from(byte)),
        };
        self.rest = rest;
        if value >> (7 * more) == 0 {
            return Err(EntryError::Malformed("an integer is longer than needed"));
        }
        Ok(value)
    }

    pub(super) fn signed(&mut self) -> Result<i64, EntryError> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn timestamp(&mut self) -> Result<i64, EntryError> {
        Ok(self.signed()?.wrapping_add(TIMESTAMP_EPOCH))
    }

    pub(super) fn local_time(&mut self) -> Result<i64, EntryError> {
        Ok(self.signed()?.wrapping_add(LOCAL_TIME_EPOCH_S))
    }

    /// `base` and an unsigned distance from it.
    pub(super) fn above(&mut self, base: i64) -> Result<i64, EntryError> {
        let value = base.wrapping_add(self.unsigned()? as i64);
        if value < base { Err(EntryError::Malformed("a time beyond 64 bits")) } else { Ok(value) }
    }

    pub(super) fn deletion(&mut self) -> Result<Deletion, EntryError> {
        let deletion = Deletion { timestamp: self.timestamp()?, local_time_s: self.local_time()? };
        not_live(deletion)
    }

    pub(super) fn small(&mut self) -> Result<u32, EntryError> {
        u32::try_from(self.unsigned()?).map_err(|_| EntryError::Malformed("an integer beyond 32 bits"))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], EntryError> {
        let length = usize::try_from(self.unsigned()?).map_err(|_| CUT_OFF)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(bytes)
    }
}

/// A stored deletion deletes something.
pub(super) fn not_live(deletion: Deletion) -> Result<Deletion, EntryError> {
    if deletion.is_live() { Err(EntryError::Malformed("a deletion of nothing")) } else { Ok(deletion) }
}

/// A TTL in range.
pub(super) fn ttl(value: u64) -> Result<i32, EntryError> {
    match i32::try_from(value) {
        Ok(ttl_s) if ttl_s > 0 => Ok(ttl_s),
        _ => Err(EntryError::Malformed("a TTL out of range")),
    }
}
