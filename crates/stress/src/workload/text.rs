//! Keys and values as text, appended without allocating.

use bytes::{BufMut, BytesMut};

use crate::random::Random;

/// 64 characters, one for six bits.
pub const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// Appends `length` random characters: six bits each, so that they compress by a quarter at most.
pub fn fill(out: &mut BytesMut, length: usize, random: &mut Random) {
    out.reserve(length);
    let mut left = length;
    while left > 0 {
        let mut bits = random.next_u64();
        let mut characters = [0; 10];
        for character in &mut characters {
            *character = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
        let count = left.min(characters.len());
        out.extend_from_slice(&characters[..count]);
        left -= count;
    }
}

/// Appends a number in decimal, with zeros in front up to `width` digits.
pub fn digits(out: &mut BytesMut, mut number: u64, width: usize) {
    let mut text = [b'0'; 20];
    let mut first = text.len();
    while number > 0 || text.len() - first < width.clamp(1, 20) {
        first -= 1;
        text[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[first..]);
}

/// Appends 16 hexadecimal digits.
pub fn hex(out: &mut BytesMut, number: u64) {
    for shift in (0..16).rev() {
        out.put_u8(b"0123456789abcdef"[(number >> (shift * 4)) as usize & 15]);
    }
}

/// YCSB's hash of a number (`Utils.fnvhash64`: FNV-1a over its bytes, the lowest first, without sign).
pub fn fnv(number: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in number.to_le_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
    }
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_usual() {
        for (number, width) in [(0, 0), (0, 3), (7, 3), (1234, 3), (u64::MAX, 20), (u64::MAX, 99)] {
            let mut out = BytesMut::new();
            digits(&mut out, number, width);
            assert_eq!(out, format!("{number:0width$}", width = width.min(20)).as_bytes());
            let mut out = BytesMut::new();
            hex(&mut out, number);
            assert_eq!(out, format!("{number:016x}").as_bytes());
        }
    }

    #[test]
    fn text_has_its_length_and_all_characters() {
        let mut random = Random::new(1);
        for length in [0, 1, 9, 10, 11, 2048] {
            let mut out = BytesMut::new();
            fill(&mut out, length, &mut random);
            assert_eq!(out.len(), length);
            assert!(out.iter().all(|byte| ALPHABET.contains(byte)));
        }
        let mut out = BytesMut::new();
        fill(&mut out, 64_000, &mut random);
        let mut counts = [0_u64; 256];
        out.iter().for_each(|&byte| counts[byte as usize] += 1);
        let of = |byte: &u8| (counts[*byte as usize] as f64 - 1000.0).powi(2) / 1000.0;
        let chi_square: f64 = ALPHABET.iter().map(of).sum();
        // The 99.9 % point of 63 degrees of freedom.
        assert!(chi_square < 103.4, "{chi_square}");
    }

    /// `Utils.hash` of YCSB: the first keys of every YCSB load.
    #[test]
    fn the_hash_is_ycsbs() {
        assert_eq!(fnv(0), 6_284_781_860_667_377_211);
        assert_eq!(fnv(1), 8_517_097_267_634_966_620);
    }
}
