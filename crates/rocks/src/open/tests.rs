//! Catalogue and families compared at opening: what a crash between two steps leaves is cleaned,
//! what no crash leaves is refused.

use basalt_storage::engine::{Engine, ReadTier, Reads, StorageOptions, Sync, WriteOptions, WriteSet};
use rocksdb::IteratorMode;

use crate::catalogue::{Entry, Place, Record};
use crate::engine::RocksEngine;
use crate::family::{own_name, own_number};
use crate::open_error::OpenError;
use crate::testing::{Scratch, table};

fn refused(scratch: &Scratch) -> String {
    match scratch.try_open() {
        Err(error @ OpenError::Damaged { .. }) => error.to_string(),
        Err(error) => panic!("another reason: {error}"),
        Ok(_) => panic!("it opened"),
    }
}

fn put(engine: &RocksEngine, number: u128) {
    let mut set = WriteSet::new();
    set.put(table(number), b"k", b"v");
    engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).expect("a write");
}

fn has(engine: &RocksEngine, number: u128) -> bool {
    engine.get(table(number), b"k", ReadTier::All).expect("a read").is_some()
}

/// Writes an entry into the catalogue behind the engine's back.
fn forge(engine: &RocksEngine, entry: Entry) {
    let (key, value) = entry.encode();
    engine.db().put_cf(engine.catalogue().handle(), key, value).expect("a write");
}

#[test]
fn a_family_without_a_table_is_dropped_and_its_number_is_free() {
    let scratch = Scratch::new();
    let engine = scratch.open();
    engine.create_table(table(1)).expect("a table");
    put(&engine, 1);
    engine
        .db()
        .create_cf(own_name(1), &engine.kit().rows(&StorageOptions::default()).expect("options"))
        .expect("as if a crash came after this");
    drop(engine);
    let engine = scratch.open();
    assert!(engine.db().cf_handle(&own_name(1)).is_none());
    assert!(has(&engine, 1));
    engine.create_table(table(2)).expect("a table, in the family of that name");
    assert!(!has(&engine, 2));
}

#[test]
fn a_table_without_its_family_is_damage() {
    let scratch = Scratch::new();
    let engine = scratch.open();
    engine.create_table(table(1)).expect("a table");
    engine.db().drop_cf(&own_name(0)).expect("a drop behind its back");
    drop(engine);
    let error = refused(&scratch);
    assert!(error.contains("lost its column family"), "{error}");
}

#[test]
fn a_strange_family_is_refused() {
    for name in ["something", "own-01", "own-", "own--1"] {
        let scratch = Scratch::new();
        let engine = scratch.open();
        engine
            .db()
            .create_cf(name, &engine.kit().rows(&StorageOptions::default()).expect("options"))
            .expect("a family");
        drop(engine);
        let error = refused(&scratch);
        assert!(error.contains(&format!("{name:?}")), "{error}");
        assert_eq!(own_number(name), None);
    }
}

#[test]
fn a_catalogue_that_contradicts_itself_is_refused() {
    let shared = |number| Record { generation: 0, place: Place::Shared(number) };
    let cases = [
        (Entry::Table(table(2), shared(0)), "the same place"),
        (Entry::Table(table(2), shared(9)), "next number"),
        (Entry::Headless(table(2)), "without heads"),
        (Entry::Erased(9), "next number"),
        (Entry::Next(0), "next number"),
    ];
    for (entry, reason) in cases {
        let scratch = Scratch::new();
        let engine = scratch.open();
        engine.create_small_tables(&[table(1)]).expect("a table");
        forge(&engine, entry);
        drop(engine);
        let error = refused(&scratch);
        assert!(error.contains(reason), "{entry:?}: {error}");
    }

    let scratch = Scratch::new();
    let engine = scratch.open();
    engine.db().put_cf(engine.catalogue().handle(), b"t", b"").expect("a write");
    drop(engine);
    assert!(refused(&scratch).contains("unreadable entry"));
}

