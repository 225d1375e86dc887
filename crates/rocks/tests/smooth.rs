//! Writers are slowed before RocksDB has to slow or stop them.

mod common;

use basalt_rocks::{RocksConfig, RocksEngine};
use basalt_storage::engine::{Engine, StorageOptions, WriteSet};
use common::{QUICK, Scratch, open, table};

const VALUES_A_SET: u32 = 8;
const VALUE_BYTES: usize = 16 << 10;
/// 150 MB, for an engine that lets 16 MB wait to be flushed.
const SETS: u32 = 1_200;
const MEMORY_BYTES: u64 = 32 << 20;

/// Bytes that do not compress: xorshift64.
fn noise() -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..VALUE_BYTES / 8).flat_map(|_| next()).collect()
}

#[test]
fn rocksdb_neither_slows_nor_stops_writers_who_write_without_pause() {
    let scratch = Scratch::new();
    let config = RocksConfig::new(scratch.path().to_owned(), MEMORY_BYTES, 2);
    let engine = RocksEngine::open(&config).expect("the engine opens");
    engine.create_table(table(1)).expect("a table");
    let value = noise();
    for number in 0..SETS {
        let mut set = WriteSet::new();
        for key in 0..VALUES_A_SET {
            let key = (number * VALUES_A_SET + key).wrapping_mul(2_654_435_761);
            set.put(table(1), &key.to_be_bytes(), &value);
        }
        engine.write(&[&set], QUICK).expect("a write");
    }
    let debt = engine.debts().expect("debts")[&table(1)];
    assert_eq!((debt.stops, debt.delays, engine.metrics().stalled_ms), (0, 0, 0));
}

#[test]
fn runs_of_a_table_that_is_not_merged_hold_nobody_back() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let options = StorageOptions { is_compacting: false, ..StorageOptions::default() };
    engine.create_table_with(table(1), &options).expect("a table");
    let mut set = WriteSet::new();
    set.put(table(1), b"k", b"v");
    for _ in 0..40 {
        engine.write(&[&set], QUICK).expect("a write");
        engine.flush(Some(table(1))).expect("a flush");
    }
    engine.write(&[&set], QUICK).expect("a write");
    assert_eq!(engine.files_by_level(table(1)), Ok(vec![40]));
    assert_eq!(engine.metrics().brake, 0);
}
