//! A short, deterministic run of the fuzzer: recorded envelopes and frames, mutated.

use super::*;

/// xorshift64*: all the randomness a deterministic test needs.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The longest hex field of each recorded line.
fn seeds() -> Vec<Vec<u8>> {
    let files = [
        include_str!("../../tests/frames/requests.hex"),
        include_str!("../../tests/frames/responses.hex"),
        include_str!("../../tests/frames/frames.hex"),
        include_str!("../../tests/frames/broken.hex"),
    ];
    let lines = files.iter().flat_map(|file| file.lines()).filter(|line| !line.starts_with('#'));
    let mut seeds: Vec<Vec<u8>> = lines.map(|line| unhex(line.split(" | ").nth(2).unwrap())).collect();
    // Bodies alone, for the decoders behind the header.
    let bodies: Vec<_> = seeds.iter().filter_map(|seed| seed.get(9..)).map(<[u8]>::to_vec).collect();
    seeds.extend(bodies);
    seeds
}

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    data.truncate(4096);
    for _ in 0..random.below(6) {
        let at = random.below(data.len());
        match random.below(7) {
            0 => data.truncate(at),
            1 if !data.is_empty() => data[at] ^= 1 << random.below(8),
            2 if !data.is_empty() => data[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => data.insert(at, random.below(256) as u8),
            4 if !data.is_empty() => drop(data.remove(at)),
            5 => data.extend_from_within(at..),
            _ => data.splice(at..data.len().min(at + 4), [0xff; 4]).for_each(drop),
        }
    }
    data
}

#[test]
fn mutated_recordings_do_no_harm() {
    let seeds = seeds();
    let mut random = Random(0x5eed_cafe_f00d_0001);
    for _ in 0..20_000 {
        let seed = &seeds[random.below(seeds.len())];
        let mut data = vec![random.below(256) as u8, random.below(256) as u8];
        data.extend(mutate(seed, &mut random));
        fuzz_one(&data);
    }
}

#[test]
fn recordings_unchanged_do_no_harm() {
    for seed in seeds() {
        for mode in 0..128 {
            let chunk = if mode % 3 == 0 { 0 } else { 255 };
            fuzz_one(&[&[mode, chunk][..], &seed[..seed.len().min(1024)]].concat());
        }
    }
}
