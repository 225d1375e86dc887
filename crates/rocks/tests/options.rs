//! The options of a table have their effect on its files: sizes are measured, not asked for.

mod common;

use basalt_model::schema::OptionsEffect;
use basalt_rocks::RocksEngine;
use basalt_storage::engine::options::{Codec, Shape};
use basalt_storage::engine::{Engine, ReadTier, Reads, StorageOptions, WriteSet};
use common::{QUICK, Scratch, config, open, table};

const ROWS: u32 = 6_000;

fn key(number: u32) -> [u8; 4] {
    // Spread over the key space, so that every flush overlaps every other.
    number.wrapping_mul(2_654_435_761).to_be_bytes()
}

fn fill(engine: &RocksEngine, number: u128, rows: std::ops::Range<u32>) {
    let mut set = WriteSet::new();
    for row in rows {
        set.put(
            table(number),
            &key(row),
            format!("a value that repeats itself, and {row} of them").as_bytes(),
        );
    }
    engine.write(&[&set], QUICK).expect("a write");
}

fn disk(engine: &RocksEngine, number: u128) -> u64 {
    engine.stats(table(number)).expect("its numbers").disk_bytes
}

fn with(change: impl FnOnce(&mut StorageOptions)) -> StorageOptions {
    let mut options = StorageOptions::default();
    change(&mut options);
    options
}

/// Bytes on disk of the same rows.
fn size_with(engine: &RocksEngine, number: u128, options: &StorageOptions) -> u64 {
    assert_eq!(engine.create_table_with(table(number), options), Ok(OptionsEffect::NewFiles));
    fill(engine, number, 0..ROWS);
    engine.compact(table(number)).expect("a compaction");
    disk(engine, number)
}

#[test]
fn each_codec_has_its_size_and_an_altered_one_after_the_next_compaction() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let codec = |codec| with(|options| options.codec = codec);
    let none = size_with(&engine, 1, &codec(Codec::None));
    let lz4 = size_with(&engine, 2, &codec(Codec::Lz4));
    let high = size_with(&engine, 3, &codec(Codec::Lz4High(9)));
    let zstd = size_with(&engine, 4, &codec(Codec::Zstd(3)));
    assert!(none > lz4 * 2 && lz4 > high && high > zstd, "{none} {lz4} {high} {zstd}");
    // A level counts, and a ratio that is not reached leaves blocks as they are.
    assert!(size_with(&engine, 5, &codec(Codec::Zstd(19))) < zstd);
    let strict = with(|options| options.min_compress_ratio = 20.0);
    let kept = size_with(&engine, 6, &strict);
    assert!(kept > none / 100 * 99, "{kept} {none} {lz4}");
    // Small chunks have less to repeat.
    assert!(size_with(&engine, 7, &with(|options| options.chunk_bytes = 1 << 10)) > lz4 * 11 / 10);

    assert_eq!(engine.set_options(table(1), &codec(Codec::Zstd(3))), Ok(OptionsEffect::NewFiles));
    assert_eq!(disk(&engine, 1), none, "what is written stays as it is");
    engine.compact(table(1)).expect("a compaction");
    assert_eq!(disk(&engine, 1), zstd);
}

#[test]
fn options_stay_with_a_table_that_is_truncated_and_over_a_restart() {
    let scratch = Scratch::new();
    let mut sizes = Vec::new();
    let none = with(|options| options.codec = Codec::None);
    for _ in 0..2 {
        let engine = open(scratch.path());
        engine.create_table_with(table(1), &none).expect("a table, or one that is there");
        engine.create_table(table(1)).expect("it stays as it is");
        for _ in 0..2 {
            engine.truncate_table(table(1)).expect("a truncation");
            fill(&engine, 1, 0..ROWS);
            engine.flush(Some(table(1))).expect("a flush");
            sizes.push(disk(&engine, 1));
        }
        engine.close().expect("closed");
    }
    // As the last engine left it, nothing set again.
    let engine = open(scratch.path());
    engine.truncate_table(table(1)).expect("a truncation");
    fill(&engine, 1, 0..ROWS);
    engine.flush(Some(table(1))).expect("a flush");
    sizes.push(disk(&engine, 1));
    let (least, most) = (sizes.iter().min().expect("five"), sizes.iter().max().expect("five"));
    assert!(*least > u64::from(ROWS) * 40 && most - least < least / 50, "{sizes:?}");
}

