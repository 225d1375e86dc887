//! What a user may say about any workload beside its name.

use std::str::FromStr;

use super::{Error, Keys};

/// Options of a workload; what it cannot obey, it refuses.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many records a load writes and a run finds (`--records`).
    pub records: Option<u64>,
    /// Bytes of a value (`--value 10-20KB`).
    pub value: Option<Sizes>,
    /// Which records operations are about (`--keys zipfian`).
    pub keys: Option<Keys>,
    /// The keyspace's replication factor, 1 unless said (`--replication`).
    pub replication: Option<u32>,
    /// Makes the run reproducible (`--seed`).
    pub seed: u64,
    /// Whether values carry what `--verify` looks for.
    pub verify: bool,
    /// The wall clock at the start, microseconds since 1970: where the timestamps of `--verify` begin.
    pub now_micros: i64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            records: None,
            value: None,
            keys: None,
            replication: None,
            seed: 1,
            verify: false,
            now_micros: 0,
        }
    }
}

/// A number of bytes, or a range of which each number is as frequent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The least, bytes.
    pub min: u32,
    /// The most, bytes.
    pub max: u32,
}

impl Sizes {
    /// The most that a value may have, bytes: what a mutation may have by default
    /// (`max_mutation_size`, half a commit log segment).
    pub const LIMIT: u32 = 16 << 20;

    /// Always the same.
    pub const fn fixed(bytes: u32) -> Sizes {
        Sizes { min: bytes, max: bytes }
    }

    /// The size that random bits stand for.
    pub fn of(self, bits: u64) -> usize {
        let span = u64::from(self.max - self.min) + 1;
        self.min as usize + ((u128::from(bits) * u128::from(span)) >> 64) as usize
    }
}

impl FromStr for Sizes {
    type Err = Error;

    /// `100`, `1KB`, `10-20KB`, `512-2KB`: a unit behind the last number holds for both if the first
    /// has none and would otherwise be the larger meaning of `10-20KB`; K is 1024.
    fn from_str(text: &str) -> Result<Sizes, Error> {
        let refused = || {
            Error::new(format!(
                "value size {text:?}: bytes as in 100, 2KB, 10-20KB, 512B-2KB; at most 16 MiB"
            ))
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (last, unit) = number(last, 1).ok_or_else(refused)?;
        let (first, _) = number(first, unit).ok_or_else(refused)?;
        if first == 0 || first > last || last > u64::from(Sizes::LIMIT) {
            return Err(refused());
        }
        Ok(Sizes { min: first as u32, max: last as u32 })
    }
}

/// A number of bytes and the unit it was said in, `unit` if in none.
fn number(text: &str, unit: u64) -> Option<(u64, u64)> {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_suffix("IB").unwrap_or(&text);
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].trim_end_matches('B') {
        "" if text.ends_with('B') => 1,
        "" => unit,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    Some((digits.trim().parse::<u64>().ok()?.checked_mul(unit)?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, min, max) in [
            ("100", 100, 100),
            ("1KB", 1024, 1024),
            ("10-20KB", 10_240, 20_480),
            ("512B-2KiB", 512, 2048),
            ("1k-2k", 1024, 2048),
            ("16MB", 16 << 20, 16 << 20),
        ] {
            assert_eq!(text.parse::<Sizes>().expect(text), Sizes { min, max }, "{text}");
        }
        for text in ["", "0", "20-10", "x", "1TB", "17MB", "-5", "99999999999999999999", "10KB-20"] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_reach_both_ends_and_stay_between() {
        let sizes = Sizes { min: 5, max: 8 };
        assert_eq!((sizes.of(0), sizes.of(u64::MAX)), (5, 8));
        assert_eq!(Sizes::fixed(10).of(12_345_678_901_234), 10);
    }
}
