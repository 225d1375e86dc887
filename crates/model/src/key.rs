//! A partition key with its token, in ring order.

use std::cmp::Ordering;

use bytes::Bytes;

use crate::token::Token;

/// The longest partition key, bytes (`FBUtilities.MAX_UNSIGNED_SHORT`).
pub const PARTITION_KEY_MAX_BYTES: usize = 65_535;

/// A serialized partition key and its token (`db/DecoratedKey`). Ordered by token, then by the
/// key's raw bytes, unsigned.
///
/// A key of one column is that column's value; of several, each value with a 2-byte length before
/// it and a zero byte after it (`CompositeType`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DecoratedKey {
    /// The key's place in the ring.
    pub token: Token,
    /// The serialized key.
    pub key: Bytes,
}

impl DecoratedKey {
    /// Hashes `key` with Murmur3Partitioner.
    pub fn new(key: Bytes) -> DecoratedKey {
        DecoratedKey { token: Token::of(&key), key }
    }

    /// The components of a key of `columns` columns; `None` when the bytes are not such a key.
    pub fn components(&self, columns: usize) -> Option<Vec<Bytes>> {
        if columns == 1 {
            return Some(vec![self.key.clone()]);
        }
        let mut rest = self.key.clone();
        let mut values = Vec::with_capacity(columns);
        while !rest.is_empty() {
            let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
            if rest.len() < 2 + length + 1 {
                return None;
            }
            values.push(rest.slice(2..2 + length));
            rest = rest.slice(2 + length + 1..);
        }
        (values.len() == columns).then_some(values)
    }

    /// Joins the values of several key columns; each at most 65,535 bytes.
    pub fn join(values: &[Bytes]) -> Bytes {
        let mut key = Vec::with_capacity(values.iter().map(|v| v.len() + 3).sum());
        for value in values {
            // Longer values are refused by whoever builds keys, before they come here.
            let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
            key.extend_from_slice(&length.to_be_bytes());
            key.extend_from_slice(&value[..usize::from(length)]);
            key.push(0);
        }
        key.into()
    }
}

impl Ord for DecoratedKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.token.cmp(&other.token).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for DecoratedKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
