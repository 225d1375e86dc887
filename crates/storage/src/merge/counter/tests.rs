//! Rows of counters against what Cassandra made of them (`tests/golden/counters.txt`), and the laws of merging.

use basalt_model::{CounterId, Deletion};
use proptest::prelude::*;

use super::*;
use crate::cells::{RowEntry, RowParts};
use crate::merge::{MergeError, MergedRow, merge, merge_operands};
use crate::recorded::{compared, recorded};
use crate::testing::{hex, unhex};

const C: ColumnId = ColumnId(5);
const D: ColumnId = ColumnId(6);

type OwnedCell = (i64, i64, Bytes);

fn data(cell: &OwnedCell) -> CellData<'_> {
    let is_counter = cell.1 == NO_DELETION_TIME;
    CellData { timestamp: cell.0, ttl_s: NO_TTL, local_deletion_time_s: cell.1, value: &cell.2, is_counter }
}

fn entry(deletion: Deletion, cells: &[(ColumnId, OwnedCell)]) -> Vec<u8> {
    let mut parts = RowParts::none();
    parts.deletion = deletion;
    let mut row = MergedRow::of(parts);
    cells.iter().for_each(|(column, cell)| row.add_cell(*column, data(cell)));
    let mut bytes = Vec::new();
    row.encode(&mut bytes).unwrap();
    bytes
}

fn cell(text: &str) -> OwnedCell {
    let parts: Vec<&str> = text.split(':').collect();
    assert_eq!(parts[1], "0", "counters do not expire");
    let time = if parts[2] == "none" { NO_DELETION_TIME } else { parts[2].parse().unwrap() };
    (parts[0].parse().unwrap(), time, unhex(parts[3]))
}

fn row(text: &str) -> Vec<u8> {
    let (mut deletion, mut cells) = (Deletion::LIVE, Vec::new());
    for part in text.split(' ').filter(|part| !matches!(*part, "empty" | "null")) {
        match part.split_once('=').unwrap() {
            ("del", value) => {
                let (timestamp, time) = value.split_once(':').unwrap();
                let (timestamp, local_time_s) = (timestamp.parse().unwrap(), time.parse().unwrap());
                deletion = Deletion { timestamp, local_time_s };
            }
            ("c", value) => cells.push((C, cell(value))),
            (_, value) => cells.push((D, cell(value))),
        }
    }
    entry(deletion, &cells)
}

/// Shows each line of a kind; answers how many there are.
fn each(kind: &str, mut check: impl FnMut(&str, &[&str])) -> usize {
    let mut seen = 0;
    for line in recorded("counters") {
        let fields: Vec<&str> = line.split(" | ").collect();
        if fields[0] == kind {
            check(&line, &fields[1..]);
            seen += 1;
        }
    }
    seen
}

fn show(entry: &[u8]) -> String {
    let entry = RowEntry::parse(entry).unwrap();
    let cells: Vec<String> = entry
        .cells()
        .map(|cell| {
            let (column, cell) = cell.unwrap();
            format!("{}={}:{}:{}", column.0, cell.timestamp, cell.local_deletion_time_s, hex(cell.value))
        })
        .collect();
    format!("{:?} {}", entry.parts.deletion, cells.join(" "))
}

#[test]
fn counter_cells_reconcile_as_in_cassandra() {
    let seen = each("cells", |line, fields| {
        let [a, b, expected] =
            [fields[0], fields[1], fields[2]].map(|text| entry(Deletion::LIVE, &[(C, cell(text))]));
        assert_eq!(show(&merge(None, &[&a, &b]).unwrap()), show(&expected), "{line}");
        assert_eq!(show(&merge(Some(&b), &[&a, &b]).unwrap()), show(&expected), "{line}");
    });
    compared("counter cells", seen, 100);
}

#[test]
fn counter_rows_merge_as_in_cassandra() {
    let mut seen = 0;
    each("rows", |line, fields| {
        // Deletions of partitions and ranges are looked at when a row is read: after merging.
        if fields[0] != "live" {
            return;
        }
        let versions: Vec<Vec<u8>> = fields[1].split(" ; ").map(row).collect();
        let mut versions: Vec<&[u8]> = versions.iter().map(Vec::as_slice).collect();
        let expected = row(fields[2]);
        assert_eq!(show(&merge(None, &versions).unwrap()), show(&expected), "{line}");
        versions.reverse();
        assert_eq!(show(&merge(None, &versions).unwrap()), show(&expected), "{line}");
        seen += 1;
    });
    compared("rows of counters", seen, 70);
}

