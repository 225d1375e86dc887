//! Which of the records that exist an operation is about.

use std::str::FromStr;

use super::Error;
use super::text::fnv;
use crate::distribution::Zipfian;
use crate::random::Random;

/// YCSB's exponent (`ZipfianGenerator.ZIPFIAN_CONSTANT`).
pub const EXPONENT: f64 = 0.99;

/// Ranks that YCSB's scrambled distribution draws from before it hashes them onto the records
/// (`ScrambledZipfianGenerator.ITEM_COUNT`).
const SCRAMBLED_ITEMS: u64 = 10_000_000_000;

/// A distribution over the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Each as often.
    Uniform,
    /// Some far more often than others, and these anywhere: YCSB's scrambled Zipf law. Over the
    /// loaded records, so that the favourites stay the same.
    Zipfian,
    /// The newest most often, by Zipf's law over their age.
    Latest,
    /// One after the other, and again from the first.
    Sequential,
}

impl FromStr for Keys {
    type Err = Error;

    fn from_str(text: &str) -> Result<Keys, Error> {
        match text.to_ascii_lowercase().as_str() {
            "uniform" => Ok(Keys::Uniform),
            "zipfian" | "zipf" => Ok(Keys::Zipfian),
            "latest" => Ok(Keys::Latest),
            "sequential" => Ok(Keys::Sequential),
            _ => Err(Error::new(format!("keys {text:?}: uniform, zipfian, latest or sequential"))),
        }
    }
}

/// Draws records.
#[derive(Clone, Debug)]
pub struct Chooser {
    keys: Keys,
    zipfian: Zipfian,
}

impl Chooser {
    /// By this distribution.
    pub fn new(keys: Keys) -> Chooser {
        Chooser { keys, zipfian: Zipfian::new(EXPONENT) }
    }

    /// A record below `known`, of which the first `loaded` are there since the load; `number` counts
    /// the draws. Record 0 when there is none.
    pub fn draw(&self, number: u64, loaded: u64, known: u64, random: &mut Random) -> u64 {
        if known == 0 {
            return 0;
        }
        match self.keys {
            Keys::Uniform => random.below(known),
            Keys::Zipfian => {
                let records = if loaded == 0 { known } else { loaded };
                fnv(self.zipfian.draw(SCRAMBLED_ITEMS, random)) % records
            }
            Keys::Latest => known - 1 - self.zipfian.draw(known, random),
            Keys::Sequential => number % known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(keys: Keys, loaded: u64, known: u64) -> Vec<u64> {
        let chooser = Chooser::new(keys);
        let mut random = Random::new(11);
        let mut counts = vec![0; known as usize];
        for number in 0..100_000 {
            counts[chooser.draw(number, loaded, known, &mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn uniform_draws_all_alike() {
        let expected = 1000.0;
        let chi_square: f64 = counts(Keys::Uniform, 50, 100)
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        // The 99.9 % point of 99 degrees of freedom.
        assert!(chi_square < 148.2, "{chi_square}");
    }

    #[test]
    fn zipfian_has_favourites_that_stand_anywhere() {
        let mut counts = counts(Keys::Zipfian, 1000, 1100);
        assert!(counts[1000..].iter().all(|&count| count == 0), "favourites are loaded records");
        let favourite = counts.iter().position(|&count| count == *counts.iter().max().expect("some"));
        assert_eq!(favourite, Some((fnv(0) % 1000) as usize));
        counts.sort_unstable();
        // The first rank of 10^10 has 1 / 26.469 of all draws.
        let most = *counts.last().expect("some") as f64;
        assert!((3600.0..4100.0).contains(&most), "{most}");
    }

    #[test]
    fn latest_draws_the_newest_most() {
        let counts = counts(Keys::Latest, 1000, 1100);
        assert_eq!(counts.iter().max(), counts.last());
        // 1 / sum of r^-0.99 for 1,100 ranks.
        let newest = counts[1099] as f64;
        assert!((12_200.0..13_400.0).contains(&newest), "{newest}");
    }

    #[test]
    fn sequential_goes_round() {
        assert!(counts(Keys::Sequential, 10, 1000).iter().all(|&count| count == 100));
        assert_eq!(Chooser::new(Keys::Latest).draw(0, 0, 0, &mut Random::new(1)), 0);
    }

    #[test]
    fn names_are_read_and_others_refused() {
        assert_eq!("Zipfian".parse::<Keys>().expect("a name"), Keys::Zipfian);
        let error = "gauss".parse::<Keys>().expect_err("not a name").to_string();
        assert_eq!(error, "keys \"gauss\": uniform, zipfian, latest or sequential");
    }
}
