//! A bit that changed in one table's file: what reads it says so, with the table and the file; everything else goes on,
//! also when a compaction has met it.

mod common;

use std::fs;
use std::path::PathBuf;

use basalt_rocks::{Health, RocksEngine};
use basalt_storage::engine::{CursorOptions, Engine, EngineError, ReadTier, Reads, WriteSet};
use common::{QUICK, SYNCED, Scratch, open, table};

const ROWS: u32 = 2_000;

fn put(engine: &RocksEngine, number: u128, key: u32) -> Result<(), EngineError> {
    let mut set = WriteSet::new();
    set.put(table(number), &key.to_be_bytes(), &[7; 64]);
    engine.write(&[&set], QUICK)
}

fn files(scratch: &Scratch) -> Vec<PathBuf> {
    let names = fs::read_dir(scratch.join("data/db")).expect("a listing");
    let paths = names.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "sst")).collect()
}

/// Tables 1 and 2 with rows in files, one bit changed in the file of table 1; table 3 shares its family with others.
fn damaged(scratch: &Scratch) -> (RocksEngine, String) {
    let engine = open(&scratch.join("data"));
    engine.create_table(table(2)).expect("a table");
    engine.create_small_tables(&[table(3)]).expect("a table");
    (0..ROWS).for_each(|key| put(&engine, 2, key).expect("a write"));
    put(&engine, 3, 0).expect("a write");
    engine.flush(None).expect("a flush");
    let before = files(scratch);
    engine.create_table(table(1)).expect("a table");
    (0..ROWS).for_each(|key| put(&engine, 1, key).expect("a write"));
    engine.flush(Some(table(1))).expect("a flush");
    drop(engine);
    let new = files(scratch).into_iter().find(|path| !before.contains(path)).expect("the file of table 1");
    let mut bytes = fs::read(&new).expect("a file");
    bytes[100] ^= 1;
    fs::write(&new, &bytes).expect("a write");
    (open(&scratch.join("data")), new.file_name().expect("a name").to_string_lossy().into_owned())
}

fn names(error: &EngineError, file: &str) -> bool {
    matches!(error, EngineError::Corruption { table: Some(found), detail }
        if *found == table(1) && detail.contains(file))
}

/// What must go on: the other tables whole, and writes to all.
fn others_go_on(engine: &RocksEngine) {
    for key in [0, ROWS - 1] {
        assert!(engine.get(table(2), &key.to_be_bytes(), ReadTier::All).expect("a read").is_some());
    }
    assert!(engine.get(table(3), &0_u32.to_be_bytes(), ReadTier::All).expect("a read").is_some());
    for number in 1..=3 {
        let mut set = WriteSet::new();
        set.put(table(number), b"new", b"v");
        engine.write(&[&set], SYNCED).expect("a write");
        assert!(engine.get(table(number), b"new", ReadTier::All).expect("a read").is_some());
    }
    for number in 2..=3 {
        engine.flush(Some(table(number))).expect("a flush");
        engine.compact(table(number)).expect("a compaction");
    }
    assert!(matches!(engine.health(), Health::Good | Health::BackgroundErrors(_)), "{:?}", engine.health());
}

#[test]
fn a_read_that_meets_damage_names_table_and_file_and_others_go_on() {
    let scratch = Scratch::new();
    let (engine, file) = damaged(&scratch);
    let key = 0_u32.to_be_bytes();
    let point = engine.get(table(1), &key, ReadTier::All).expect_err("damage");
    assert!(names(&point, &file), "{point}");
    let many = engine.multi_get(table(1), &[&key], ReadTier::All).expect_err("damage");
    assert!(names(&many, &file), "{many}");
    let options = CursorOptions { tier: ReadTier::All, lower: b"", upper: None, fills_cache: false };
    let walk = engine.cursor(table(1), options).and_then(|mut cursor| cursor.seek(b"")).expect_err("damage");
    assert!(names(&walk, &file), "{walk}");
    // Blocks that are whole are read.
    assert!(engine.get(table(1), &(ROWS - 1).to_be_bytes(), ReadTier::All).expect("a read").is_some());
    others_go_on(&engine);
}

#[test]
fn a_compaction_that_meets_damage_stops_no_writes() {
    let scratch = Scratch::new();
    let (engine, file) = damaged(&scratch);
    let error = engine.compact(table(1)).expect_err("damage");
    assert!(names(&error, &file), "{error}");
    let condition = engine.condition().expect("it is told");
    let told = condition.failures.iter().filter(|failure| names(failure, &file)).count();
    assert_eq!(told, 1, "{:?}", condition.failures);
    assert!(condition.is_writing);
    others_go_on(&engine);
    // Nothing was lost by it, and nothing is hidden after opening anew.
    drop(engine);
    let engine = open(&scratch.join("data"));
    let error = engine.get(table(1), &0_u32.to_be_bytes(), ReadTier::All).expect_err("damage");
    assert!(names(&error, &file), "{error}");
    others_go_on(&engine);
}