#[test]
fn what_is_not_counted_is_not_merged() {
    let update = CounterContext::update(1).to_bytes();
    for value in [update, Bytes::new(), Bytes::from_static(&[0, 1, 2])] {
        let cell = (1, NO_DELETION_TIME, value);
        let mut row = MergedRow::new();
        row.add_cell(C, data(&cell));
        assert!(row.encode(&mut Vec::new()).is_err(), "{cell:?}");
    }
    // Kind 3 of column 5, at the row's time; one byte where a context should be.
    let garbage = [0x12, 0x00, 0x00, 0x2E, 0x01, 0x07];
    let found = merge(None, &[&garbage, &garbage]);
    assert!(matches!(found, Err(MergeError::Entry(EntryError::Malformed("not a counter context")))));
}

fn id(number: u8) -> CounterId {
    CounterId([number; 16])
}

fn counter_cell() -> impl Strategy<Value = OwnedCell> {
    let shard = (1..4u8, 0..4i64, prop_oneof![-2..3i64, any::<i64>()]);
    let context = proptest::collection::vec(shard, 1..4).prop_map(|shards| {
        let mut shards =
            shards.into_iter().map(|(number, clock, count)| CounterContext::global(id(number), clock, count));
        let mut context = shards.next().unwrap();
        shards.for_each(|shard| context.merge(&shard));
        context.to_bytes()
    });
    prop_oneof![
        4 => (0..6i64, context).prop_map(|(timestamp, context)| (timestamp, NO_DELETION_TIME, context)),
        1 => (0..6i64, 10..13i64).prop_map(|(timestamp, time)| (timestamp, time, Bytes::new())),
    ]
}

fn counter_row(deletion: impl Strategy<Value = Deletion>) -> impl Strategy<Value = Vec<u8>> {
    let columns = prop_oneof![Just(C), Just(D), Just(ColumnId(300))];
    (deletion, proptest::collection::btree_map(columns, counter_cell(), 0..3))
        .prop_map(|(deletion, cells)| entry(deletion, &Vec::from_iter(cells)))
}

fn some_deletion() -> impl Strategy<Value = Deletion> {
    prop_oneof![
        2 => Just(Deletion::LIVE),
        1 => (0..6i64, 10..13i64).prop_map(|(timestamp, local_time_s)| Deletion { timestamp, local_time_s }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn order_grouping_and_repetition_do_not_matter_to_counters(
        a in counter_row(Just(Deletion::LIVE)),
        b in counter_row(Just(Deletion::LIVE)),
        c in counter_row(Just(Deletion::LIVE)),
    ) {
        let all = merge(None, &[&a, &b, &c]).unwrap();
        for order in [[&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
            prop_assert_eq!(&merge(None, &order.map(|v| v.as_slice())).unwrap(), &all);
        }
        let left = merge(None, &[&a, &b]).unwrap();
        prop_assert_eq!(&merge(Some(&left), &[&c]).unwrap(), &all);
        let right = merge(None, &[&b, &c]).unwrap();
        prop_assert_eq!(&merge(Some(&a), &[&right]).unwrap(), &all);
        prop_assert_eq!(&merge(Some(&all), &[&a, &all, &b]).unwrap(), &all);
        prop_assert_eq!(&merge(None, &[&a, &a]).unwrap(), &a);
        let some = merge_operands(&[&b, &c]).unwrap();
        prop_assert_eq!(&merge_operands(&[&c, &some, &b]).unwrap(), &some);
        prop_assert_eq!(&merge(Some(&a), &[&some]).unwrap(), &all);
    }

    /// Grouping does matter beside deletions of rows, in Cassandra too; order and repetition never do.
    #[test]
    fn order_and_repetition_do_not_matter_beside_deletions(
        a in counter_row(some_deletion()),
        b in counter_row(some_deletion()),
        c in counter_row(some_deletion()),
    ) {
        let all = merge(None, &[&a, &b, &c]).unwrap();
        prop_assert_eq!(&merge(None, &[&c, &a, &b]).unwrap(), &all);
        prop_assert_eq!(&merge(None, &[&b, &c, &a, &c]).unwrap(), &all);
        prop_assert_eq!(&merge(Some(&all), &[&a, &all, &b]).unwrap(), &all);
    }
}
