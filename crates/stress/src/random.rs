//! Reproducible numbers: the requests of a run follow from its seed and their place in the plan,
//! whatever thread makes them.

/// Spreads the bits of a number over all 64 (splitmix64's last step); different numbers stay different.
pub fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A small generator (splitmix64): quality beyond even spread is not asked for.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The generator of one request: request `index` of the run with this seed.
    pub fn at(seed: u64, index: u64) -> Random {
        let mut random = Random(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        random.next_u64();
        random
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `limit`, which is not 0; the bias of multiplying is below 2^-32 for limits that occur.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `[0, 1)`, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
