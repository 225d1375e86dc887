//! What readers see while writers write: a write set whole or not at all, over several tables and
//! several keys, of their own family or sharing one.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use basalt_model::TableId;
use basalt_rocks::RocksEngine;
use basalt_storage::engine::{Engine, EngineError, ReadTier, Reads, Values, WriteSet};
use common::{QUICK, Scratch, open, table, walk};

const KEYS: [&[u8]; 3] = [b"a", b"b", b"c"];
const ROUNDS: u64 = 3000;

/// Writes the same number to every key of every table, again and again.
fn write(engine: &RocksEngine, tables: &[TableId]) {
    for number in 1..=ROUNDS {
        let mut set = WriteSet::new();
        for table in tables {
            for key in KEYS {
                set.put(*table, key, &number.to_be_bytes());
            }
        }
        engine.write(&[&set], QUICK).expect("a write");
    }
}

fn all_equal<T: PartialEq + std::fmt::Debug>(values: &[T]) {
    assert!(values.windows(2).all(|pair| pair[0] == pair[1]), "torn: {values:?}");
}

/// What a read found: nothing, where it was to use memory only and needs the disk.
fn allowed(values: Result<Values, EngineError>) -> Values {
    match values {
        Err(EngineError::WouldBlock) => Values::new(),
        values => values.expect("a read"),
    }
}

fn read(engine: &RocksEngine, tables: &[TableId], is_done: &AtomicBool) -> u64 {
    let mut rounds = 0;
    while !is_done.load(Ordering::Relaxed) {
        for tier in [ReadTier::All, ReadTier::CacheOnly] {
            for table in tables {
                all_equal(&allowed(engine.multi_get(*table, &KEYS, tier)));
            }
            let view = engine.view().expect("a view");
            let mut seen = Vec::new();
            for table in tables {
                seen.extend(allowed(view.multi_get(*table, &KEYS, tier)));
            }
            all_equal(&seen);
        }
        for table in tables {
            let mut cursor = engine.cursor(*table, walk(b"", None)).expect("a cursor");
            let mut seen = Vec::new();
            let mut is_there = cursor.seek(b"").expect("a move");
            while is_there {
                seen.push(cursor.value().to_vec());
                is_there = cursor.next().expect("a move");
            }
            assert!(seen.is_empty() || seen.len() == KEYS.len(), "torn: {seen:?}");
            all_equal(&seen);
        }
        rounds += 1;
    }
    rounds
}

#[test]
fn a_write_set_is_seen_whole() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let tables: Vec<TableId> = (0..4).map(table).collect();
    engine.create_small_tables(&tables[..2]).expect("tables that share");
    for table in &tables[2..] {
        engine.create_table(*table).expect("a table");
    }
    let is_done = AtomicBool::new(false);
    let rounds = std::thread::scope(|threads| {
        let reader = threads.spawn(|| read(&engine, &tables, &is_done));
        write(&engine, &tables);
        engine.flush(None).expect("a flush");
        write(&engine, &tables);
        is_done.store(true, Ordering::Relaxed);
        reader.join().expect("the reader did not panic")
    });
    assert!(rounds > 10, "only {rounds} rounds of reading beside the writes");
}

#[test]
fn truncating_and_dropping_beside_writes_and_reads_does_no_harm() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let tables: Vec<TableId> = (0..2).map(table).collect();
    engine.create_small_tables(&tables[..1]).expect("a table that shares");
    engine.create_table(tables[1]).expect("a table");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| write(&engine, &tables));
        let reader = threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let view = engine.view().expect("a view");
                for table in &tables {
                    let first = view.multi_get(*table, &KEYS, ReadTier::All).expect("a read");
                    all_equal(&first);
                    std::thread::yield_now();
                    let second = view.multi_get(*table, &KEYS, ReadTier::All).expect("a read");
                    assert_eq!(first, second, "a view does not move");
                }
            }
        });
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                engine.flush(None).expect("a flush");
                engine.flush(Some(tables[1])).expect("a flush");
            }
        });
        while !writer.is_finished() {
            for table in &tables {
                engine.truncate_table(*table).expect("a truncation");
            }
        }
        is_done.store(true, Ordering::Relaxed);
        writer.join().expect("the writer did not panic");
        reader.join().expect("the reader did not panic");
    });
    // No write failed, and none stands in the way of what follows.
    for table in &tables {
        engine.truncate_table(*table).expect("a truncation");
        assert_eq!(engine.get(*table, b"a", ReadTier::All), Ok(None));
    }
    drop(engine);
    let engine = open(scratch.path());
    for table in &tables {
        assert_eq!(engine.get(*table, b"a", ReadTier::All), Ok(None));
    }
}
