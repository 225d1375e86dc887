//! Deletes that came back, and data that went, in an earlier marriage of Cassandra and RocksDB: each case with its files
//! where they hurt. And those that a purge over several keys brings.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use basalt_model::command::{ClusteringFilter, ColumnFilter, DataLimits, KeyRange, ReadTarget, RowFilter};
use basalt_model::mutation::RangeTombstone;
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, DecoratedKey, Deletion, PartitionUpdate, ReadCommand, Row,
    Slice, Table,
};
use basalt_rocks::RocksEngine;
use basalt_storage::checker::{EPOCH_S, Store, test_table};
use basalt_storage::engine::{CursorOptions, Engine, EngineError, ReadTier, Reads};
use basalt_storage::purge::{PurgeCounts, Terms};
use basalt_storage::read::digest::of_response;
use basalt_storage::read::response::Purging;
use basalt_storage::read::{ReadError, ReadOptions, read};
use bytes::Bytes;
use common::env;
use common::ground::Disk;

const V: ColumnId = ColumnId(10);
const M: ColumnId = ColumnId(11);
/// `gc_grace_seconds`; write times are seconds here.
const GRACE_S: u32 = 100;

struct World {
    store: Store,
    engine: Arc<RocksEngine>,
    table: Arc<Table>,
    // Last: the engine closes before its directory goes.
    _disk: Disk,
}

fn world() -> World {
    let mut disk = Disk::new();
    let store = Store::open(&mut disk, &env());
    let table = test_table(true);
    store.engine.create_table(table.id).expect("a table");
    let engine = disk.engine();
    World { store, engine, table, _disk: disk }
}

fn key(number: u8) -> DecoratedKey {
    DecoratedKey::new(Bytes::from(vec![number]))
}

fn clustering(number: i32) -> Clustering {
    Clustering::from_values([Bytes::copy_from_slice(&number.to_be_bytes()), Bytes::from_static(b"a")])
}

fn deletion(timestamp: i64) -> Deletion {
    Deletion { timestamp, local_time_s: EPOCH_S + timestamp }
}

fn value(timestamp: i64, text: &'static str) -> Cell {
    Cell::live(V, None, timestamp, Bytes::from_static(text.as_bytes()))
}

impl World {
    fn update(&self, change: impl FnOnce(&mut PartitionUpdate)) {
        let mut update = PartitionUpdate::new(Arc::clone(&self.table), key(1));
        change(&mut update);
        self.store.write(update);
    }

    fn row(&self, change: impl FnOnce(&mut Row)) {
        let mut row = Row::new(clustering(1));
        change(&mut row);
        self.update(|update| update.rows.push(row));
    }

    fn cell(&self, cell: Cell) {
        self.row(|row| row.cells.push(cell));
    }

    fn flush(&self) {
        self.engine.flush(None).expect("a flush");
    }

    fn compact(&self) {
        self.engine.compact(self.table.id).expect("a compaction");
    }

    fn purge(&self, now_s: i64, mut meanwhile: impl FnMut()) -> PurgeCounts {
        let mut pace = |_| {
            meanwhile();
            ControlFlow::Continue(())
        };
        let terms = Terms::new(now_s, GRACE_S);
        let chunk = self.store.purger.purge(&self.table, &[], terms, &mut pace).expect("a purge");
        assert_eq!(chunk.next, None);
        chunk.counts
    }

    /// The values of `v` that a client sees, row by row.
    fn values(&self, now_s: i64) -> Vec<String> {
        let shown = self.store.shown(&self.table, now_s);
        let rows = shown.iter().flat_map(|(_, _, rows)| rows);
        let text = |row: &Row| row.cell(V).map_or(Vec::new(), |cell| cell.value.to_vec());
        rows.map(|row| String::from_utf8(text(row)).expect("a text")).collect()
    }

    /// Keys that are stored.
    fn entries(&self) -> u64 {
        self.engine.stats(self.table.id).expect("figures").keys
    }
}

/// Times by the wall clock.
const SOON_S: i64 = EPOCH_S + 50;
const LATER_S: i64 = EPOCH_S + 10_000;

