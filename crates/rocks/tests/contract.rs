//! The contract of `storage` over RocksDB.

mod common;

use basalt_storage::contract;
use common::{Scratch, open};

/// Heads of a partition: with range tombstones, with nothing, with a deletion.
const HEADS: [&[u8]; 3] = [b"\x11\x02", b"\x11\x00", b"\x11\x01\x02\x02"];

#[test]
fn rocksdb_keeps_the_contract() {
    let with_engine = |part: &dyn Fn(&dyn basalt_storage::engine::Engine)| {
        let scratch = Scratch::new();
        part(&open(scratch.path()));
    };
    contract::run(with_engine, &HEADS);
}
