//! In which order a partition is walked, by example; the vectors of `tests/golden/partitions.txt` have the rest.

use std::sync::Arc;

use basalt_model::schema::ColumnKind;
use basalt_model::{Cell, DataType, Liveness};
use bytes::Bytes;

use super::*;
use crate::cells::{Covered, HeadEntry, RangeTombstoneEntry, RowParts};
use crate::engine::mem::MemEngine;
use crate::engine::{Engine, OpKind, Sync, WriteOptions, WriteSet};
use crate::keys::clustering::append_clustering;
use crate::merge::MergedRow;
use crate::testing::{column, table};

fn test_table() -> Arc<Table> {
    Arc::new(table(vec![
        column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::TinyInt, ColumnKind::Clustering, 0, 2),
        column("s", DataType::Blob, ColumnKind::Static, 0, 3),
        column("v", DataType::Blob, ColumnKind::Regular, 0, 4),
    ]))
}

fn key() -> DecoratedKey {
    DecoratedKey::new(Bytes::from_static(b"k"))
}

fn clustering(number: u8) -> Clustering {
    Clustering::from_values([Bytes::copy_from_slice(&[number])])
}

fn bound(number: u8, kind: BoundKind) -> Bound {
    Bound { kind, prefix: clustering(number) }
}

fn deletion(timestamp: i64) -> Deletion {
    Deletion { timestamp, local_time_s: 1 }
}

/// Entries as they may be stored, whoever wrote them.
struct Entries {
    table: Arc<Table>,
    set: WriteSet,
    partition: Vec<u8>,
}

impl Entries {
    fn new() -> Entries {
        let mut partition = Vec::new();
        append_partition(&key(), &mut partition);
        let mut entries = Entries { table: test_table(), set: WriteSet::new(), partition };
        let head = HeadEntry { deletion: deletion(2), has_range_tombstones: true };
        entries.put(EntryKind::Head, &[], |value| head.encode(value));
        let cell = Cell::live(entries.table.statics()[0].id, None, 9, Bytes::from_static(b"s"));
        let mut statics = MergedRow::of(RowParts::none());
        statics.add_cell(cell.column, crate::cells::CellData::of(&cell));
        entries.put(EntryKind::Static, &[], |value| statics.encode(value).unwrap());
        entries
    }

    fn put(&mut self, kind: EntryKind, rest: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
        let partition = &self.partition;
        let key = |key: &mut Vec<u8>| key.extend([partition.as_slice(), &[kind as u8], rest].concat());
        self.set.append(OpKind::Put, self.table.id, key, value);
    }

    fn row(&mut self, number: u8) {
        let mut parts = RowParts::none();
        parts.liveness = Liveness::at(9);
        let mut rest = Vec::new();
        append_clustering(&self.table, &clustering(number), &mut rest).unwrap();
        self.put(EntryKind::Row, &rest, |value| MergedRow::of(parts).encode(value).unwrap());
    }

    /// What begins at one place and ends, both inclusive, at several, with these times.
    fn range(&mut self, start: u8, ends: &[(u8, i64)]) {
        let encoded = |bound: &Bound| {
            let mut bytes = Vec::new();
            append_bound(&self.table, bound, &mut bytes).unwrap();
            bytes
        };
        let ends: Vec<(Vec<u8>, Deletion)> = ends
            .iter()
            .map(|(end, time)| (encoded(&bound(*end, BoundKind::InclusiveEnd)), deletion(*time)))
            .collect();
        let covered = ends.iter().map(|(end, deletion)| Covered {
            end,
            deletion: *deletion,
            start_originals: &[],
            end_originals: &[],
        });
        let entry = RangeTombstoneEntry::of(covered.collect());
        let rest = encoded(&bound(start, BoundKind::InclusiveStart));
        self.put(EntryKind::RangeTombstone, &rest, |value| entry.encode(value));
    }

