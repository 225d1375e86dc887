//! Kinds of operation in exact proportions: each block of operations holds every kind as often as
//! its weight says, in an order that changes from block to block. So the number of inserts before
//! any place of the plan is known without counting, on every thread alike.

use crate::random::mix;

/// Operations that a read keeps away from the end of the plan so far: what they insert may not be
/// there yet.
const UNSETTLED: u64 = 1000;

/// Rounds of the shuffle; the kinds' places are evenly spread from 6 on, as a test shows.
const ROUNDS: u64 = 8;

/// Weights of kinds, in turns.
#[derive(Clone, Debug)]
pub struct Mix {
    weights: Vec<u64>,
    length: u64,
    seed: u64,
}

/// What operation stands at a place of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The kind, a place in the weights.
    pub kind: usize,
    /// Numbers the operations of this kind from 0, each once; within a block not in order.
    pub number: u64,
}

impl Mix {
    /// Of these weights, not all of which are 0.
    pub fn new(weights: &[u64], seed: u64) -> Mix {
        let divisor = weights.iter().copied().fold(0, common_divisor).max(1);
        let weights: Vec<u64> = weights.iter().map(|weight| weight / divisor).collect();
        let length = weights.iter().sum::<u64>().max(1);
        Mix { weights, length, seed }
    }

    /// The operation at a place of the plan.
    pub fn at(&self, index: u64) -> Turn {
        let block = index / self.length;
        let mut place = self.shuffled(block, index % self.length);
        for (kind, &weight) in self.weights.iter().enumerate() {
            if place < weight {
                return Turn { kind, number: block * weight + place };
            }
            place -= weight;
        }
        Turn { kind: 0, number: index }
    }

    /// How many operations of a kind are numbered so far that they came at least some thousand
    /// operations before this place, and so are done if they ever will be.
    pub fn settled(&self, kind: usize, index: u64) -> u64 {
        index.saturating_sub(UNSETTLED) / self.length * self.weights[kind]
    }

    /// How many places of this place's block come before it and are of this kind.
    pub fn earlier_in_block(&self, kind: usize, index: u64) -> u64 {
        let first = index / self.length * self.length;
        (first..index).filter(|&other| self.at(other).kind == kind).count() as u64
    }

    /// Where a place of a block goes (the swap-or-not shuffle of Hoang, Morris and Rogaway, 2012: each
    /// round pairs the places and swaps some pairs, so that it is a permutation of any length).
    fn shuffled(&self, block: u64, mut place: u64) -> u64 {
        let key = mix(self.seed ^ mix(block.wrapping_add(1)));
        for round in 0..ROUNDS {
            let key = mix(key ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            // A number below the length, without a division.
            let sum = ((u128::from(key) * u128::from(self.length)) >> 64) as u64;
            let partner = if sum >= place { sum - place } else { sum + self.length - place };
            if mix(key ^ place.max(partner)) & 1 == 1 {
                place = partner;
            }
        }
        place
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_block_is_exact() {
        for (weights, length) in [
            (vec![95, 0, 5], 20),
            (vec![1, 99], 100),
            (vec![47, 47, 6], 100),
            (vec![4, 1, 1, 1], 7),
            (vec![2, 1], 3),
            (vec![7], 1),
            (vec![1, 9_999], 10_000),
        ] {
            let mix = Mix::new(&weights, 3);
            let total: u64 = weights.iter().sum();
            for block in [0, 1, 17] {
                let mut numbers = HashSet::new();
                let mut counts = vec![0; weights.len()];
                for index in block * length..(block + 1) * length {
                    let turn = mix.at(index);
                    counts[turn.kind] += 1;
                    assert!(numbers.insert((turn.kind, turn.number)));
                }
                let expected: Vec<u64> = weights.iter().map(|weight| weight * length / total).collect();
                assert_eq!(counts, expected, "{weights:?}");
            }
        }
    }

    #[test]
    fn numbers_are_dense_and_settled_ones_are_past() {
        let mix = Mix::new(&[2, 1], 9);
        let inserts: HashSet<u64> =
            (0..9000).map(|i| mix.at(i)).filter(|t| t.kind == 1).map(|t| t.number).collect();
        assert_eq!(inserts.len(), 3000);
        assert!((0..3000).all(|number| inserts.contains(&number)));
        let before: HashSet<u64> =
            (0..8000).map(|i| mix.at(i)).filter(|t| t.kind == 1).map(|t| t.number).collect();
        assert_eq!(mix.settled(1, 9000), 2666);
        assert!((0..mix.settled(1, 9000)).all(|number| before.contains(&number)));
        assert_eq!(mix.settled(1, 10), 0);
    }

    #[test]
    fn kinds_stand_everywhere_in_a_block_equally_often() {
        const BLOCKS: u64 = 20_000;
        let mix = Mix::new(&[19, 1], 5);
        let mut counts = [0_u64; 20];
        for index in 0..BLOCKS * 20 {
            counts[(index % 20) as usize] += u64::from(mix.at(index).kind == 1);
        }
        let expected = BLOCKS as f64 / 20.0;
        let chi_square: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        // The 99.9 % point of 19 degrees of freedom.
        assert!(chi_square < 43.8, "{chi_square}");
    }

    #[test]
    fn another_seed_is_another_order() {
        let order = |seed| (0..100).map(|index| Mix::new(&[1, 1], seed).at(index).kind).collect::<Vec<_>>();
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
