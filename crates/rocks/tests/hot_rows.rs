//! A row that is written again and again: reads fold few of its versions, and show what all of them come to.

mod common;

use std::sync::Arc;

use basalt_model::{Cell, Clustering, ColumnId, DecoratedKey, PartitionUpdate, Row, Table};
use basalt_rocks::RocksEngine;
use basalt_storage::checker::{EPOCH_S, Store, test_table};
use basalt_storage::engine::Engine;
use bytes::Bytes;
use common::env;
use common::ground::Disk;
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

const V: ColumnId = ColumnId(10);
/// So many versions of a key are there at most, and what they stand on.
const FOLDED_MAX: u64 = 64 + 1;

fn write(store: &Store, table: &Arc<Table>, timestamp: i64) {
    let key = DecoratedKey::new(Bytes::from_static(b"k"));
    let mut row = Row::new(Clustering::from_values([
        Bytes::copy_from_slice(&1i32.to_be_bytes()),
        Bytes::from_static(b"a"),
    ]));
    row.cells.push(Cell::live(V, None, timestamp, Bytes::from(format!("v{timestamp}"))));
    let mut update = PartitionUpdate::new(Arc::clone(table), key);
    update.rows.push(row);
    store.write(update);
}

/// The row's value, and how many versions were folded for it.
fn read(store: &Store, table: &Arc<Table>) -> (String, u64) {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let shown = store.shown(table, EPOCH_S);
    let folded = context.metric(PerfMetric::InternalMergeCount);
    set_perf_stats(PerfStatsLevel::Disable);
    let row = shown.iter().flat_map(|(_, _, rows)| rows).next().expect("the row");
    let value = row.cell(V).expect("its cell").value.to_vec();
    (String::from_utf8(value).expect("a text"), folded)
}

fn open(disk: &mut Disk, table: &Table) -> (Store, Arc<RocksEngine>) {
    let store = Store::open(disk, &env());
    store.engine.create_table(table.id).expect("a table");
    let engine = disk.engine();
    (store, engine)
}

#[test]
fn few_versions_are_folded_however_often_a_row_is_written() {
    let (mut disk, table) = (Disk::new(), test_table(true));
    let (store, engine) = open(&mut disk, &table);
    for timestamp in 1..=1_000 {
        write(&store, &table, timestamp);
        if timestamp % 100 == 0 {
            let (value, folded) = read(&store, &table);
            assert_eq!(value, format!("v{timestamp}"));
            assert!(folded <= FOLDED_MAX, "{folded} versions after {timestamp} writes");
        }
    }
    // On a base that is in a file, and by writes that come late.
    engine.flush(None).expect("a flush");
    for timestamp in 0..200 {
        write(&store, &table, timestamp);
    }
    let (value, folded) = read(&store, &table);
    assert_eq!(value, "v1000");
    assert!(folded <= FOLDED_MAX, "{folded} versions on a file's");
}

#[test]
fn what_was_folded_is_there_after_a_kill() {
    let (mut disk, table) = (Disk::new(), test_table(true));
    let (store, engine) = open(&mut disk, &table);
    (1..=300).for_each(|timestamp| write(&store, &table, timestamp));
    drop((store, engine));
    let (store, engine) = open(&mut disk, &table);
    assert_eq!(read(&store, &table).0, "v300");
    // The log is replayed version by version; from then on it is as before.
    (301..=500).for_each(|timestamp| write(&store, &table, timestamp));
    let (value, folded) = read(&store, &table);
    assert_eq!(value, "v500");
    assert!(folded <= FOLDED_MAX, "{folded} versions");
    engine.flush(None).expect("a flush");
    engine.compact(table.id).expect("a compaction");
    assert_eq!(read(&store, &table).0, "v500");
}