#[test]
fn a_fresh_row_deletion_survives_a_compaction_above_the_row() {
    let world = world();
    world.cell(value(1, "old"));
    world.compact();
    world.row(|row| row.deletion = deletion(2));
    world.flush();
    world.purge(SOON_S, || ());
    world.compact();
    assert_eq!(world.values(SOON_S), [""; 0]);
}

#[test]
fn a_cell_tombstone_stays_while_an_older_write_stands_in_a_newer_file() {
    let world = world();
    world.cell(Cell::tombstone(V, None, 5, EPOCH_S + 5));
    world.compact();
    world.cell(value(3, "late"));
    world.flush();
    world.purge(LATER_S, || ());
    assert_eq!(world.values(LATER_S), [""; 0]);
    world.compact();
    world.purge(LATER_S, || ());
    assert_eq!(world.values(LATER_S), [""; 0]);
}

#[test]
fn an_expired_cell_does_not_hide_a_newer_write_in_a_newer_file() {
    let world = world();
    world.cell(Cell::expiring(V, None, 5, 10, EPOCH_S + 5, Bytes::from_static(b"short")));
    world.compact();
    world.cell(value(6, "newer"));
    world.flush();
    for now_s in [SOON_S, LATER_S] {
        world.purge(now_s, || ());
        assert_eq!(world.values(now_s), ["newer"]);
        world.compact();
        assert_eq!(world.values(now_s), ["newer"]);
    }
}

#[test]
fn a_row_deletion_is_not_forgotten_when_a_younger_cell_joins_it() {
    let world = world();
    world.row(|row| row.deletion = deletion(20));
    world.cell(Cell::live(ColumnId(12), None, 30, Bytes::from_static(&[0, 0, 0, 1])));
    world.compact();
    world.cell(value(15, "zombie"));
    world.purge(SOON_S, || ());
    assert_eq!(world.values(SOON_S), [""]);
    world.compact();
    assert_eq!(world.values(SOON_S), [""]);
}

#[test]
fn of_equal_times_the_larger_value_stays_in_either_order() {
    for order in [["A", "B"], ["B", "A"]] {
        let world = world();
        for text in order {
            world.cell(value(1, text));
            world.flush();
        }
        world.compact();
        world.purge(LATER_S, || ());
        assert_eq!(world.values(LATER_S), ["B"]);
    }
}

#[test]
fn a_partition_deletion_goes_with_its_rows_wherever_they_lie() {
    let world = world();
    for number in 0..10 {
        world.update(|update| {
            let mut row = Row::new(clustering(number));
            row.cells.push(value(1, "old"));
            update.rows.push(row);
        });
        // Each row in a file of its own, some below others.
        world.flush();
        if number % 3 == 0 {
            world.compact();
        }
    }
    world.update(|update| update.deletion = deletion(2));
    world.flush();
    let counts = world.purge(LATER_S, || ());
    assert_eq!((counts.rows, counts.purged, counts.withheld), (10, 11, 0));
    assert_eq!(world.values(LATER_S), [""; 0]);
    world.compact();
    world.compact();
    assert_eq!((world.values(LATER_S), world.entries()), (vec![], 0));
}