#[test]
fn what_was_written_beside_a_truncation_is_erased_at_the_next_start() {
    let scratch = Scratch::new();
    let engine = scratch.open();
    engine.create_small_tables(&[table(1), table(2)]).expect("tables");
    put(&engine, 2);
    let before = engine.tables_now();
    engine.truncate_table(table(1)).expect("a truncation");
    // A writer that looked at the table map before the truncation and wrote after it.
    let late = before.home(table(1)).expect("the old home").stored(b"k");
    engine.db().put_cf(engine.shared().handle(), late, b"late").expect("a write");
    assert!(!has(&engine, 1), "nobody sees it");
    drop(before); // it keeps the database open
    drop(engine);

    let engine = scratch.open();
    let stored: Vec<_> = engine
        .db()
        .iterator_cf(engine.shared().handle(), IteratorMode::Start)
        .map(|item| item.expect("an entry").0)
        .collect();
    let kept = engine.tables_now().home(table(2)).expect("a home").stored(b"k");
    assert_eq!(stored, [kept.to_vec().into_boxed_slice()]);
    assert!(has(&engine, 2) && !has(&engine, 1));
    let catalogue = engine.db().iterator_cf(engine.catalogue().handle(), IteratorMode::Start);
    let rest = "two tables, both without heads, and the next number; the erased prefix is done";
    assert_eq!(catalogue.count(), 5, "{rest}");
}

/// Whether a table has heads is known after a restart; of a table made before anybody asked it is not.
#[test]
fn heads_that_may_be_there_are_not_forgotten() {
    let scratch = Scratch::new();
    let engine = scratch.open();
    for number in 1..=3 {
        engine.create_table(table(number)).expect("a table");
    }
    engine.expect_heads(table(1)).expect("a change");
    engine.truncate_table(table(1)).expect("a truncation");
    let mark = Entry::Headless(table(3)).encode().0;
    engine.db().delete_cf(engine.catalogue().handle(), mark).expect("a write");
    drop(engine);
    let engine = scratch.open();
    assert_eq!([1, 2, 3].map(|number| engine.may_have_heads(table(number))), [true, false, true]);
    engine.drop_table(table(2)).expect("a drop");
    drop(engine);
    scratch.open();
}

#[test]
fn tables_beyond_the_limit_share_and_stay_where_they_are() {
    let scratch = Scratch::new();
    let config = scratch.config();
    let engine = RocksEngine::open_with_families(&config, 2).expect("it opens");
    let place =
        |engine: &RocksEngine, number| engine.tables_now().home(table(number)).expect("a home").record.place;
    for number in 0..4 {
        engine.create_table(table(number)).expect("a table");
        put(&engine, number);
    }
    let places: Vec<Place> = (0..4).map(|number| place(&engine, number)).collect();
    assert_eq!(places, [Place::Own(0), Place::Own(1), Place::Shared(2), Place::Shared(3)]);
    engine.truncate_table(table(0)).expect("a truncation of one at the limit");
    assert_eq!(place(&engine, 0), Place::Own(4));
    engine.drop_table(table(1)).expect("a drop");
    engine.create_table(table(5)).expect("a table");
    assert_eq!(place(&engine, 5), Place::Own(5));
    assert!(!has(&engine, 0) && has(&engine, 2) && has(&engine, 3) && !has(&engine, 5));
}

/// Who flushes a table may meet its end: nothing is left to write, and the others are written all the same.
#[test]
fn a_family_that_is_dropped_while_it_is_flushed_is_no_error() {
    let scratch = Scratch::new();
    let engine = scratch.open();
    for number in 1..=2 {
        engine.create_table(table(number)).expect("a table");
        put(&engine, number);
    }
    let tables = engine.tables_now();
    let families = [1, 2].map(|number| &tables.home(table(number)).expect("a home").family);
    engine.truncate_table(table(1)).expect("a truncation");
    engine.flush_families(&families).expect("a flush");
    assert_eq!(
        engine.stats(table(2)).expect("sizes").memtable_bytes,
        stats_of_none(&engine),
        "it was flushed"
    );
}

/// What an empty memtable takes.
fn stats_of_none(engine: &RocksEngine) -> u64 {
    engine.create_table(table(3)).expect("a table");
    engine.stats(table(3)).expect("sizes").memtable_bytes
}
