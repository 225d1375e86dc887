//! Values that say what they are: the write's sequence in front, and behind it text that follows from
//! record, column and sequence. To check one is to make it again; all of it is the checksum.

use bytes::{BufMut, BytesMut};

use crate::random::{Random, mix};
use crate::workload::{ALPHABET, Sizes, fill};

/// Characters of the sequence: six bits each, enough for microseconds since 1970 until the year 2540.
const SEQUENCE_CHARS: usize = 9;

/// The fewest bytes a stamped value can have: the sequence and some checksum.
pub const STAMP_BYTES_MIN: u32 = SEQUENCE_CHARS as u32 + 1;

/// The stamped values of each record of a workload. All are written together, so that all must show
/// the same write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// How many values a record has.
    pub cells: usize,
    /// Their bytes.
    pub sizes: Sizes,
}

/// What reading a record found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// No row.
    Nothing,
    /// The write with this sequence, whole.
    Sequence(u64),
    /// What no write has written: broken, of another record, or of several writes.
    Wrong,
}

impl Stamps {
    /// Appends the value of a column.
    pub fn put(&self, record: u64, column: usize, sequence: u64, out: &mut BytesMut) {
        for place in (0..SEQUENCE_CHARS).rev() {
            out.put_u8(ALPHABET[(sequence >> (place * 6)) as usize & 63]);
        }
        let mut random = content(record, column, sequence);
        let length = self.sizes.of(random.next_u64());
        fill(out, length.saturating_sub(SEQUENCE_CHARS), &mut random);
    }

    /// What the cells of a record's rows show.
    pub fn observe<'a>(&self, record: u64, cells: impl Iterator<Item = Option<&'a [u8]>>) -> Observed {
        let mut found = None;
        let mut count = 0;
        let mut again = BytesMut::new();
        for cell in cells {
            let Some(value) = cell else { return Observed::Wrong };
            let Some(sequence) = sequence_of(value) else { return Observed::Wrong };
            again.clear();
            self.put(record, count, sequence, &mut again);
            if again != value || *found.get_or_insert(sequence) != sequence {
                return Observed::Wrong;
            }
            count += 1;
        }
        match found {
            None => Observed::Nothing,
            Some(sequence) if count == self.cells => Observed::Sequence(sequence),
            Some(_) => Observed::Wrong,
        }
    }
}

/// What the text behind the sequence is drawn from.
fn content(record: u64, column: usize, sequence: u64) -> Random {
    Random::new(mix(mix(mix(record) ^ column as u64) ^ sequence))
}

fn sequence_of(value: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| ALPHABET.iter().position(|other| other == byte);
    value
        .get(..SEQUENCE_CHARS)?
        .iter()
        .try_fold(0, |sequence, byte| Some(sequence << 6 | digit(byte)? as u64))
}
