//! What Cassandra said about reconciling, in `tests/golden/reconcile.txt`, replayed over entries.

use std::ops::ControlFlow;
use std::sync::Arc;

use basalt_model::command::ClusteringFilter;
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, DataType, DecoratedKey, Deletion, Liveness, Mutation,
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
use crate::read::tests_only::{TombstoneWalk, live_row, whole_row};
use crate::read::unfiltered::{Unfiltered, walk};
use crate::testing::{Memory, column, env, hex, table, unhex};
use crate::write::Writer;

const GOLDEN: &str = include_str!("../../../tests/golden/reconcile.txt");
const V: ColumnId = ColumnId(5);
const W: ColumnId = ColumnId(6);
const M: ColumnId = ColumnId(7);

fn lines(kind: &str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    GOLDEN.lines().filter_map(move |line| {
        let mut fields = line.split(" | ");
        (fields.next() == Some(kind)).then(|| (line, fields.collect()))
    })
}

fn time(text: &str) -> i64 {
    if text == "none" { i64::MAX } else { text.parse().unwrap() }
}

fn deletion(text: &str) -> Deletion {
    match text.split_once(':') {
        Some((timestamp, local)) => {
            Deletion { timestamp: timestamp.parse().unwrap(), local_time_s: time(local) }
        }
        None => Deletion::LIVE,
    }
}

fn cell(column: ColumnId, path: Option<Bytes>, text: &str) -> Cell {
    let parts: Vec<&str> = text.split(':').collect();
    Cell {
        column,
        path,
        timestamp: parts[0].parse().unwrap(),
        ttl_s: parts[1].parse().unwrap(),
        local_deletion_time_s: time(parts[2]),
        value: unhex(parts[3]),
    }
}

/// `None` for rows with a deletion of materialized views, which are not stored.
fn row(text: &str) -> Option<Row> {
    let mut row = Row::new(clustering());
    for part in text.split(' ').filter(|part| *part != "empty") {
        let (name, value) = part.split_once('=').unwrap();
        match name {
            "live" => {
                let parts: Vec<&str> = value.split(':').collect();
                row.liveness = Liveness {
                    timestamp: parts[0].parse().unwrap(),
                    ttl_s: parts[1].parse().unwrap(),
                    expires_at_s: time(parts[2]),
                };
            }
            "del" => row.deletion = deletion(value),
            "sdel" => return None,
            "v" => row.cells.push(cell(V, None, value)),
            "w" => row.cells.push(cell(W, None, value)),
            "m!" => row.complex_deletions.push((M, deletion(value))),
            path => row.cells.push(cell(M, Some(unhex(&path[2..path.len() - 1])), value)),
        }
    }
    Some(row)
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
        let engine = Arc::new(MemEngine::new());
        let table = test_table();
        engine.create_table(table.id).unwrap();
        let key = DecoratedKey::new(Bytes::from_static(b"k"));
        World { table, writer: Writer::new(engine.clone(), 1 << 20), engine, key }
    }

    fn write(&self, change: impl FnOnce(&mut PartitionUpdate)) {
        let mut update = PartitionUpdate::new(self.table.clone(), self.key.clone());
        change(&mut update);
        let mutations = [Mutation { keyspace: "ks".into(), key: self.key.clone(), updates: vec![update] }];
        let mut set = WriteSet::new();
        let guards = self.writer.lock_and_encode(&mutations, &mut set).unwrap();
        self.engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }

    fn range_tombstones(&self) -> Vec<RangeTombstone> {
        let mut found = Vec::new();
        let filter = ClusteringFilter::all();
        let view = self.engine.view().unwrap();
        walk(
            &*view,
            &self.table,
            &self.key,
            &filter,
            ReadTier::All,
            |_| (),
            |item| {
                match item {
                    Unfiltered::RangeTombstone(tombstone) => found.push(tombstone),
                    Unfiltered::Row(row) => panic!("no row was written: {row:?}"),
                }
                true
            },
        )
        .unwrap();
        found
    }
}

#[test]
fn cells_reconcile_as_in_cassandra() {
    let mut seen = 0;
    for (line, fields) in lines("cells") {
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
    }
    assert!(seen > 300, "only {seen} lines");
}

#[test]
fn rows_merge_as_in_cassandra() {
    let mut seen = 0;
    for (line, fields) in lines("rows") {
        let versions: Option<Vec<Row>> = fields[1].split(" ; ").map(row).collect();
        let Some(versions) = versions else { continue };
        let active = deletion(fields[0]);
        if versions.len() == 1 && active.is_live() {
            // Cassandra hands such a row out as it is, superfluous parts and all.
            continue;
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
    }
    assert!(seen > 150, "only {seen} lines");
}

#[test]
fn rows_read_as_in_cassandra() {
    let mut seen = 0;
    for (line, fields) in lines("read") {
        let Some(stored) = row(fields[0]) else { continue };
        let world = World::new();
        world.write(|update| update.rows.push(stored.clone()));
        let now_s = fields[1].parse().unwrap();
        let whole = whole_row(&*world.engine, &world.table, &world.key, &clustering(), Deletion::LIVE);
        let mut sorted = stored.clone();
        sorted.cells.sort_by_key(|cell| cell.column);
        if whole.unwrap_or_else(|| Row::new(clustering())) != sorted {
            // A row that shadows its own cells: merging, which reads it here, never leaves such.
            continue;
        }
        let found = live_row(&*world.engine, &world.table, &world.key, &clustering(), now_s);
        assert_eq!(found.is_some(), fields[2] == "true", "{line}");
        let mut expected = (fields[3] != "null").then(|| row(fields[3]).unwrap());
        if let Some(row) = &mut expected {
            row.cells.sort_by_key(|cell| cell.column);
        }
        assert_eq!(found, expected.filter(|row| !row.is_empty()), "{line}");
        seen += 1;
    }
    assert!(seen > 200, "only {seen} lines");
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
    for (line, fields) in lines("purge") {
        let Some(mut stored) = row(fields[0]) else { continue };
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
            continue;
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
    }
    assert!(seen > 200, "only {seen} lines");
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
    for line in GOLDEN.lines() {
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
                        TombstoneWalk::new(engine, &world.table, &partition, tier, is_reversed).unwrap();
                    let found = walk.cover(&position).unwrap();
                    let expected = deletion(expected).timestamp;
                    assert_eq!(found.timestamp, expected, "{line} at {}", hex(&position));
                }
                covered += 1;
            }
            _ => {}
        }
    }
    assert!(lists > 50 && covered > 300, "only {lists} lists, {covered} lookups");
}
