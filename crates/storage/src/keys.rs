//! Keys of the engine, whose order as bytes is the order of a table: token, partition key, kind of
//! entry, clustering. Drawn byte by byte in `docs/formats/keys.md`.
//!
//! Knows tables and clusterings, not what the values behind the keys mean.

pub mod byte_comparable;
pub mod clustering;
pub mod path;

use basalt_model::command::KeyBound;
use basalt_model::{DataType, DecoratedKey, Token};
use bytes::Bytes;

pub use byte_comparable::KeyError;
use byte_comparable::{ESCAPE, Input, decode_escaped, encode_escaped, escaped_len};

/// What an entry of a partition is. The byte also ends the escaped partition key, for which it
/// must lie in the range of separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntryKind {
    /// Partition deletion and flags.
    Head = 0x10,
    /// The static row and its cells.
    Static = 0x11,
    /// Range tombstones, by start.
    RangeTombstone = 0x12,
    /// Rows and their cells.
    Row = 0x13,
}

/// Behind every entry of a partition and before the next partition.
pub const PARTITION_END: u8 = 0x14;

/// Bytes of a token.
const TOKEN_BYTES: usize = 8;

impl EntryKind {
    /// The kind a byte stands for.
    pub fn of(byte: u8) -> Option<EntryKind> {
        match byte {
            0x10 => Some(EntryKind::Head),
            0x11 => Some(EntryKind::Static),
            0x12 => Some(EntryKind::RangeTombstone),
            0x13 => Some(EntryKind::Row),
            _ => None,
        }
    }
}

/// The longest component of a key that is not escaped text or bytes: what decimals take grows with the square of it.
const COMPONENT_MAX_BYTES: usize = 65_535;

/// Whether a clustering value or path is longer than keys take it.
fn is_too_long(data_type: &DataType, value: &[u8]) -> bool {
    let is_escaped = matches!(data_type, DataType::Text | DataType::Ascii | DataType::Blob);
    value.len() > COMPONENT_MAX_BYTES && !is_escaped
}

fn ordered_token(token: Token) -> [u8; TOKEN_BYTES] {
    ((token.0 as u64) ^ (1 << 63)).to_be_bytes()
}

/// Appends what all keys of a partition begin with; a kind byte must follow.
pub fn append_partition(key: &DecoratedKey, out: &mut Vec<u8>) {
    out.extend_from_slice(&ordered_token(key.token));
    encode_escaped(&key.key, out);
}

/// An engine key cut into its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyParts<'a> {
    /// Token and partition key: what [`append_partition`] wrote.
    pub partition: &'a [u8],
    /// What the entry is.
    pub kind: EntryKind,
    /// Behind the kind byte: clustering, bound, column and path.
    pub rest: &'a [u8],
}

/// Cuts an engine key.
///
/// # Errors
/// When it is none.
pub fn split(key: &[u8]) -> Result<KeyParts<'_>, KeyError> {
    const BAD: KeyError = KeyError::Malformed("no partition key");
    let escaped = key.get(TOKEN_BYTES..).ok_or(BAD)?;
    let length = TOKEN_BYTES + escaped_len(escaped).ok_or(BAD)?;
    let (partition, rest) = key.split_at_checked(length).ok_or(BAD)?;
    let (&kind, rest) = rest.split_first().ok_or(BAD)?;
    let kind = EntryKind::of(kind).ok_or(KeyError::Malformed("unknown kind of entry"))?;
    Ok(KeyParts { partition, kind, rest })
}

/// The partition that `partition`, as cut by [`split`], stands for.
///
/// # Errors
/// When it is none.
pub fn decode_partition(partition: &[u8]) -> Result<DecoratedKey, KeyError> {
    let (token, escaped) =
        partition.split_first_chunk::<TOKEN_BYTES>().ok_or(KeyError::Malformed("no token"))?;
    let token = Token((u64::from_be_bytes(*token) ^ (1 << 63)) as i64);
    if let Some((&ESCAPE, plain)) = escaped.split_last()
        && !plain.contains(&ESCAPE)
    {
        return Ok(DecoratedKey { token, key: Bytes::copy_from_slice(plain) });
    }
    let mut key = Vec::with_capacity(escaped.len());
    let mut input = Input::new(escaped);
    decode_escaped(&mut input, &mut key)?;
    if !input.rest().is_empty() {
        return Err(KeyError::Malformed("bytes behind a partition key"));
    }
    Ok(DecoratedKey { token, key: Bytes::from(key) })
}

/// The smallest engine key a range of partitions that starts here can hold.
pub fn range_start(bound: &KeyBound) -> Vec<u8> {
    match bound {
        KeyBound::Unbounded => Vec::new(),
        KeyBound::Token { token, inclusive: true } => ordered_token(*token).to_vec(),
        KeyBound::Token { token, inclusive: false } => behind_token(*token),
        KeyBound::Key { key, inclusive } => {
            at_key(key, if *inclusive { EntryKind::Head as u8 } else { PARTITION_END })
        }
    }
}

/// The first engine key beyond a range of partitions that ends here; `None` for no end.
pub fn range_end(bound: &KeyBound) -> Option<Vec<u8>> {
    match bound {
        KeyBound::Unbounded => None,
        KeyBound::Token { token: Token(i64::MAX), inclusive: true } => None,
        KeyBound::Token { token, inclusive: true } => Some(behind_token(*token)),
        KeyBound::Token { token, inclusive: false } => Some(ordered_token(*token).to_vec()),
        KeyBound::Key { key, inclusive } => {
            Some(at_key(key, if *inclusive { PARTITION_END } else { EntryKind::Head as u8 }))
        }
    }
}

/// Behind all keys of a token. Longer than any of them when there is no next token.
fn behind_token(token: Token) -> Vec<u8> {
    match token.0.checked_add(1) {
        Some(next) => ordered_token(Token(next)).to_vec(),
        // No escaped key begins with two bytes FF that could reach this: keys are bounded.
        None => vec![0xFF; TOKEN_BYTES + basalt_model::key::PARTITION_KEY_MAX_BYTES + 1],
    }
}

fn at_key(key: &DecoratedKey, end: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(TOKEN_BYTES + key.key.len() + 8);
    append_partition(key, &mut out);
    out.push(end);
    out
}

#[cfg(test)]
mod tests;
