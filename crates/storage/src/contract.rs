//! What every engine must do, as functions that panic when it does not. Each takes an engine that
//! is empty and open. For tests of this crate and of `rocks`.
//!
//! Operands of merges are the caller's: entries that [`merge`] accepts, all of one kind.

use basalt_model::{Deletion, TableId};
use bytes::Bytes;

use crate::cells::{HeadEntry, PurgeEntry};
use crate::engine::{
    Cursor, CursorOptions, Engine, EngineError, ReadTier, Reads, Sync, TableInfo, WriteOptions, WriteSet,
};
use crate::merge::merge;

const QUICK: WriteOptions = WriteOptions { sync: Sync::None, may_block: true };
const A: TableId = TableId(uuid::Uuid::from_u128(1));
const B: TableId = TableId(uuid::Uuid::from_u128(2));

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// All of it. `with_engine` calls what it is given with a new engine, once.
pub fn run(mut with_engine: impl FnMut(&dyn Fn(&dyn Engine)), operands: &[&[u8]]) {
    with_engine(&writes_apply_in_order_and_whole);
    with_engine(&keys_are_any_bytes_in_byte_order);
    with_engine(&|engine| operands_fold(engine, operands));
    with_engine(&what_becomes_empty_is_no_entry);
    with_engine(&cursors_keep_to_their_bounds);
    with_engine(&cursors_go_both_ways_and_lose_their_place);
    with_engine(&views_and_cursors_stand_still);
    with_engine(&tables_come_and_go);
    with_engine(&small_tables_are_tables);
    with_engine(&truncation_empties_one_table);
    with_engine(&heads_are_expected_for_good);
    with_engine(&unknown_tables_are_said);
    with_engine(&flushes_and_syncs_change_nothing);
    with_engine(&a_closed_engine_says_so);
}

fn put(engine: &dyn Engine, table: TableId, pairs: &[(&[u8], &[u8])]) {
    let mut set = WriteSet::new();
    for (key, value) in pairs {
        set.put(table, key, value);
    }
    engine.write(&[&set], QUICK).expect("a write");
}

fn get(reads: &dyn Reads, table: TableId, key: &[u8]) -> Option<Bytes> {
    reads.get(table, key, ReadTier::All).expect("a read")
}

fn bounds<'a>(lower: &'a [u8], upper: Option<&'a [u8]>) -> CursorOptions<'a> {
    CursorOptions { tier: ReadTier::All, lower, upper, fills_cache: true }
}

fn here(cursor: &dyn Cursor) -> (Vec<u8>, Vec<u8>) {
    (cursor.key().to_vec(), cursor.value().to_vec())
}

fn forward(cursor: &mut dyn Cursor, from: &[u8]) -> Pairs {
    let mut pairs = Vec::new();
    let mut is_there = cursor.seek(from).expect("a move");
    while is_there {
        pairs.push(here(cursor));
        is_there = cursor.next().expect("a move");
    }
    pairs
}

fn backward(cursor: &mut dyn Cursor, from: &[u8]) -> Pairs {
    let mut pairs = Vec::new();
    let mut is_there = cursor.seek_for_prev(from).expect("a move");
    while is_there {
        pairs.push(here(cursor));
        is_there = cursor.prev().expect("a move");
    }
    pairs
}

fn all(reads: &dyn Reads, table: TableId) -> Pairs {
    forward(&mut *reads.cursor(table, bounds(b"", None)).expect("a cursor"), b"")
}

fn keys(pairs: &Pairs) -> Vec<&[u8]> {
    pairs.iter().map(|(key, _)| key.as_slice()).collect()
}

