//! Tables whose entries lie in windows of time: reads see one table, and a window goes without anything being rewritten.

mod common;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::{
    Clustering, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, ReadCommand, Row, Slice, Table,
    TableId,
};
use basalt_rocks::RocksEngine;
use basalt_storage::cells::{HeadEntry, PurgeEntry};
use basalt_storage::checker::test_table;
use basalt_storage::commit::{Committer, SyncMode};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Engine, ReadTier, Reads, StorageOptions, WindowId, WriteSet};
use basalt_storage::purge::{KnownWindows, PurgeCounts, Purger, Terms};
use basalt_storage::read::{self, ReadOptions};
use basalt_storage::write::Writer;
use bytes::Bytes;
use common::{QUICK, Scratch, env, open, table, walk};

const WINDOW_S: i64 = 60;

fn windows() -> StorageOptions {
    StorageOptions { window_s: NonZeroU32::new(60), ..StorageOptions::default() }
}

/// A table with windows, and everything that writes and purges it.
struct Store {
    engine: Arc<RocksEngine>,
    table: Arc<Table>,
    writer: Arc<Writer>,
    committer: Arc<Committer>,
    purger: Purger,
    known: KnownWindows,
}

impl Store {
    fn open(path: &Path) -> Store {
        let engine = Arc::new(open(path));
        let table = test_table(false);
        engine.create_table_with(table.id, &windows()).expect("a table");
        let shared: Arc<dyn Engine> = engine.clone();
        let writer = Arc::new(Writer::new(Arc::clone(&shared), 1 << 20));
        let committer = Committer::start(Arc::clone(&shared), env(), SyncMode::Batch).expect("a committer");
        let committer = Arc::new(committer);
        let purger = Purger::new(shared, Arc::clone(&writer), Arc::clone(&committer));
        Store { engine, table, writer, committer, purger, known: KnownWindows::new() }
    }

    fn write(&self, update: PartitionUpdate) {
        let mutation = Mutation { keyspace: "ks".into(), key: update.key.clone(), updates: vec![update] };
        let mut set = WriteSet::new();
        self.writer.encode(&[mutation], &mut set).expect("it fits");
        self.committer.commit(set).expect("a write");
    }

    /// A row written at `at_s`, which expires after `ttl_s` if that is not 0.
    fn insert(&self, partition: u32, at_s: i64, ttl_s: i32) {
        let timestamp = at_s * 1_000_000;
        let mut update = self.update(partition);
        let clustering = [Bytes::copy_from_slice(&1i32.to_be_bytes()), Bytes::from_static(b"c")];
        let mut row = Row::new(Clustering::from_values(clustering));
        row.liveness = match ttl_s {
            0 => Liveness::at(timestamp),
            _ => Liveness { timestamp, ttl_s, expires_at_s: at_s + i64::from(ttl_s) },
        };
        update.rows.push(row);
        self.write(update);
    }

    fn delete(&self, partition: u32, at_s: i64) {
        let mut update = self.update(partition);
        update.deletion = Deletion { timestamp: at_s * 1_000_000, local_time_s: at_s };
        self.write(update);
    }

    fn update(&self, partition: u32) -> PartitionUpdate {
        let key = DecoratedKey::new(Bytes::copy_from_slice(&partition.to_be_bytes()));
        PartitionUpdate::new(Arc::clone(&self.table), key)
    }

    /// Drops what may go at `now_s` with `gc_grace_seconds` of 100.
    fn drop_windows(&mut self, now_s: i64) -> PurgeCounts {
        let mut pace = |_| ControlFlow::Continue(());
        self.purger
            .drop_windows(&self.table, &mut self.known, Terms::new(now_s, 100), &mut pace)
            .expect("a look")
    }

    fn past(&self) -> Vec<WindowId> {
        self.engine.past_windows(self.table.id).expect("windows")
    }

