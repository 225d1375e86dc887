//! What Cassandra said about reconciling, in `tests/golden/reconcile.txt`, replayed over entries.

mod partitions;
mod text;

use std::ops::ControlFlow;
use std::sync::Arc;

use basalt_model::command::ClusteringFilter;
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, DataType, DecoratedKey, Deletion, Mutation,
    PartitionUpdate, Row, Slice, Table,
};
use bytes::Bytes;

use crate::cells::CellData;
use crate::checker::Store;
use crate::engine::mem::MemEngine;
use crate::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use crate::keys;
use crate::keys::clustering::append_clustering;
use crate::merge::reconcile;
use crate::purge::Terms;
use crate::read::ReadError;
use crate::read::fetched::Fetched;
use crate::read::tests_only::{TombstoneWalk, live_row, whole_row};
use crate::read::unfiltered::{PartitionRead, PartitionStart, Unfiltered, Visitor, walk};
use crate::recorded::{compared, recorded};
use crate::testing::{Memory, column, env, hex, table};
use crate::write::Writer;
use text::{cell, deletion, row_of};

const V: ColumnId = ColumnId(5);
const W: ColumnId = ColumnId(6);
const M: ColumnId = ColumnId(7);

/// Shows each line of a kind, and its fields.
fn each(kind: &str, mut check: impl FnMut(&str, &[&str])) {
    for line in recorded("reconcile") {
        let fields: Vec<&str> = line.split(" | ").collect();
        if fields[0] == kind {
            check(&line, &fields[1..]);
        }
    }
}

/// `None` for rows with a deletion of materialized views, which are not stored.
fn row(text: &str) -> Option<Row> {
    (!text.contains("sdel=")).then(|| row_of(clustering(), text, column_named))
}

fn column_named(name: &str) -> ColumnId {
    match name {
        "v" => V,
        "w" => W,
        "m" => M,
        other => panic!("unknown column {other}"),
    }
}

fn clustering() -> Clustering {
    Clustering::from_values([Bytes::from_static(&[0, 0, 0, 1])])
}

fn test_table() -> Arc<Table> {
    let map = DataType::Map { key: DataType::Int.into(), value: DataType::Blob.into(), frozen: false };
    Arc::new(table(vec![
        column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        column("m", map, ColumnKind::Regular, 0, M.0),
        column("v", DataType::Blob, ColumnKind::Regular, 0, V.0),
        column("w", DataType::Blob, ColumnKind::Regular, 0, W.0),
    ]))
}

struct World {
    table: Arc<Table>,
    engine: Arc<MemEngine>,
    writer: Writer,
    key: DecoratedKey,
}

impl World {
    fn new() -> World {
        World::of(test_table())
    }

    fn of(table: Arc<Table>) -> World {
        let engine = Arc::new(MemEngine::new());
        engine.create_table(table.id).unwrap();
        let key = DecoratedKey::new(Bytes::from_static(b"k"));
        World { table, writer: Writer::new(engine.clone(), 1 << 20), engine, key }
    }

    fn write(&self, change: impl FnOnce(&mut PartitionUpdate)) {
        let mut update = PartitionUpdate::new(self.table.clone(), self.key.clone());
        change(&mut update);
        self.write_update(update);
    }

    fn write_update(&self, update: PartitionUpdate) {
        let mutations = [Mutation { keyspace: "ks".into(), key: update.key.clone(), updates: vec![update] }];
        let mut set = WriteSet::new();
        let guards = self.writer.lock_and_encode(&mutations, &mut set).unwrap();
        self.engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }

    /// What the markers of the partition enclose.
    fn range_tombstones(&self) -> Vec<RangeTombstone> {
        let table = &*self.table;
        let fetched = Fetched::everything(table);
        let filter = ClusteringFilter::all();
        let read = PartitionRead {
            table,
            key: &self.key,
            filter: &filter,
            fetched: &fetched,
            tier: ReadTier::All,
            is_over: None,
        };
        let mut enclosed = Enclosed::default();
        walk(&*self.engine.view().unwrap(), read, &mut enclosed).unwrap();
        enclosed.found
    }
}

#[derive(Default)]
struct Enclosed {
    found: Vec<RangeTombstone>,
    open: Option<Bound>,
}

impl Visitor for Enclosed {
    fn start(&mut self, _start: PartitionStart) -> Result<bool, ReadError> {
        Ok(true)
    }

