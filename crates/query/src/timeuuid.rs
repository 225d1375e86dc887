//! Version 1 UUIDs (`utils/TimeUUID`): fresh ones, strictly increasing within this process, and
//! conversions to and from times.

use std::sync::atomic::{AtomicI64, Ordering};

use basalt_model::env::{Env, SharedEnv};

/// 100-nanosecond ticks from 1582-10-15 to 1970-01-01.
const EPOCH_TICKS: i64 = 0x01B2_1DD2_1381_4000;
const TICKS_PER_MILLI: i64 = 10_000;
const VERSION_1: u64 = 0x1000;
/// The smallest and largest second halves in the signed order of `TimeUUIDType`.
const MIN_CLOCK_SEQUENCE_AND_NODE: u64 = 0x8080_8080_8080_8080;
const MAX_CLOCK_SEQUENCE_AND_NODE: u64 = 0x7f7f_7f7f_7f7f_7f7f;
/// Lists prepend with times mirrored at this moment, milliseconds: 2010-01-01.
const PREPEND_REFERENCE_MS: i64 = 1_262_304_000_000;

/// A source of fresh time-UUIDs. One per process.
pub struct TimeUuids {
    env: SharedEnv,
    last_ticks: AtomicI64,
    last_prepend_ticks: AtomicI64,
    low: u64,
}

impl TimeUuids {
    /// With a random node and clock sequence.
    pub fn new(env: SharedEnv) -> TimeUuids {
        // Variant bits 10, and the multicast bit that marks a node as random (RFC 4122 §4.5).
        let low = (env.random_u64() & 0x3fff_ffff_ffff_ffff) | 0x8000_0100_0000_0000;
        TimeUuids { env, last_ticks: AtomicI64::new(0), last_prepend_ticks: AtomicI64::new(i64::MAX), low }
    }

    /// A fresh one, larger than all before.
    pub fn next(&self) -> [u8; 16] {
        let now = EPOCH_TICKS + self.env.wall_micros() * 10;
        let step = |last: i64| Some(now.max(last + 1));
        let last = self.last_ticks.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
        let ticks = now.max(last.unwrap_or(now).wrapping_add(1));
        assemble(ticks, self.low)
    }

    /// `count` fresh ones, ascending, all of them smaller than any this process gave for
    /// prepending before: they run backwards as time goes on (`Lists.Prepender`).
    pub fn for_prepending(&self, count: usize) -> Vec<[u8; 16]> {
        let now_ms = self.env.wall_micros().div_euclid(1_000);
        let mirrored_ms = PREPEND_REFERENCE_MS - (now_ms - PREPEND_REFERENCE_MS);
        let top = EPOCH_TICKS + mirrored_ms * TICKS_PER_MILLI;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let step = |last: i64| Some(top.min(last) - count);
        let last = self.last_prepend_ticks.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
        let first = top.min(last.unwrap_or(top)) - count;
        (0..count).map(|index| assemble(first + index, self.low)).collect()
    }
}

/// As [`assemble`] for any moment: of times that do not fit, the bits run into the version, as they
/// do in Cassandra.
fn assemble_any(ticks: i64, low: u64) -> [u8; 16] {
    let ticks = ticks as u64;
    join((ticks << 32) | (((ticks >> 32) & 0xffff) << 16) | VERSION_1 | (ticks >> 48), low)
}

/// The smallest time-UUID of a moment, milliseconds since 1970.
pub(crate) fn min_at(unix_ms: i64) -> [u8; 16] {
    assemble_any(ticks_of(unix_ms), MIN_CLOCK_SEQUENCE_AND_NODE)
}

/// The largest time-UUID of a moment, milliseconds since 1970.
pub(crate) fn max_at(unix_ms: i64) -> [u8; 16] {
    let last_tick = ticks_of(unix_ms.saturating_add(1)).wrapping_sub(1);
    assemble_any(last_tick, MAX_CLOCK_SEQUENCE_AND_NODE)
}

/// The moment of a time-UUID, milliseconds since 1970: cut to microseconds, then towards 1970 (`TimeUUID.unix`).
pub(crate) fn unix_ms(uuid: &[u8; 16]) -> i64 {
    let high = u64::from_be_bytes([uuid[0], uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6], uuid[7]]);
    let ticks = ((high & 0x0fff) << 48) | (((high >> 16) & 0xffff) << 32) | (high >> 32);
    (ticks as i64 / 10 - EPOCH_TICKS / 10) / 1_000
}

/// A random UUID, version 4.
pub(crate) fn random(env: &dyn Env) -> [u8; 16] {
    let high = (env.random_u64() & !0xf000) | 0x4000;
    let low = (env.random_u64() & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    join(high, low)
}

fn ticks_of(unix_ms: i64) -> i64 {
    unix_ms.wrapping_mul(TICKS_PER_MILLI).wrapping_add(EPOCH_TICKS)
}

fn assemble(ticks: i64, low: u64) -> [u8; 16] {
    let ticks = ticks as u64;
    let high = (ticks << 32) | (((ticks >> 32) & 0xffff) << 16) | VERSION_1 | ((ticks >> 48) & 0x0fff);
    join(high, low)
}

fn join(high: u64, low: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&high.to_be_bytes());
    bytes[8..].copy_from_slice(&low.to_be_bytes());
    bytes
}