/// Operations of one write apply in order, over all its sets and tables.
pub fn writes_apply_in_order_and_whole(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    engine.create_table(B).expect("a table");
    let (mut first, mut second) = (WriteSet::new(), WriteSet::new());
    first.put(A, b"k", b"1");
    first.put(B, b"k", b"2");
    first.delete(A, b"k");
    first.put(A, b"k", b"3");
    second.put(A, b"gone", b"x");
    second.delete(A, b"gone");
    second.delete(A, b"never");
    second.put(B, b"k", b"4");
    engine.write(&[&first, &second], WriteOptions { sync: Sync::Synced, may_block: true }).expect("a write");
    assert_eq!(get(engine, A, b"k").as_deref(), Some(b"3".as_slice()));
    assert_eq!(get(engine, B, b"k").as_deref(), Some(b"4".as_slice()));
    assert_eq!(get(engine, A, b"gone"), None);
    engine.write(&[], QUICK).expect("nothing to write");

    let mut partly = WriteSet::new();
    partly.put(A, b"k", b"5");
    partly.put(TableId(uuid::Uuid::from_u128(99)), b"k", b"5");
    assert!(matches!(engine.write(&[&partly], QUICK), Err(EngineError::UnknownTable(_))));
    assert_eq!(get(engine, A, b"k").as_deref(), Some(b"3".as_slice()), "nothing of it was written");
}

/// Keys compare as unsigned bytes; the empty key is one.
pub fn keys_are_any_bytes_in_byte_order(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    engine.create_table(B).expect("a table");
    let sorted: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"\x7f", b"\xff\xff\xff\xff\xff"];
    for key in sorted.iter().rev() {
        put(engine, A, &[(key, &[key, b"!".as_slice()].concat())]);
        put(engine, B, &[(key, b"other")]);
    }
    let found = all(engine, A);
    assert_eq!(keys(&found), sorted);
    assert!(found.iter().all(|(key, value)| value.strip_suffix(b"!") == Some(key)));
    let values = engine.multi_get(A, &sorted, ReadTier::All).expect("reads");
    let of = |value: &Option<Bytes>| {
        value.as_deref().and_then(|value| value.strip_suffix(b"!")).map(<[u8]>::to_vec)
    };
    assert!(values.iter().zip(sorted).all(|(value, key)| of(value).as_deref() == Some(key)));
    let values = engine.multi_get(A, &[b"b", b"a", b"a", b""], ReadTier::All).expect("reads");
    let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
    assert_eq!(values, [None, Some(b"a!".as_slice()), Some(b"a!"), Some(b"!")]);
}

