//! A write set: operations on keys, in order, applied by an engine in one step. One buffer holds
//! all keys and values. Knows no engine.

use basalt_model::TableId;
use smallvec::SmallVec;

/// What a first operation makes room for: most sets are one row, and it fits.
const ROOM_BYTES: usize = 256;

/// What an operation does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Sets the value.
    Put,
    /// Folds the value into what is there ([`crate::merge::merge`]).
    Merge,
    /// Removes the key.
    Delete,
}

/// One operation of a write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    /// What it does.
    pub kind: OpKind,
    /// In which table.
    pub table: TableId,
    /// To which key.
    pub key: &'a [u8],
    /// With which value; empty for `Delete`.
    pub value: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    table: TableId,
    kind: OpKind,
    key_end: usize,
    value_end: usize,
}

/// Operations in order.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    entries: SmallVec<[Entry; 4]>,
    buffer: Vec<u8>,
    /// The oldest write time among the data for each table.
    oldest: SmallVec<[(TableId, i64); 1]>,
}

impl WriteSet {
    /// No operation yet.
    pub fn new() -> WriteSet {
        WriteSet::default()
    }

    /// Sets a key's value.
    pub fn put(&mut self, table: TableId, key: &[u8], value: &[u8]) {
        self.append(
            OpKind::Put,
            table,
            |buffer| buffer.extend_from_slice(key),
            |buffer| buffer.extend_from_slice(value),
        );
    }

    /// Folds a value into a key's.
    pub fn merge(&mut self, table: TableId, key: &[u8], value: &[u8]) {
        self.append(
            OpKind::Merge,
            table,
            |buffer| buffer.extend_from_slice(key),
            |buffer| buffer.extend_from_slice(value),
        );
    }

    /// Removes a key.
    pub fn delete(&mut self, table: TableId, key: &[u8]) {
        self.append(OpKind::Delete, table, |buffer| buffer.extend_from_slice(key), |_| ());
    }

    /// Adds an operation whose key and value are written straight into the set's buffer. The
    /// closures only append.
    pub fn append(
        &mut self,
        kind: OpKind,
        table: TableId,
        write_key: impl FnOnce(&mut Vec<u8>),
        write_value: impl FnOnce(&mut Vec<u8>),
    ) {
        if self.buffer.capacity() == 0 {
            self.buffer.reserve(ROOM_BYTES);
        }
        write_key(&mut self.buffer);
        let key_end = self.buffer.len();
        write_value(&mut self.buffer);
        self.entries.push(Entry { table, kind, key_end, value_end: self.buffer.len() });
    }

    /// Notes that the set holds data of a table written at `timestamp`: deletions that are being purged must know.
    pub fn note_data(&mut self, table: TableId, timestamp: i64) {
        match self.oldest.iter_mut().find(|(id, _)| *id == table) {
            Some((_, oldest)) => *oldest = timestamp.min(*oldest),
            None => self.oldest.push((table, timestamp)),
        }
    }

    /// The oldest write time among the data for a table, if there is some.
    pub fn oldest_data(&self, table: TableId) -> Option<i64> {
        self.oldest.iter().find(|(id, _)| *id == table).map(|(_, oldest)| *oldest)
    }

    /// The operations, in order.
    pub fn ops(&self) -> impl Iterator<Item = Op<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |entry| {
            let key_start = std::mem::replace(&mut start, entry.value_end);
            Op {
                kind: entry.kind,
                table: entry.table,
                key: &self.buffer[key_start..entry.key_end],
                value: &self.buffer[entry.key_end..entry.value_end],
            }
        })
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No operation.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }
}
