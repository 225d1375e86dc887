//! Version 1 UUIDs from the wall clock (`TimeUUID.Generator`), for ids of tables.

use basalt_model::env::Env;
use uuid::Uuid;

/// Between 1582-10-15 and 1970-01-01, in 100 ns.
const EPOCH_OFFSET: u64 = 0x01b2_1dd2_1381_4000;

/// A time UUID for `micros` since 1970 with random clock sequence and node. The node has its
/// multicast bit set: it is no network card's address.
pub fn generate(env: &dyn Env, micros: i64) -> Uuid {
    let ticks = (micros.max(0) as u64).wrapping_mul(10).wrapping_add(EPOCH_OFFSET);
    let (low, middle, high) = (ticks & 0xffff_ffff, (ticks >> 32) & 0xffff, (ticks >> 48) & 0x0fff);
    let most = (low << 32) | (middle << 16) | 0x1000 | high;
    let least = (env.random_u64() & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000 | 0x0000_0100_0000_0000;
    Uuid::from_u64_pair(most, least)
}