    /// Whether a partition's row is shown.
    fn shows(&self, partition: u32, now_s: i64) -> bool {
        let command = ReadCommand {
            table: Arc::clone(&self.table),
            now_s,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target: ReadTarget::Partition {
                key: self.update(partition).key,
                filter: ClusteringFilter {
                    rows: RowSelection::Slices(vec![Slice::all()]),
                    reversed: false,
                    resume_after: None,
                },
            },
            layout: None,
        };
        let page = read::read(&*self.engine, &command, &ReadOptions::new(ReadTier::All)).expect("a read");
        page.page.partitions.iter().any(|partition| !partition.rows.is_empty())
    }

    fn keys(&self) -> usize {
        let mut cursor = self.engine.cursor(self.table.id, walk(b"", None)).expect("a cursor");
        let (mut keys, mut is_at) = (0, cursor.seek(b"").expect("a move"));
        while is_at {
            keys += 1;
            is_at = cursor.next().expect("a move");
        }
        keys
    }

    fn files(&self, path: &Path) -> BTreeSet<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let files = std::fs::read_dir(path.join("db")).expect("a listing").map(name);
        files.filter(|name| name.ends_with(".sst")).collect()
    }
}

#[test]
fn expired_windows_go_without_a_row_being_rewritten() {
    const ROWS: u32 = 500;
    let scratch = Scratch::new();
    let mut store = Store::open(scratch.path());
    assert!(!store.engine.begin_window(store.table.id, 0).expect("a window"), "nothing is to be kept apart");
    // Five windows, each with all partitions; rows live for 30 seconds.
    for window in 0..5 {
        for partition in 0..ROWS {
            store.insert(partition * 10 + window, i64::from(window) * WINDOW_S, 30);
        }
        let ends_s = i64::from(window + 1) * WINDOW_S;
        assert!(
            !store.engine.begin_window(store.table.id, ends_s - 1).expect("a window"),
            "it has not ended"
        );
        assert!(store.engine.begin_window(store.table.id, ends_s).expect("a window"));
        store.engine.flush(Some(store.table.id)).expect("a flush");
    }
    store.engine.wait_for_compactions().expect("they end");
    let rows = ROWS as usize;
    assert_eq!((store.past().len(), store.keys()), (5, 5 * rows));
    let before = store.files(scratch.path());
    let disk = store.engine.stats(store.table.id).expect("numbers").disk_bytes;

    // The last of the third window is dead at 150, and for longer than 100 seconds at 251.
    assert_eq!(store.drop_windows(250).purged, 2);
    let counts = store.drop_windows(251);
    assert_eq!((counts.purged, counts.next_due_s), (1, Some(180 + 30 + 101)));
    assert_eq!((store.past().len(), store.keys()), (2, 2 * rows));
    store.engine.wait_for_compactions().expect("they end");
    let after = store.files(scratch.path());
    // Flushes of the catalogue apart, no file is new: what is left is what was there.
    let written: Vec<&String> = after.difference(&before).collect();
    assert!(written.is_empty(), "{written:?}");
    let left = store.engine.stats(store.table.id).expect("numbers").disk_bytes;
    assert!(left * 2 < disk, "{left} of {disk}");

    // So it is after a restart.
    let (known, past) = (store.known.len(), store.past());
    assert_eq!(known, 2);
    drop(store);
    let mut store = Store::open(scratch.path());
    assert_eq!((store.past(), store.keys()), (past, 2 * rows));
    assert_eq!(store.drop_windows(1_000).purged, 2);
    assert_eq!(store.keys(), 0);
}