#[test]
fn a_filter_is_as_large_as_its_chance_wants() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let chance = |chance| with(|options| options.bloom_filter_fp_chance = chance);
    let without = size_with(&engine, 1, &chance(1.0));
    let bits = |size: u64| (size - without) as f64 * 8.0 / f64::from(ROWS);
    for (number, wanted, least, most) in [(2, 0.1, 4.7, 5.6), (3, 0.01, 9.6, 10.6), (4, 0.0001, 20.0, 22.5)] {
        let has = bits(size_with(&engine, number, &chance(wanted)));
        assert!((least..most).contains(&has), "{wanted}: {has} bits for a key");
    }
    // Altered, from the next compaction on.
    assert_eq!(engine.set_options(table(1), &chance(0.01)), Ok(OptionsEffect::NewFiles));
    engine.compact(table(1)).expect("a compaction");
    assert!((9.6..10.6).contains(&bits(disk(&engine, 1))));
    assert_eq!(engine.set_options(table(1), &chance(1.0)), Ok(OptionsEffect::NewFiles));
    engine.compact(table(1)).expect("a compaction");
    assert_eq!(disk(&engine, 1), without);
}

fn runs(engine: &RocksEngine) -> Vec<usize> {
    engine.files_by_level(table(1)).expect("files")
}

#[test]
fn a_leveled_table_keeps_levels_and_a_tiered_one_runs() {
    let scratch = Scratch::new();
    let leveled = with(|options| options.shape = Shape::Leveled { file_bytes: 1 << 20, fanout: 10 });
    let tiered = with(|options| options.shape = Shape::Tiered { min_runs: 4, max_runs: 32 });
    let off = StorageOptions { is_compacting: false, ..tiered };
    let engine = open(scratch.path());
    assert_eq!(engine.create_table_with(table(1), &off), Ok(OptionsEffect::NewFiles));
    let flush = |engine: &RocksEngine| {
        for part in 0..7 {
            fill(engine, 1, part * 1_000..(part + 1) * 1_000);
            engine.flush(Some(table(1))).expect("a flush");
        }
        engine.wait_for_compactions().expect("they end");
    };
    flush(&engine);
    assert_eq!(runs(&engine), [7], "nothing is merged unless asked for");
    assert_eq!(engine.set_options(table(1), &tiered), Ok(OptionsEffect::NewFiles));
    flush(&engine);
    let tiers: usize = runs(&engine).iter().sum();
    assert!(tiers <= 5, "altered at once: {:?}", runs(&engine));

    // Another way of merging waits for the next start, and is kept until then.
    assert_eq!(engine.set_options(table(1), &leveled), Ok(OptionsEffect::NextStart));
    assert_eq!(engine.set_options(table(1), &leveled), Ok(OptionsEffect::NewFiles), "it is known");
    engine.close().expect("closed");
    drop(engine);
    let engine = open(scratch.path());
    flush(&engine);
    let levels = runs(&engine);
    assert!(levels[0] < 4 && levels.len() > 1, "{levels:?}");
    for row in (0..7_000).step_by(97) {
        assert!(engine.get(table(1), &key(row), ReadTier::All).expect("a read").is_some());
    }
}

#[test]
fn a_table_that_has_to_share_says_so() {
    let scratch = Scratch::new();
    let engine = RocksEngine::open_with_families(&config(scratch.path()), 1).expect("the engine opens");
    engine.create_table(table(1)).expect("the one with a family of its own");
    let zstd = with(|options| options.codec = Codec::Zstd(3));
    // Without options it shares; with options it has its own for longer.
    assert_eq!(engine.create_table_with(table(2), &StorageOptions::default()), Ok(OptionsEffect::NewFiles));
    assert_eq!(engine.set_options(table(2), &zstd), Ok(OptionsEffect::Shared));
    for number in 3..6 {
        assert_eq!(engine.create_table_with(table(number), &zstd), Ok(OptionsEffect::NewFiles));
    }
    assert_eq!(engine.create_table_with(table(6), &zstd), Ok(OptionsEffect::Shared));
    assert_eq!(
        engine.set_options(table(7), &zstd),
        Err(basalt_storage::engine::EngineError::UnknownTable(table(7)))
    );
}

#[test]
fn an_empty_table_is_flushed_to_no_file() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    engine.create_table(table(1)).expect("a table");
    engine.flush(Some(table(1))).expect("a flush");
    assert_eq!(disk(&engine, 1), 0);
    fill(&engine, 1, 0..10);
    for _ in 0..3 {
        engine.flush(Some(table(1))).expect("a flush");
    }
    assert_eq!(runs(&engine), [1]);
}

#[test]
fn options_that_cannot_be_read_are_refused_and_may_be_removed() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    engine.create_table_with(table(1), &with(|options| options.codec = Codec::None)).expect("a table");
    fill(&engine, 1, 0..10);
    drop(engine);
    let file = scratch.join("basalt-options");
    let text = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, text.replace("none", "nome")).expect("written");
    assert!(common::refused(scratch.path()).to_string().contains("basalt-options"));
    std::fs::remove_file(&file).expect("removed");
    let engine = open(scratch.path());
    assert!(engine.get(table(1), &key(3), ReadTier::All).expect("a read").is_some());
}