/// An entry that a purge leaves nothing of is gone for every read, whatever is flushed in between; a later write makes
/// a new one.
pub fn what_becomes_empty_is_no_entry(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    let (mut head, mut purge) = (Vec::new(), Vec::new());
    let deletion = Deletion { timestamp: 1, local_time_s: 1 };
    HeadEntry { deletion, has_range_tombstones: false }.encode(&mut head);
    PurgeEntry { deletion, ..PurgeEntry::new(9, 9) }.encode(&mut purge);
    let merge = |keys: &[&[u8]], value: &[u8]| {
        let mut set = WriteSet::new();
        keys.iter().for_each(|key| set.merge(A, key, value));
        engine.write(&[&set], QUICK).expect("a write");
    };
    merge(&[b"a", b"b", b"c", b"d"], &head);
    for is_flushed in [false, true] {
        merge(&[b"a", b"c", b"d"], &purge);
        if is_flushed {
            engine.flush(Some(A)).expect("a flush");
        }
        assert_eq!(get(engine, A, b"a"), None);
        let values = engine.multi_get(A, &[b"a", b"b", b"c"], ReadTier::All).expect("reads");
        assert_eq!(values.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(keys(&all(engine, A)), [b"b"]);
        let mut cursor = engine.cursor(A, bounds(b"", None)).expect("a cursor");
        assert_eq!(keys(&backward(&mut *cursor, b"z")), [b"b"]);
        assert!(!cursor.seek(b"c").expect("a move") && !cursor.seek_for_prev(b"a").expect("a move"));
        merge(&[b"c"], &head);
        assert_eq!(keys(&all(engine, A)), [b"b", b"c"]);
    }
}

/// Every read shows operands folded by [`merge`], whatever is flushed in between.
pub fn operands_fold(engine: &dyn Engine, operands: &[&[u8]]) {
    assert!(operands.len() > 1, "a contract of merging needs operands");
    engine.create_table(A).expect("a table");
    let folded = merge(None, operands).expect("the caller's operands merge");
    let merge_one = |key: &[u8], operand: &[u8]| {
        let mut set = WriteSet::new();
        set.merge(A, key, operand);
        engine.write(&[&set], QUICK).expect("a write");
    };
    for operand in operands {
        merge_one(b"merged", operand);
        merge_one(b"flushed", operand);
        engine.flush(Some(A)).expect("a flush");
    }
    let mut at_once = WriteSet::new();
    operands.iter().for_each(|operand| at_once.merge(A, b"at once", operand));
    at_once.merge(A, b"deleted", operands[0]);
    at_once.delete(A, b"deleted");
    at_once.merge(A, b"deleted", operands[1]);
    at_once.put(A, b"put", operands[0]);
    operands[1..].iter().for_each(|operand| at_once.merge(A, b"put", operand));
    engine.write(&[&at_once], QUICK).expect("a write");

    let second = merge(None, &operands[1..2]).expect("one operand merges");
    let expected: [(&[u8], &Vec<u8>); 5] = [
        (b"at once", &folded),
        (b"deleted", &second),
        (b"flushed", &folded),
        (b"merged", &folded),
        (b"put", &folded),
    ];
    for (key, value) in expected {
        assert_eq!(get(engine, A, key).as_deref(), Some(value.as_slice()), "{key:?}");
    }
    let expected: Pairs = expected.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
    assert_eq!(all(engine, A), expected);
    engine.flush(None).expect("a flush");
    assert_eq!(all(engine, A), expected);
}

/// Neither moves nor seeks leave the bounds; the lower is inclusive, the upper exclusive.
pub fn cursors_keep_to_their_bounds(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    put(engine, A, &[(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"4")]);
    let mut cursor = engine.cursor(A, bounds(b"b", Some(b"d"))).expect("a cursor");
    let inside: [&[u8]; 2] = [b"b", b"c"];
    for before in [b"".as_slice(), b"a", b"b"] {
        assert_eq!(keys(&forward(&mut *cursor, before)), inside, "from {before:?}");
    }
    for after in [b"c".as_slice(), b"d", b"e", b"\xff"] {
        assert_eq!(keys(&backward(&mut *cursor, after)), [b"c".as_slice(), b"b"], "from {after:?}");
    }
    assert!(!cursor.seek(b"d").expect("a move"));
    assert!(!cursor.seek_for_prev(b"a").expect("a move"));
    let mut empty = engine.cursor(A, bounds(b"bb", Some(b"bc"))).expect("a cursor");
    assert!(!empty.seek(b"").expect("a move") && !empty.seek_for_prev(b"z").expect("a move"));
}

/// A cursor turns on the spot; at an end it has no place until the next seek.
pub fn cursors_go_both_ways_and_lose_their_place(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    put(engine, A, &[(b"a", b"1"), (b"c", b"3"), (b"e", b"5")]);
    let mut cursor = engine.cursor(A, bounds(b"", None)).expect("a cursor");
    assert!(cursor.key().is_empty() && cursor.value().is_empty(), "no place yet");
    assert!(!cursor.next().expect("a move") && !cursor.prev().expect("a move"));
    assert!(cursor.seek(b"b").expect("a move"));
    assert_eq!(here(&*cursor), (b"c".to_vec(), b"3".to_vec()));
    assert!(cursor.next().expect("a move") && cursor.prev().expect("a move"));
    assert_eq!(cursor.key(), b"c");
    assert!(cursor.prev().expect("a move"));
    assert_eq!(cursor.key(), b"a");
    assert!(!cursor.prev().expect("a move"), "before the first");
    assert!(cursor.key().is_empty() && cursor.value().is_empty());
    assert!(!cursor.next().expect("a move"), "and it stays lost");
    assert!(cursor.seek_for_prev(b"d").expect("a move"));
    assert_eq!(cursor.key(), b"c");
    assert!(!cursor.seek(b"f").expect("a move"), "behind the last");
}

/// A view, and a cursor, show the moment they were made.
pub fn views_and_cursors_stand_still(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    engine.create_table(B).expect("a table");
    put(engine, A, &[(b"a", b"1"), (b"b", b"2")]);
    put(engine, B, &[(b"x", b"9")]);
    let view = engine.view().expect("a view");
    let mut cursor = engine.cursor(A, bounds(b"", None)).expect("a cursor");
    let before = all(&*view, A);
    put(engine, A, &[(b"a", b"new"), (b"c", b"3")]);
    let mut set = WriteSet::new();
    set.delete(A, b"b");
    engine.write(&[&set], QUICK).expect("a write");
    engine.flush(None).expect("a flush");
    engine.truncate_table(A).expect("a truncation");
    engine.drop_table(B).expect("a drop");
    put(engine, A, &[(b"z", b"0")]);

    assert_eq!(all(&*view, A), before);
    assert_eq!(forward(&mut *cursor, b""), before);
    assert_eq!(get(&*view, A, b"b").as_deref(), Some(b"2".as_slice()));
    assert_eq!(get(&*view, B, b"x").as_deref(), Some(b"9".as_slice()));
    let values = view.multi_get(A, &[b"a", b"c"], ReadTier::All).expect("reads");
    assert_eq!(values.iter().map(Option::as_deref).collect::<Vec<_>>(), [Some(b"1".as_slice()), None]);
    drop((cursor, view));
    assert_eq!(keys(&all(engine, A)), [b"z"]);
}

fn infos(engine: &dyn Engine) -> Vec<(TableId, u64)> {
    let infos = engine.tables().expect("tables");
    infos.iter().map(|TableInfo { table, generation }| (*table, *generation)).collect()
}

/// Making twice and dropping what is not there are no errors; a table made again is empty.
pub fn tables_come_and_go(engine: &dyn Engine) {
    assert_eq!(infos(engine), []);
    engine.create_table(B).expect("a table");
    engine.create_table(A).expect("a table");
    put(engine, A, &[(b"k", b"v")]);
    engine.create_table(A).expect("it stays as it is");
    assert_eq!(get(engine, A, b"k").as_deref(), Some(b"v".as_slice()));
    assert_eq!(infos(engine), [(A, 0), (B, 0)], "in order");
    engine.drop_table(A).expect("a drop");
    engine.drop_table(A).expect("nothing to drop");
    assert_eq!(infos(engine), [(B, 0)]);
    engine.create_table(A).expect("a table");
    assert_eq!(all(engine, A), []);
    put(engine, A, &[(b"k", b"again")]);
    assert_eq!(get(engine, A, b"k").as_deref(), Some(b"again".as_slice()));
    assert_eq!(all(engine, B), []);
}

/// Tables that are expected to be small are tables like others, and do not see each other.
pub fn small_tables_are_tables(engine: &dyn Engine) {
    engine.create_small_tables(&[A, B]).expect("tables");
    engine.create_small_tables(&[B, A]).expect("they stay as they are");
    put(engine, A, &[(b"", b"1"), (b"\xff\xff", b"2")]);
    put(engine, B, &[(b"", b"3"), (b"\xff\xff", b"4")]);
    assert_eq!(keys(&all(engine, A)), [b"".as_slice(), b"\xff\xff"]);
    let mut cursor = engine.cursor(B, bounds(b"", None)).expect("a cursor");
    assert_eq!(keys(&backward(&mut *cursor, b"\xff\xff\xff")), [b"\xff\xff".as_slice(), b""]);
    drop(cursor);
    engine.truncate_table(A).expect("a truncation");
    assert_eq!((all(engine, A).len(), all(engine, B).len()), (0, 2));
    engine.drop_table(B).expect("a drop");
    assert_eq!(infos(engine), [(A, 1)]);
    assert_eq!(all(engine, A), []);
}

/// A truncated table is empty, of a new generation, and takes writes; others are as before.
pub fn truncation_empties_one_table(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    engine.create_table(B).expect("a table");
    for round in 1..=3 {
        put(engine, A, &[(b"a", b"1"), (b"b", b"2")]);
        put(engine, B, &[(b"a", b"1")]);
        if round == 2 {
            engine.flush(None).expect("a flush");
        }
        engine.truncate_table(A).expect("a truncation");
        assert_eq!(all(engine, A), []);
        assert_eq!(get(engine, A, b"a"), None);
        assert_eq!(infos(engine), [(A, round), (B, 0)]);
        assert_eq!(keys(&all(engine, B)), [b"a"]);
    }
}

/// A table is without heads until one is expected, and then never again, whatever becomes of what is in it.
pub fn heads_are_expected_for_good(engine: &dyn Engine) {
    assert!(engine.may_have_heads(A), "of a table that is not there nothing is known");
    engine.create_table(A).expect("a table");
    engine.create_small_tables(&[B]).expect("a table");
    assert!(!engine.may_have_heads(A) && !engine.may_have_heads(B));
    for _ in 0..2 {
        engine.expect_heads(A).expect("a change");
        assert!(engine.may_have_heads(A) && !engine.may_have_heads(B));
        engine.create_table(A).expect("it is there");
        engine.truncate_table(A).expect("a truncation");
        engine.truncate_table(B).expect("a truncation");
    }
    engine.drop_table(A).expect("a drop");
    engine.create_table(A).expect("a new table");
    assert!(!engine.may_have_heads(A));
}

/// Every call on a table that is not there names it.
pub fn unknown_tables_are_said(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    engine.drop_table(A).expect("a drop");
    let unknown = EngineError::UnknownTable(A);
    let mut set = WriteSet::new();
    set.put(A, b"k", b"v");
    let view = engine.view().expect("a view");
    assert_eq!(engine.write(&[&set], QUICK), Err(unknown.clone()));
    for reads in [&*view, engine as &dyn Reads] {
        assert_eq!(reads.get(A, b"k", ReadTier::All), Err(unknown.clone()));
        assert_eq!(reads.multi_get(A, &[b"k"], ReadTier::CacheOnly), Err(unknown.clone()));
        assert_eq!(reads.cursor(A, bounds(b"", None)).err(), Some(unknown.clone()));
    }
    assert_eq!(engine.truncate_table(A), Err(unknown.clone()));
    assert_eq!(engine.flush(Some(A)), Err(unknown.clone()));
    assert_eq!(engine.stats(A), Err(unknown));
}

/// Bringing things to disk is not seen by readers; sizes grow from nothing.
pub fn flushes_and_syncs_change_nothing(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    let pairs: Vec<([u8; 2], [u8; 100])> = (0..500_u16).map(|n| (n.to_be_bytes(), [7; 100])).collect();
    let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    put(engine, A, &pairs);
    let before = all(engine, A);
    assert_eq!(before.len(), 500);
    engine.sync_log().expect("a sync");
    engine.flush(Some(A)).expect("a flush");
    engine.flush(None).expect("a flush");
    assert_eq!(all(engine, A), before);
    let stats = engine.stats(A).expect("sizes");
    assert!(stats.keys > 0 && stats.memtable_bytes + stats.disk_bytes > 0, "{stats:?}");
}

/// After closing, every call answers `Closed`, but a second closing.
pub fn a_closed_engine_says_so(engine: &dyn Engine) {
    engine.create_table(A).expect("a table");
    put(engine, A, &[(b"k", b"v")]);
    engine.close().expect("it closes");
    engine.close().expect("a second time");
    let closed = EngineError::Closed;
    let mut set = WriteSet::new();
    set.put(A, b"k", b"v");
    assert_eq!(engine.write(&[&set], QUICK), Err(closed.clone()));
    assert_eq!(engine.get(A, b"k", ReadTier::All), Err(closed.clone()));
    assert_eq!(engine.multi_get(A, &[b"k"], ReadTier::All), Err(closed.clone()));
    assert_eq!(engine.cursor(A, bounds(b"", None)).err(), Some(closed.clone()));
    assert_eq!(engine.view().err(), Some(closed.clone()));
    assert_eq!(engine.create_table(B), Err(closed.clone()));
    assert_eq!(engine.drop_table(A), Err(closed.clone()));
    assert_eq!(engine.truncate_table(A), Err(closed.clone()));
    assert_eq!(engine.tables(), Err(closed.clone()));
    assert_eq!(engine.sync_log(), Err(closed.clone()));
    assert_eq!(engine.flush(None), Err(closed.clone()));
    assert_eq!(engine.stats(A), Err(closed));
}