#[test]
fn a_window_stays_while_it_lives_or_shadows_anything() {
    let scratch = Scratch::new();
    let mut store = Store::open(scratch.path());
    let roll = |store: &Store, at_s: i64| {
        assert!(store.engine.begin_window(store.table.id, at_s).expect("a window"))
    };
    // One row that never dies keeps the first.
    store.insert(1, 10, 5);
    store.insert(2, 10, 0);
    roll(&store, WINDOW_S);
    // A deletion of data that is written later, with an earlier time: dropping it would bring that back.
    store.delete(3, 70);
    roll(&store, 2 * WINDOW_S);
    store.insert(3, 69, 0);
    let counts = store.drop_windows(10_000);
    assert_eq!((counts.purged, counts.withheld), (0, 1));
    // Also once that data is in a past window itself.
    roll(&store, 3 * WINDOW_S);
    assert_eq!(store.drop_windows(10_000).purged, 0);
    store.engine.truncate_table(store.table.id).expect("a truncation");
    assert!(store.past().is_empty());

    // What is dead as well does not keep it; what is younger does not either.
    let mut at = 100 * WINDOW_S;
    store.engine.begin_window(store.table.id, at).expect("a window");
    store.delete(3, at);
    at += WINDOW_S;
    roll(&store, at);
    store.insert(3, at - WINDOW_S - 1, 5);
    at += WINDOW_S;
    roll(&store, at);
    store.insert(4, at, 0);
    assert_eq!(store.drop_windows(at + 1_000).purged, 2);
    assert_eq!(store.keys(), 1);
}

/// A random history: rows that expire or not, deletions, some written up to 80 seconds late, windows of 60 seconds that go after 100.
#[test]
fn nobody_sees_a_window_go() {
    let scratch = Scratch::new();
    let mut store = Store::open(scratch.path());
    let mut state = 7u64;
    let mut below = |bound: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) as i64) % bound
    };
    // Of each partition: the time of its deletion, and of its newest row with the time until which that lives.
    let mut model = vec![(i64::MIN, (i64::MIN, 0)); 40];
    let (mut now_s, mut dropped, mut withheld) = (1_000, 0, 0);
    for _ in 0..1_500 {
        now_s += below(4);
        let late_s = if below(4) == 0 { below(80) } else { 0 };
        let (partition, at_s) = (below(40) as u32, now_s - late_s);
        let (deleted_s, row) = &mut model[partition as usize];
        match below(5) {
            0 => {
                store.delete(partition, at_s);
                *deleted_s = at_s.max(*deleted_s);
            }
            kind => {
                // Some live long enough to be covered by what is in windows that are dead.
                let ttl_s = if kind == 1 && below(20) == 0 { 500 } else { 1 + below(40) as i32 };
                let until_s = at_s + i64::from(ttl_s);
                if row.0 != at_s {
                    store.insert(partition, at_s, ttl_s);
                    *row = (*row).max((at_s, until_s));
                }
            }
        }
        store.engine.begin_window(store.table.id, now_s).expect("a window, or none");
        if below(20) == 0 {
            let counts = store.drop_windows(now_s);
            dropped += counts.purged;
            withheld += counts.withheld;
            let expected: Vec<bool> = model
                .iter()
                .map(|&(deleted_s, (at_s, until_s))| at_s > deleted_s && until_s > now_s)
                .collect();
            let shown: Vec<bool> = (0..40).map(|partition| store.shows(partition, now_s)).collect();
            assert_eq!(shown, expected, "at {now_s}");
        }
    }
    assert!(dropped > 5 && withheld > 5, "{dropped} dropped, {withheld} withheld");
}

#[test]
fn a_table_has_a_bounded_number_of_windows() {
    let scratch = Scratch::new();
    let mut store = Store::open(scratch.path());
    let mut begun = 0;
    for window in 0..40 {
        store.insert(window, i64::from(window) * WINDOW_S, 30);
        begun += usize::from(
            store.engine.begin_window(store.table.id, i64::from(window + 1) * WINDOW_S).expect("a look"),
        );
    }
    assert_eq!((begun, store.past().len(), store.keys()), (32, 32, 40));
    // The youngest goes on until one of the others has gone.
    assert_eq!(store.drop_windows(10 * WINDOW_S).purged, 8);
    assert!(store.engine.begin_window(store.table.id, 41 * WINDOW_S).expect("a window"));
    assert_eq!((store.past().len(), store.keys()), (25, 32));
}

