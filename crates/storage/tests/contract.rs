//! The contract over the engine in memory.

use basalt_storage::contract;
use basalt_storage::engine::mem::MemEngine;

/// Heads of a partition: with range tombstones, with nothing, with a deletion.
const HEADS: [&[u8]; 3] = [b"\x11\x02", b"\x11\x00", b"\x11\x01\x02\x02"];

#[test]
fn the_engine_in_memory_keeps_the_contract() {
    contract::run(|part| part(&MemEngine::new()), &HEADS);
}