    fn item(&mut self, item: Unfiltered) -> Result<bool, ReadError> {
        let Unfiltered::Marker(marker) = item else { panic!("no row was written: {item:?}") };
        let kind = |after, before| if marker.is_after_prefix { after } else { before };
        if let Some(start) = self.open.take() {
            let kind = kind(BoundKind::InclusiveEnd, BoundKind::ExclusiveEnd);
            let slice = Slice { start, end: Bound { kind, prefix: marker.prefix.clone() } };
            self.found.push(RangeTombstone { slice, deletion: marker.ends });
        }
        if !marker.starts.is_live() {
            let kind = kind(BoundKind::ExclusiveStart, BoundKind::InclusiveStart);
            self.open = Some(Bound { kind, prefix: marker.prefix });
        }
        Ok(true)
    }
}

#[test]
fn cells_reconcile_as_in_cassandra() {
    let mut seen = 0;
    each("cells", |line, fields| {
        let (a, b) = (cell(V, None, fields[0]), cell(V, None, fields[1]));
        let (a, b) = (CellData::of(&a), CellData::of(&b));
        let expected = match fields[2] {
            "left" => a,
            "right" => b,
            _ => {
                assert_eq!(a, b, "{line}");
                a
            }
        };
        assert_eq!(reconcile(a, b), expected, "{line}");
        assert_eq!(reconcile(b, a), expected, "{line}");
        seen += 1;
    });
    compared("cells", seen, 300);
}

#[test]
fn rows_merge_as_in_cassandra() {
    let mut seen = 0;
    each("rows", |line, fields| {
        let versions: Option<Vec<Row>> = fields[1].split(" ; ").map(row).collect();
        let Some(versions) = versions else { return };
        let active = deletion(fields[0]);
        if versions.len() == 1 && active.is_live() {
            // Cassandra hands such a row out as it is, superfluous parts and all.
            return;
        }
        let mut expected = (fields[2] != "null").then(|| row(fields[2]).unwrap());
        if let Some(row) = &mut expected {
            row.cells.sort_by_key(|cell| cell.column);
        }
        // In the order given, in the other, and all twice.
        let orders = [
            versions.iter().collect::<Vec<_>>(),
            versions.iter().rev().collect(),
            versions.iter().chain(&versions).collect(),
        ];
        for order in orders {
            let world = World::new();
            for version in order {
                world.write(|update| update.rows.push(version.clone()));
            }
            let found = whole_row(&*world.engine, &world.table, &world.key, &clustering(), active);
            assert_eq!(found, expected, "{line}");
        }
        seen += 1;
    });
    compared("rows merged", seen, 150);
}

#[test]
fn rows_read_as_in_cassandra() {
    let mut seen = 0;
    each("read", |line, fields| {
        let Some(stored) = row(fields[0]) else { return };
        let world = World::new();
        world.write(|update| update.rows.push(stored.clone()));
        let now_s = fields[1].parse().unwrap();
        let whole = whole_row(&*world.engine, &world.table, &world.key, &clustering(), Deletion::LIVE);
        let mut sorted = stored.clone();
        sorted.cells.sort_by_key(|cell| cell.column);
        if whole.unwrap_or_else(|| Row::new(clustering())) != sorted {
            // A row that shadows its own cells: merging, which reads it here, never leaves such.
            return;
        }
        let found = live_row(&*world.engine, &world.table, &world.key, &clustering(), now_s);
        assert_eq!(found.is_some(), fields[2] == "true", "{line}");
        let mut expected = (fields[3] != "null").then(|| row(fields[3]).unwrap());
        if let Some(row) = &mut expected {
            row.cells.sort_by_key(|cell| cell.column);
        }
        assert_eq!(found, expected.filter(|row| !row.is_empty()), "{line}");
        seen += 1;
    });
    compared("rows read", seen, 200);
}

/// What is expired and stays is a tombstone in Cassandra from now on; here it only reads as one.
fn with_tombstones(mut row: Row, now_s: i64) -> Row {
    for cell in &mut row.cells {
        if let Some(tombstone) = CellData::of(cell).expired().filter(|_| !cell.is_live(now_s)) {
            let died_s = tombstone.local_deletion_time_s;
            *cell = Cell::tombstone(cell.column, cell.path.clone(), cell.timestamp, died_s);
        }
    }
    row
}