/// Writes that come while windows are looked at count: they are noted at the committer's gate.
#[test]
fn data_that_is_written_meanwhile_is_seen() {
    let scratch = Scratch::new();
    let store = Store::open(scratch.path());
    store.delete(3, 70);
    assert!(store.engine.begin_window(store.table.id, 3 * WINDOW_S).expect("a window"));
    store.insert(4, 200, 0);
    let mut known = KnownWindows::new();
    let mut reads = 0;
    // The second entry that is read is the one of the window that is written now.
    let mut pace = |_| {
        reads += 1;
        if reads == 2 {
            store.insert(3, 69, 0);
        }
        ControlFlow::Continue(())
    };
    let counts = store.purger.drop_windows(&store.table, &mut known, Terms::new(10_000, 100), &mut pace);
    assert_eq!(counts.expect("a look").purged, 0);
    assert_eq!(reads, 2);
}

/// Versions of partitions' heads, merged in windows as without.
#[test]
fn what_windows_hold_under_a_key_is_folded() {
    let scratch = Scratch::new();
    let (real, model) = (open(scratch.path()), MemEngine::new());
    let t = table(1);
    real.create_table_with(t, &windows()).expect("a table");
    model.create_table(t).expect("a table");
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % bound
    };
    for step in 0..600 {
        let mut set = WriteSet::new();
        let mut value = Vec::new();
        let deletion = Deletion { timestamp: below(50) as i64, local_time_s: 1 };
        HeadEntry { deletion, has_range_tombstones: below(9) == 0 }.encode(&mut value);
        let key = [below(20) as u8];
        match below(6) {
            0 => set.delete(t, &key),
            1 => set.put(t, &key, &value),
            _ => set.merge(t, &key, &value),
        }
        for engine in [&real as &dyn Engine, &model] {
            engine.write(&[&set], QUICK).expect("a write");
        }
        if below(25) == 0 {
            real.begin_window(t, step * WINDOW_S).expect("a window");
        }
        for key in 0..20u8 {
            let of = |reads: &dyn Reads| reads.get(t, &[key], ReadTier::All).expect("a read");
            assert_eq!(of(&real), of(&model), "{step}: {key}");
        }
        let keys: Vec<[u8; 1]> = (0..20).map(|key| [key]).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.as_slice()).collect();
        let of = |reads: &dyn Reads| reads.multi_get(t, &keys, ReadTier::All).expect("reads");
        assert_eq!(of(&real), of(&model));
    }
    assert!(real.past_windows(t).expect("windows").len() > 10);
    // Linked out and brought in again it is one table without windows, with the same in it.
    bring_in_again(&real, t, &scratch);
    assert!(real.past_windows(t).expect("windows").is_empty());
    for key in 0..20u8 {
        let of = |reads: &dyn Reads| reads.get(t, &[key], ReadTier::All).expect("a read");
        assert_eq!(of(&real), of(&model), "{key}, brought in again");
    }
}

/// Takes a table's files out, empties it and brings them in again.
fn bring_in_again(engine: &RocksEngine, table: TableId, scratch: &Scratch) {
    let directory = scratch.join("exported");
    std::fs::create_dir(&directory).expect("a directory");
    let exported = engine.export_tables(&[(table, directory.clone())], true).expect("exported");
    engine.truncate_table(table).expect("a truncation");
    engine.stage_table(table, &directory, &exported[0]).expect("staged").commit().expect("committed");
}

