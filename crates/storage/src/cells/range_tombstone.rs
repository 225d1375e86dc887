//! Range tombstones that start at one bound. The start is the key; here are the ends.
//!
//! Nearly always there is one. Two writes that met the same start are both kept as far as neither
//! makes the other superfluous: ends ascend, deletions descend.

use basalt_model::{Deletion, Slice};
use bytes::Bytes;
use smallvec::SmallVec;

use super::codec::{put_bytes, put_deletion, put_unsigned};
use super::{EntryError, RANGE_TOMBSTONE_TAG, Reader, deletion_rank};

const HAS_START_ORIGINALS: u8 = 1;
const HAS_END_ORIGINALS: u8 = 2;

/// What one tombstone of the entry covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered<'a> {
    /// Where it ends: an encoded bound.
    pub end: &'a [u8],
    /// What it deletes.
    pub deletion: Deletion,
    /// Values of the start that the key does not keep, as stored; empty for none.
    pub start_originals: &'a [u8],
    /// Values of the end likewise.
    pub end_originals: &'a [u8],
}

impl Covered<'_> {
    /// Puts the client's own bytes in place of those the keys of `slice`'s bounds gave; `buffer`
    /// is the entry's.
    ///
    /// # Errors
    /// When the originals are garbage.
    pub fn restore(&self, buffer: &Bytes, slice: &mut Slice) -> Result<(), EntryError> {
        for (originals, bound) in
            [(self.start_originals, &mut slice.start), (self.end_originals, &mut slice.end)]
        {
            let mut reader = Reader::of(originals);
            while !reader.is_empty() {
                let index = reader.small()? as usize;
                let value = reader.bytes()?;
                let value = if value.is_empty() { Bytes::new() } else { buffer.slice_ref(value) };
                if let Some(component) = bound.prefix.0.get_mut(index) {
                    *component = Some(value);
                }
            }
        }
        Ok(())
    }
}

/// The tombstones that start where the key says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeTombstoneEntry<'a> {
    /// Ascending by end; not empty.
    pub covered: SmallVec<[Covered<'a>; 1]>,
}

impl<'a> RangeTombstoneEntry<'a> {
    /// Reads an entry.
    ///
    /// # Errors
    /// When the bytes are not range tombstones.
    pub fn parse(bytes: &'a [u8]) -> Result<RangeTombstoneEntry<'a>, EntryError> {
        let mut reader = Reader::behind_tag(bytes, RANGE_TOMBSTONE_TAG)?;
        let mut covered: SmallVec<[Covered<'a>; 1]> = SmallVec::new();
        loop {
            let flags = reader.byte()?;
            if flags & !(HAS_START_ORIGINALS | HAS_END_ORIGINALS) != 0 {
                return Err(EntryError::Malformed("unknown flags of a range tombstone"));
            }
            let end = reader.bytes()?;
            let deletion = reader.deletion()?;
            let originals = |reader: &mut Reader<'a>, flag| match flags & flag {
                0 => Ok(&[][..]),
                _ => reader.bytes().and_then(check_originals),
            };
            let start_originals = originals(&mut reader, HAS_START_ORIGINALS)?;
            let end_originals = originals(&mut reader, HAS_END_ORIGINALS)?;
            let item = Covered { end, deletion, start_originals, end_originals };
            if covered.last().is_some_and(|last| {
                last.end >= item.end || deletion_rank(last.deletion) <= deletion_rank(item.deletion)
            }) {
                return Err(EntryError::Malformed("range tombstones out of order"));
            }
            covered.push(item);
            if reader.is_empty() {
                return Ok(RangeTombstoneEntry { covered });
            }
        }
    }

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(RANGE_TOMBSTONE_TAG);
        for item in &self.covered {
            out.push(
                if item.start_originals.is_empty() { 0 } else { HAS_START_ORIGINALS }
                    | if item.end_originals.is_empty() { 0 } else { HAS_END_ORIGINALS },
            );
            put_bytes(item.end, out);
            put_deletion(item.deletion, out);
            for originals in [item.start_originals, item.end_originals] {
                if !originals.is_empty() {
                    put_bytes(originals, out);
                }
            }
        }
    }

    /// What is left when superfluous tombstones are taken out of any collection of them.
    pub fn of(mut all: SmallVec<[Covered<'a>; 1]>) -> RangeTombstoneEntry<'a> {
        all.sort_by(|a, b| {
            b.end
                .cmp(a.end)
                .then_with(|| deletion_rank(b.deletion).cmp(&deletion_rank(a.deletion)))
                .then_with(|| b.start_originals.cmp(a.start_originals))
                .then_with(|| b.end_originals.cmp(a.end_originals))
        });
        let mut covered: SmallVec<[Covered<'a>; 1]> = SmallVec::new();
        for item in all {
            let is_new = covered
                .last()
                .is_none_or(|longer| deletion_rank(item.deletion) > deletion_rank(longer.deletion));
            if is_new {
                covered.push(item);
            }
        }
        covered.reverse();
        RangeTombstoneEntry { covered }
    }
}

/// Appends one original value of a bound: index of the component, length, bytes.
pub fn push_original(index: u16, value: &[u8], out: &mut Vec<u8>) {
    put_unsigned(u64::from(index), out);
    put_bytes(value, out);
}

fn check_originals(bytes: &[u8]) -> Result<&[u8], EntryError> {
    let mut reader = Reader::of(bytes);
    if reader.is_empty() {
        return Err(EntryError::Malformed("no originals where some are announced"));
    }
    while !reader.is_empty() {
        reader.small()?;
        reader.bytes()?;
    }
    Ok(bytes)
}
