//! Murmur3Partitioner's tokens.
//!
//! Lives with the nouns because storage keys, `token()` in CQL, the ring and the load generator
//! all need the same 64 bits, and none of them may depend on another.

/// A place in the ring (`dht/Murmur3Partitioner.LongToken`). [`Token::MIN`] is a bound, never the
/// token of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

impl Token {
    /// Before every key (`Murmur3Partitioner.MINIMUM`).
    pub const MIN: Token = Token(i64::MIN);

    /// The token of a serialized partition key. The empty key has the minimum token.
    pub fn of(key: &[u8]) -> Token {
        if key.is_empty() {
            return Token::MIN;
        }
        match murmur3_h1(key) {
            // The minimum is reserved for range bounds.
            i64::MIN => Token(i64::MAX),
            hash => Token(hash),
        }
    }
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The first half of Cassandra's Murmur3 x64 128 (`utils/MurmurHash.hash3_x64_128`, seed 0),
/// which differs from the published function: the tail's bytes are sign-extended.
fn murmur3_h1(data: &[u8]) -> i64 {
    let (mut h1, mut h2) = (0u64, 0u64);
    let mut blocks = data.chunks_exact(16);
    for block in &mut blocks {
        let (low, high) = block.split_at(8);
        h1 ^= mix_k1(little_endian(low));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_k2(little_endian(high));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let tail = blocks.remainder();
    let (low, high) = tail.split_at(tail.len().min(8));
    if !high.is_empty() {
        h2 ^= mix_k2(signed_tail(high));
    }
    if !low.is_empty() {
        h1 ^= mix_k1(signed_tail(low));
    }
    let length = data.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    final_mix(h1).wrapping_add(final_mix(h2)) as i64
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte))
}

/// Each byte is widened with its sign before it is shifted into place: Cassandra's own rule.
fn signed_tail(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .enumerate()
        .fold(0, |word, (index, &byte)| word ^ ((i64::from(byte as i8) as u64) << (8 * index)))
}

fn mix_k1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_k2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn final_mix(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

#[cfg(test)]
mod tests;
