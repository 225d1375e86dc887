//! Where each table lives: the records of the catalogue, which is RocksDB's `default` family.
//! Drawn in `docs/formats/engine-directory.md`. Encoding and decoding only.

use basalt_model::TableId;

/// First byte of the key of a table's record; the table id's 16 bytes follow.
const TABLE: u8 = b't';
/// Key of the next number that is free.
const NEXT: &[u8] = b"n";
/// First byte of the key of a prefix whose entries are to be erased; the prefix follows.
const ERASED: u8 = b'e';
/// First byte of the key of a window; the table id's 16 bytes and the number of its family follow.
const WINDOW: u8 = b'w';
/// First byte of the key that says that no partition of a table has a head; the table id's 16 bytes follow.
const HEADLESS: u8 = b'h';
/// Version of a table's record.
const RECORD: u8 = 1;
const RECORD_LEN: usize = 14;

/// Where a table's entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In a family of its own, of this number; keys as they are.
    Own(u32),
    /// In the family shared by small tables; each key begins with this number.
    Shared(u32),
}

impl Place {
    /// Its number.
    pub(crate) fn number(self) -> u32 {
        match self {
            Place::Own(number) | Place::Shared(number) => number,
        }
    }

    /// What its keys begin with.
    pub(crate) fn prefix(self) -> Vec<u8> {
        match self {
            Place::Own(_) => Vec::new(),
            Place::Shared(number) => number.to_be_bytes().to_vec(),
        }
    }
}

/// A table's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// How often the table was truncated.
    pub(crate) generation: u64,
    /// Where its entries are.
    pub(crate) place: Place,
}

/// An entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A table and its record.
    Table(TableId, Record),
    /// A window of a table: the number of its family, and when it began, seconds since 1970.
    Window(TableId, u32, i64),
    /// No partition of this table ever had a head.
    Headless(TableId),
    /// The next free number of a family or prefix. Numbers are never used twice.
    Next(u32),
    /// A prefix that no table has any more, and whose entries may still be there.
    Erased(u32),
}

impl Entry {
    /// The key and value to store.
    pub(crate) fn encode(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Entry::Table(table, record) => {
                let (kind, number) = match record.place {
                    Place::Own(number) => (0, number),
                    Place::Shared(number) => (1, number),
                };
                let mut value = vec![RECORD];
                value.extend_from_slice(&record.generation.to_be_bytes());
                value.push(kind);
                value.extend_from_slice(&number.to_be_bytes());
                (table_key(*table), value)
            }
            Entry::Window(table, number, began_s) => {
                (window_key(*table, *number), began_s.to_be_bytes().to_vec())
            }
            Entry::Headless(table) => (headless_key(*table), Vec::new()),
            Entry::Next(number) => (NEXT.to_vec(), number.to_be_bytes().to_vec()),
            Entry::Erased(prefix) => (erased_key(*prefix), Vec::new()),
        }
    }

    /// What a stored key and value say; `None` if nothing that this version writes.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Option<Entry> {
        match key {
            NEXT => Some(Entry::Next(u32::from_be_bytes(value.try_into().ok()?))),
            [TABLE, id @ ..] => {
                let id: [u8; 16] = id.try_into().ok()?;
                let value: [u8; RECORD_LEN] = value.try_into().ok()?;
                let [RECORD, g0, g1, g2, g3, g4, g5, g6, g7, kind, n0, n1, n2, n3] = value else {
                    return None;
                };
                let number = u32::from_be_bytes([n0, n1, n2, n3]);
                let place = match kind {
                    0 => Place::Own(number),
                    1 => Place::Shared(number),
                    _ => return None,
                };
                let generation = u64::from_be_bytes([g0, g1, g2, g3, g4, g5, g6, g7]);
                Some(Entry::Table(TableId(uuid::Uuid::from_bytes(id)), Record { generation, place }))
            }
            [WINDOW, key @ ..] => {
                let (id, number) = key.split_first_chunk::<16>()?;
                let number = u32::from_be_bytes(number.try_into().ok()?);
                let began_s = i64::from_be_bytes(value.try_into().ok()?);
                Some(Entry::Window(TableId(uuid::Uuid::from_bytes(*id)), number, began_s))
            }
            [HEADLESS, id @ ..] if value.is_empty() => {
                Some(Entry::Headless(TableId(uuid::Uuid::from_bytes(id.try_into().ok()?))))
            }
            [ERASED, prefix @ ..] if value.is_empty() => {
                Some(Entry::Erased(u32::from_be_bytes(prefix.try_into().ok()?)))
            }
            _ => None,
        }
    }
}

/// Key of a table's record.
pub(crate) fn table_key(table: TableId) -> Vec<u8> {
    let mut key = vec![TABLE];
    key.extend_from_slice(table.0.as_bytes());
    key
}

/// Key of a window.
pub(crate) fn window_key(table: TableId, number: u32) -> Vec<u8> {
    let mut key = vec![WINDOW];
    key.extend_from_slice(table.0.as_bytes());
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// Key of what says that no partition of a table has a head.
pub(crate) fn headless_key(table: TableId) -> Vec<u8> {
    let mut key = vec![HEADLESS];
    key.extend_from_slice(table.0.as_bytes());
    key
}

/// Key of an erased prefix.
pub(crate) fn erased_key(prefix: u32) -> Vec<u8> {
    let mut key = vec![ERASED];
    key.extend_from_slice(&prefix.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    //! What is written is read back; anything else is no entry.
    use super::*;

    fn table(number: u128) -> TableId {
        TableId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn entries_come_back() {
        let own = Record { generation: 0, place: Place::Own(7) };
        let shared = Record { generation: u64::MAX, place: Place::Shared(u32::MAX) };
        for entry in [
            Entry::Table(table(1), own),
            Entry::Table(table(u128::MAX), shared),
            Entry::Window(table(u128::MAX), 9, -1),
            Entry::Headless(table(7)),
            Entry::Next(12),
            Entry::Erased(3),
        ] {
            let (key, value) = entry.encode();
            assert_eq!(Entry::decode(&key, &value), Some(entry));
            assert_eq!(Entry::decode(&key, &[value.as_slice(), b"x"].concat()), None, "{entry:?} with more");
            assert_eq!(Entry::decode(&key[..key.len() - 1], &value), None, "{entry:?} with a shorter key");
        }
    }

    #[test]
    fn a_record_is_drawn_to_the_byte() {
        let record = Record { generation: 258, place: Place::Shared(5) };
        let (key, value) = Entry::Table(table(0x0102), record).encode();
        assert_eq!(key, *b"t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02");
        assert_eq!(value, [1, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 5]);
    }

    #[test]
    fn what_a_newer_version_writes_is_not_guessed_at() {
        let (key, mut value) =
            Entry::Table(table(1), Record { generation: 0, place: Place::Own(1) }).encode();
        value[0] = 2;
        assert_eq!(Entry::decode(&key, &value), None);
        assert_eq!(Entry::decode(b"x", b""), None);
    }
}