/// What a deletion of other keys shadows may be written at any moment of the purge.
#[test]
fn a_deletion_stays_for_what_comes_while_it_is_purged() {
    let range = |update: &mut PartitionUpdate| {
        let bound = |kind| Bound { kind, prefix: Clustering::empty() };
        let slice = Slice { start: bound(BoundKind::InclusiveStart), end: bound(BoundKind::InclusiveEnd) };
        update.range_tombstones.push(RangeTombstone { slice, deletion: deletion(5) });
    };
    let of_map = |update: &mut PartitionUpdate| {
        let mut row = Row::new(clustering(1));
        row.complex_deletions.push((M, deletion(5)));
        update.rows.push(row);
    };
    let of_row = |update: &mut PartitionUpdate| {
        let mut row = Row::new(clustering(1));
        row.deletion = deletion(5);
        update.rows.push(row);
    };
    let deletes: [&dyn Fn(&mut PartitionUpdate); 4] =
        [&|update| update.deletion = deletion(5), &range, &of_map, &of_row];
    for delete in deletes {
        let world = world();
        world.update(delete);
        world.update(|update| {
            let mut row = Row::new(clustering(2));
            row.cells.push(value(9, "kept"));
            update.rows.push(row);
        });
        world.compact();
        let late = || {
            let path = Some(Bytes::from_static(b"x"));
            world.cell(Cell::live(M, path, 4, Bytes::from_static(&[0, 0, 0, 1])));
        };
        let counts = world.purge(LATER_S, late);
        assert_eq!((counts.withheld, counts.next_due_s), (1, Some(LATER_S)));
        assert_eq!(world.values(LATER_S), ["kept"]);
        // Nothing comes in between the next time: both go.
        let counts = world.purge(LATER_S, || ());
        assert_eq!((counts.withheld, counts.next_due_s), (0, None));
        world.compact();
        world.compact();
        assert_eq!((world.values(LATER_S), world.entries()), (vec!["kept".to_owned()], 1));
    }
}

#[test]
fn what_was_purged_is_no_deletion_any_more() {
    let world = world();
    world.row(|row| row.deletion = deletion(5));
    world.compact();
    world.purge(LATER_S, || ());
    // Later than gc_grace_seconds: as in Cassandra nobody remembers.
    world.cell(value(4, "late"));
    assert_eq!(world.values(LATER_S), ["late"]);
}

#[test]
fn a_read_from_memory_does_not_walk_over_all_that_was_purged() {
    let world = world();
    for number in 0..300 {
        world.update(|update| {
            let mut row = Row::new(clustering(number));
            row.deletion = deletion(5);
            update.rows.push(row);
        });
    }
    world.purge(LATER_S, || ());
    let first = |tier| {
        let options = CursorOptions { tier, lower: &[], upper: None, fills_cache: true };
        world.engine.cursor(world.table.id, options).expect("a cursor").seek(&[])
    };
    assert_eq!(first(ReadTier::CacheOnly), Err(EngineError::WouldBlock));
    assert_eq!(first(ReadTier::All), Ok(false));
}

/// Passing over what was purged takes as long as there is of it; a read whose time is over ends there too.
#[test]
fn a_read_ends_among_purged_keys_when_its_time_is_over() {
    let world = world();
    const ROWS: i32 = 10_000;
    for first in (0..ROWS).step_by(1_000) {
        world.update(|update| {
            let row = |number| Row { cells: vec![value(1, "x")], ..Row::new(clustering(number)) };
            update.rows = (first..first + 1_000).map(row).collect();
        });
    }
    world.update(|update| update.deletion = deletion(2));
    assert_eq!(world.purge(LATER_S, || ()).purged, ROWS as u64 + 1);
    let all = ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() };
    let partition = ReadTarget::Partition { key: key(1), filter: ClusteringFilter::all() };
    for target in [all, partition] {
        let command = ReadCommand {
            table: Arc::clone(&world.table),
            now_s: LATER_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target,
            layout: None,
        };
        let looks = std::cell::Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() == 2
        };
        let options = ReadOptions { is_over: Some(&is_over), ..ReadOptions::new(ReadTier::All) };
        assert_eq!(read(&*world.engine, &command, &options).unwrap_err(), ReadError::TimedOut);
        assert_eq!(looks.get(), 2);
        // With more time, nothing.
        assert!(read(&*world.engine, &command, &options).unwrap().page.partitions.is_empty());
        assert!(looks.get() >= 4);
        // What replicas answer is walked over in the same way.
        looks.set(0);
        let view = world.engine.view().expect("a view");
        let digest = || of_response(&*view, &command, Purging::of(&command), &options);
        assert_eq!(digest(), Err(ReadError::TimedOut));
        assert_eq!(looks.get(), 2);
        digest().expect("in time");
        assert!(looks.get() >= 4);
    }
}