    fn walk(&self, slice: Slice, reversed: bool) -> Result<Vec<String>, ReadError> {
        let engine = MemEngine::new();
        engine.create_table(self.table.id)?;
        engine.write(&[&self.set], WriteOptions { sync: Sync::None, may_block: true })?;
        let (table, fetched) = (&*self.table, &Fetched::everything(&self.table));
        let filter =
            &ClusteringFilter { rows: RowSelection::Slices(vec![slice]), reversed, resume_after: None };
        let mut shown = Shown::default();
        let read = PartitionRead { table, key: &key(), filter, fetched, tier: ReadTier::All, is_over: None };
        walk(&*engine.view()?, read, &mut shown)?;
        Ok(shown.0)
    }
}

/// Markers as `before 3: ends 5, starts 7`.
#[derive(Default)]
struct Shown(Vec<String>);

impl Visitor for Shown {
    fn start(&mut self, start: PartitionStart) -> Result<bool, ReadError> {
        let statics = start.static_row.map_or(0, |row| row.cells.len());
        self.0.push(format!("deleted {}, {statics} static", start.deletion.timestamp));
        Ok(true)
    }

    fn item(&mut self, item: Unfiltered) -> Result<bool, ReadError> {
        let number = |c: &Clustering| c.0.iter().flatten().map(|v| v[0].to_string()).collect::<String>();
        let marker = match item {
            Unfiltered::Row(row) => {
                self.0.push(format!("row {}", number(&row.clustering)));
                return Ok(true);
            }
            Unfiltered::Marker(marker) => marker,
        };
        let side = if marker.is_after_prefix { "after" } else { "before" };
        let what = [("ends", marker.ends), ("starts", marker.starts)];
        let what =
            what.iter().filter(|(_, d)| !d.is_live()).map(|(what, d)| format!("{what} {}", d.timestamp));
        self.0.push(format!("{side} {}: {}", number(&marker.prefix), what.collect::<Vec<_>>().join(", ")));
        Ok(true)
    }
}

fn between(start: u8, end: u8) -> Slice {
    Slice { start: bound(start, BoundKind::ExclusiveStart), end: bound(end, BoundKind::InclusiveEnd) }
}

#[test]
fn markers_rows_and_statics_come_in_order_either_way() {
    let mut entries = Entries::new();
    entries.range(2, &[(4, 7), (6, 5)]);
    entries.range(7, &[(8, 1)]);
    (1..=8).for_each(|number| entries.row(number));
    let start = "deleted 2, 1 static";
    // What the partition's deletion covers makes no marker; what is weaker goes on where the stronger ends.
    let all = [
        start,
        "row 1",
        "before 2: starts 7",
        "row 2",
        "row 3",
        "row 4",
        "after 4: ends 7, starts 5",
        "row 5",
        "row 6",
        "after 6: ends 5",
        "row 7",
        "row 8",
    ];
    assert_eq!(entries.walk(Slice::all(), false).unwrap(), all);
    let mut back = all;
    back[1..].reverse();
    assert_eq!(entries.walk(Slice::all(), true).unwrap(), back);
    // From the middle of one range to the middle of another.
    let middle = [
        start,
        "after 2: starts 7",
        "row 3",
        "row 4",
        "after 4: ends 7, starts 5",
        "row 5",
        "after 5: ends 5",
    ];
    assert_eq!(entries.walk(between(2, 5), false).unwrap(), middle);
    let mut back = middle;
    back[1..].reverse();
    assert_eq!(entries.walk(between(2, 5), true).unwrap(), back);
}

#[test]
fn range_tombstones_that_overlap_are_damage() {
    let mut entries = Entries::new();
    entries.range(2, &[(5, 7)]);
    entries.range(4, &[(6, 9)]);
    for reversed in [false, true] {
        let found = entries.walk(Slice::all(), reversed);
        let is_damage = matches!(found, Err(ReadError::Engine(EngineError::Corruption { .. })));
        assert!(is_damage, "{found:?}");
    }
}
