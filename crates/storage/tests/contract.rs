//! The contract over the engine in memory.

use basalt_storage::contract;
use basalt_storage::engine::mem::MemEngine;

#[test]
fn the_engine_in_memory_keeps_the_contract() {
    contract::run(|part| part(&MemEngine::new()), &[b"1", b"2", b"3"]);
}