#[test]
fn rows_are_purged_as_in_cassandra() {
    let mut seen = 0;
    each("purge", |line, fields| {
        let Some(mut stored) = row(fields[0]) else { return };
        let store = Store::open(&mut Memory::new(), &env());
        let table = test_table();
        store.engine.create_table(table.id).unwrap();
        let key = DecoratedKey::new(Bytes::from_static(b"k"));
        let mut update = PartitionUpdate::new(table.clone(), key.clone());
        update.rows.push(stored.clone());
        store.write(update);
        stored.cells.sort_by_key(|cell| cell.column);
        let whole = || whole_row(&*store.engine, &table, &key, &clustering(), Deletion::LIVE);
        if whole().unwrap_or_else(|| Row::new(clustering())) != stored {
            // A row that shadows its own cells, as in `rows_read_as_in_cassandra`.
            return;
        }
        let (now_s, gc_before_s) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
        let terms = Terms { gc_before_s, ..Terms::new(now_s, 0) };
        store.purger.purge(&table, &[], terms, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut expected = (fields[3] != "null").then(|| row(fields[3]).unwrap());
        if let Some(row) = &mut expected {
            row.cells.sort_by_key(|cell| cell.column);
        }
        let found = whole().map(|row| with_tombstones(row, now_s));
        assert_eq!(found, expected.filter(|row| !row.is_empty()), "{line}");
        seen += 1;
    });
    compared("rows purged", seen, 200);
}

fn bound(kind: &str, value: &str) -> Bound {
    let kind = match kind {
        "INCL_START_BOUND" => BoundKind::InclusiveStart,
        "EXCL_START_BOUND" => BoundKind::ExclusiveStart,
        "INCL_END_BOUND" => BoundKind::InclusiveEnd,
        "EXCL_END_BOUND" => BoundKind::ExclusiveEnd,
        other => panic!("unknown kind {other}"),
    };
    let values = value.parse::<i32>().map(|value| Bytes::copy_from_slice(&value.to_be_bytes()));
    Bound { kind, prefix: Clustering::from_values(values) }
}

fn tombstones(text: &str) -> Vec<RangeTombstone> {
    let one = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let slice = Slice { start: bound(words[0], words[1]), end: bound(words[2], words[3]) };
        RangeTombstone { slice, deletion: deletion(words[4]) }
    };
    text.split(" ; ").filter(|text| !text.is_empty() && *text != "none").map(one).collect()
}

/// Cassandra leaves neighbours that delete the same apart; here they are one. And where two have
/// one timestamp Cassandra's list keeps the local time that came first; here, so that no order
/// matters, the later one stays, as `DeletionTime.supersedes` has it: local times are not compared.
fn joined(list: Vec<RangeTombstone>) -> Vec<RangeTombstone> {
    let mut joined: Vec<RangeTombstone> = Vec::new();
    for mut next in list {
        next.deletion.local_time_s = 0;
        match joined.last_mut() {
            Some(last)
                if last.deletion == next.deletion
                    && last.slice.end.prefix == next.slice.start.prefix
                    && last.slice.end.kind.is_after_prefix() == next.slice.start.kind.is_after_prefix() =>
            {
                last.slice.end = next.slice.end;
            }
            _ => joined.push(next),
        }
    }
    joined
}

#[test]
fn range_tombstones_are_cut_and_cover_as_in_cassandra() {
    let (mut lists, mut covered) = (0, 0);
    let mut world = World::new();
    for line in recorded("reconcile") {
        let fields: Vec<&str> = line.split(" | ").collect();
        match fields[..] {
            ["ranges", added, expected] => {
                world = World::new();
                for tombstone in tombstones(added) {
                    world.write(|update| update.range_tombstones.push(tombstone));
                }
                assert_eq!(joined(world.range_tombstones()), joined(tombstones(expected)), "{line}");
                let at_once = World::new();
                at_once.write(|update| update.range_tombstones.extend(tombstones(added)));
                assert_eq!(joined(at_once.range_tombstones()), joined(tombstones(expected)), "{line}");
                lists += 1;
            }
            ["covered", _, value, expected] => {
                let value: i32 = value.parse().unwrap();
                let clustering = Clustering::from_values([Bytes::copy_from_slice(&value.to_be_bytes())]);
                let mut position = Vec::new();
                append_clustering(&world.table, &clustering, &mut position).unwrap();
                let mut partition = Vec::new();
                keys::append_partition(&world.key, &mut partition);
                for is_reversed in [false, true] {
                    let engine = &*world.engine;
                    let tier = ReadTier::All;
                    let mut walk =
                        TombstoneWalk::new(engine, &world.table, &partition, tier, None, is_reversed)
                            .unwrap();
                    let found = walk.cover(&position).unwrap();
                    let expected = deletion(expected).timestamp;
                    assert_eq!(found.timestamp, expected, "{line} at {}", hex(&position));
                }
                covered += 1;
            }
            _ => {}
        }
    }
    compared("lists of range tombstones", lists, 50);
    compared("places that range tombstones cover", covered, 300);
}
