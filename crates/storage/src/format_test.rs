//! The examples in `docs/formats` are what the code writes.

use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, CounterContext, CounterId, DataType, DecoratedKey,
    Deletion, Liveness, Row,
};
use bytes::Bytes;

use crate::cells::{CellData, CellEntry, Covered, HeadEntry, PurgeEntry, RangeTombstoneEntry, RowParts};
use crate::keys::clustering::{append_bound, append_clustering};
use crate::keys::path::{append_column, append_path};
use crate::keys::{EntryKind, append_partition};
use crate::merge::MergedRow;
use crate::testing::{column, table, unhex};

const KEYS: &str = include_str!("../../../docs/formats/keys.md");
const ENTRIES: &str = include_str!("../../../docs/formats/entries.md");

/// 2026-01-01T00:00:00Z.
const NOW_S: i64 = 1_767_225_600;
const NOW: i64 = NOW_S * 1_000_000;

/// The bytes of a fenced block: on each line, what stands before the bar.
fn example(page: &str, label: &str) -> Bytes {
    let start = page.find(&format!("```{label}\n")).unwrap_or_else(|| panic!("no block {label}"));
    let lines = page[start..].lines().skip(1).take_while(|line| *line != "```");
    let digits: String = lines.map(|line| line.split('|').next().unwrap().replace(' ', "")).collect();
    unhex(&digits)
}

fn check(page: &str, label: &str, bytes: &[u8]) {
    let spaced: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(example(page, label), bytes, "{label} is {}", spaced.join(" "));
}

#[test]
fn keys_are_as_drawn() {
    let mut down = column("d", DataType::Text, ColumnKind::Clustering, 1, 3);
    down.order = ClusteringOrder::Desc;
    let table = table(vec![
        column("k", DataType::Text, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        down,
    ]);
    let one = Bytes::from_static(&[0, 0, 0, 1]);
    let mut key = Vec::new();
    append_partition(&DecoratedKey::new(Bytes::from_static(b"k")), &mut key);
    let with_kind = |kind: EntryKind| [&key, &[kind as u8][..]].concat();
    check(KEYS, "key head", &with_kind(EntryKind::Head));

    let mut row = with_kind(EntryKind::Row);
    let clustering = Clustering::from_values([one.clone(), Bytes::from_static(b"a")]);
    append_clustering(&table, &clustering, &mut row).unwrap();
    check(KEYS, "key row", &row);

    append_column(ColumnId(11), &mut row);
    append_path(&DataType::Text, b"x", &mut row).unwrap();
    check(KEYS, "key cell", &row);

    let mut bound = with_kind(EntryKind::RangeTombstone);
    let start = Bound { kind: BoundKind::ExclusiveStart, prefix: Clustering::from_values([one]) };
    append_bound(&table, &start, &mut bound).unwrap();
    check(KEYS, "key bound", &bound);
}

fn encode(row: &Row) -> Vec<u8> {
    let mut parts = RowParts::none();
    parts.liveness = row.liveness;
    parts.deletion = row.deletion;
    let mut merged = MergedRow::of(parts);
    for cell in &row.cells {
        merged.add_cell(cell.column, CellData::of(cell));
    }
    let mut bytes = Vec::new();
    merged.encode(&mut bytes).unwrap();
    bytes
}

#[test]
fn rows_are_as_drawn() {
    let (v, w) = (ColumnId(10), ColumnId(12));
    let five = Bytes::from_static(&[0, 0, 0, 5]);
    let mut insert = Row::new(Clustering::empty());
    insert.liveness = Liveness::at(NOW);
    insert.cells.push(Cell::live(v, None, NOW, Bytes::from_static(b"a")));
    insert.cells.push(Cell::live(w, None, NOW, five));
    check(ENTRIES, "entry insert", &encode(&insert));

    let mut expiring = Row::new(Clustering::empty());
    expiring.liveness = Liveness { timestamp: NOW, ttl_s: 60, expires_at_s: NOW_S + 60 };
    expiring.cells.push(Cell::expiring(v, None, NOW, 60, NOW_S, Bytes::from_static(b"a")));
    check(ENTRIES, "entry ttl", &encode(&expiring));

    let mut deleted = Row::new(Clustering::empty());
    deleted.deletion = Deletion { timestamp: NOW, local_time_s: NOW_S };
    deleted.cells.push(Cell::tombstone(w, None, NOW + 1, NOW_S));
    check(ENTRIES, "entry deletion", &encode(&deleted));

    let host = uuid::uuid!("11111111-2222-4333-8444-555555555555");
    let context = CounterContext::global(CounterId::of_host(host), NOW, 5).to_bytes();
    let counter = Cell::live(v, None, NOW, context);
    let mut merged = MergedRow::new();
    merged.add_cell(v, CellData::of_counter(&counter));
    let mut bytes = Vec::new();
    merged.encode(&mut bytes).unwrap();
    check(ENTRIES, "entry counter", &bytes);
}

#[test]
fn other_entries_are_as_drawn() {
    let deletion = Deletion { timestamp: NOW, local_time_s: NOW_S };
    let mut bytes = Vec::new();
    let value = Bytes::from_static(&[0, 0, 0, 5]);
    let cell = Cell::expiring(ColumnId(11), Some(Bytes::from_static(b"x")), NOW, 60, NOW_S, value);
    CellEntry { data: CellData::of(&cell), original_path: None }.encode(&mut bytes);
    check(ENTRIES, "entry cell", &bytes);

    bytes.clear();
    HeadEntry { deletion, has_range_tombstones: true }.encode(&mut bytes);
    check(ENTRIES, "entry head", &bytes);

    bytes.clear();
    let end = [0x40, 0x80, 0, 0, 5, 0x60];
    let covered = Covered { end: &end, deletion, start_originals: &[], end_originals: &[] };
    RangeTombstoneEntry { covered: smallvec::smallvec![covered] }.encode(&mut bytes);
    check(ENTRIES, "entry range", &bytes);

    bytes.clear();
    PurgeEntry { covering: deletion, ..PurgeEntry::new(NOW_S, NOW_S - 864_000) }.encode(&mut bytes);
    check(ENTRIES, "entry purge", &bytes);
}
