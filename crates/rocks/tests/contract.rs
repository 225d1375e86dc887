//! The contract of `storage` over RocksDB.

mod common;

use basalt_storage::contract;
use common::{Scratch, open};

#[test]
fn rocksdb_keeps_the_contract() {
    let with_engine = |part: &dyn Fn(&dyn basalt_storage::engine::Engine)| {
        let scratch = Scratch::new();
        part(&open(scratch.path()));
    };
    contract::run(with_engine, &[b"1", b"2", b"3"]);
}