/// A key that only one window has, each of several, or all; what one window has nothing of any more; the empty key.
#[test]
fn what_windows_hold_is_folded_when_it_is_brought_in() {
    let scratch = Scratch::new();
    let engine = open(scratch.path());
    let t = table(1);
    engine.create_table_with(t, &windows()).expect("a table");
    let merge = |key: &[u8], value: &[u8]| {
        let mut set = WriteSet::new();
        set.merge(t, key, value);
        engine.write(&[&set], QUICK).expect("a write");
    };
    let head = |timestamp| {
        let mut value = Vec::new();
        let deletion = Deletion { timestamp, local_time_s: 1 };
        HeadEntry { deletion, has_range_tombstones: timestamp == 3 }.encode(&mut value);
        value
    };
    let mut purge = Vec::new();
    let deletion = Deletion { timestamp: 9, local_time_s: 1 };
    PurgeEntry { deletion, ..PurgeEntry::new(9, 9) }.encode(&mut purge);
    // The strongest version in the oldest window, in the one between or in the youngest.
    let all: [(&[u8], [i64; 3]); 7] = [
        (b"", [1, 2, 3]),
        (b"a", [3, 2, 1]),
        (b"b", [1, 3, 2]),
        (b"c", [1, 0, 0]),
        (b"d", [0, 1, 0]),
        (b"e", [0, 0, 1]),
        (b"f", [2, 0, 1]),
    ];
    for window in 0..3 {
        for (key, timestamps) in all {
            if timestamps[window] > 0 {
                merge(key, &head(timestamps[window]));
            }
        }
        // Of this nothing is left where it was written last, and in the end nowhere.
        merge(b"gone", &head(9));
        merge(b"gone", &purge);
        if window == 1 {
            merge(b"here", &head(9));
            merge(b"here", &purge);
        } else {
            merge(b"here", &head(1));
        }
        if window < 2 {
            assert!(engine.begin_window(t, (window as i64 + 1) * WINDOW_S).expect("a window"));
        }
    }
    let read = || -> Vec<_> {
        let keys = all.iter().map(|(key, _)| *key).chain([b"gone".as_slice(), b"here"]);
        keys.map(|key| engine.get(t, key, ReadTier::All).expect("a read")).collect()
    };
    let before = read();
    for ((key, timestamps), value) in all.iter().zip(&before) {
        let strongest = *timestamps.iter().max().expect("three");
        assert_eq!(value.as_deref(), Some(&head(strongest)[..]), "{key:?}");
    }
    assert!(before[7].is_none() && before[8].is_some());
    bring_in_again(&engine, t, &scratch);
    assert!(engine.past_windows(t).expect("windows").is_empty());
    assert_eq!(read(), before);
    engine.compact(t).expect("a compaction");
    assert_eq!(read(), before);
}

/// What was brought in is one window, of which nobody knows when it began: it is kept apart from what is written in the next one,
/// and goes as a whole when the last of it is dead.
#[test]
fn what_is_brought_in_is_one_window() {
    let scratch = Scratch::new();
    let store = Store::open(scratch.path());
    for window in 0..3 {
        store.insert(window, i64::from(window) * WINDOW_S, 30);
        assert!(
            store.engine.begin_window(store.table.id, i64::from(window + 1) * WINDOW_S).expect("a window")
        );
    }
    store.insert(3, 3 * WINDOW_S, 30);
    assert_eq!((store.past().len(), store.keys()), (3, 4));
    bring_in_again(&store.engine, store.table.id, &scratch);
    assert_eq!((store.past().len(), store.keys()), (0, 4));
    // Of a table that had no windows it is the same: what it has is one.
    drop(store);
    let mut store = Store::open(scratch.path());
    assert!(store.engine.begin_window(store.table.id, 3 * WINDOW_S + 1).expect("a window"));
    store.insert(4, 3 * WINDOW_S + 2, 1_000);
    assert_eq!((store.past().len(), store.keys()), (1, 5));
    // The youngest of it died at 210.
    assert_eq!(store.drop_windows(3 * WINDOW_S + 30 + 99).purged, 0);
    assert_eq!(store.drop_windows(3 * WINDOW_S + 30 + 101).purged, 1);
    assert_eq!((store.past().len(), store.keys()), (0, 1));
}
