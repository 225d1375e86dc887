//! A page of packed values, with room made before it is needed. Knows lengths and bytes, no rows.

use basalt_model::packed::ABSENT_LENGTH;

/// What the first value makes room for, bytes.
const ROOM_BYTES: usize = 256;

/// Values of up to so many bytes are copied as so many, whatever stands behind them: a move instead of a call.
const WIDE: usize = 16;

const LENGTH_BYTES: usize = 4;

/// A value in an entry: where it begins, and its length. [`Part::ABSENT`] is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of its first byte.
    pub start: usize,
    /// Bytes; negative when there is no value.
    pub length: i32,
}

impl Part {
    /// No value.
    pub const ABSENT: Part = Part { start: 0, length: ABSENT_LENGTH };

    /// All of some bytes.
    pub fn all(bytes: &[u8]) -> Part {
        // Values are shorter than 2 GiB: mutations and frames are.
        Part { start: 0, length: i32::try_from(bytes.len()).unwrap_or(i32::MAX) }
    }
}

/// The page.
#[derive(Debug, Default)]
pub struct PageBuffer {
    /// Values, and zeros or remains behind them.
    room: Vec<u8>,
    /// Bytes of values.
    length: usize,
}

impl PageBuffer {
    /// Bytes of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Makes room for so many bytes more.
    pub fn reserve(&mut self, more: usize) {
        let needed = self.length + more;
        if needed > self.room.len() {
            self.room.resize(needed, 0);
        }
    }

    /// Appends a part of `source` behind its length, or that there is none.
    #[inline]
    pub fn put(&mut self, source: &[u8], part: Part) {
        let length = usize::try_from(part.length).unwrap_or(0);
        let needed = LENGTH_BYTES + length.max(WIDE);
        if self.room.len() - self.length < needed {
            self.grow(needed);
        }
        let (before, out) = self.room.split_at_mut(self.length + LENGTH_BYTES);
        if let Some(place) = before.last_chunk_mut::<LENGTH_BYTES>() {
            *place = part.length.to_be_bytes();
        }
        let from = source.get(part.start..).unwrap_or_default();
        match (from.first_chunk::<WIDE>(), out.first_chunk_mut::<WIDE>()) {
            (Some(from), Some(out)) if length <= WIDE => *out = *from,
            _ => {
                if let (Some(from), Some(out)) = (from.get(..length), out.get_mut(..length)) {
                    out.copy_from_slice(from);
                }
            }
        }
        self.length += LENGTH_BYTES + length;
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        self.reserve(needed.max(self.room.len()).max(ROOM_BYTES));
    }

    /// The values.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.room.truncate(self.length);
        self.room
    }
}

#[cfg(test)]
mod tests;
