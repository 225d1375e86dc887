//! Which rows are plain. That plain rows are read as any others are is for `fuzzing` to say.

use basalt_model::{Deletion, Liveness};

use super::*;
use crate::cells::{CellData, RowEntry, RowParts};

const TIME: i64 = 1_800_000_000_000_000;

fn encoded(parts: &RowParts<'_>, cells: &[(ColumnId, CellData<'_>)]) -> Vec<u8> {
    let mut out = Vec::new();
    RowEntry::encode(parts, cells, &mut out);
    out
}

/// The cells of a row that is plain.
fn cells(entry: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut cells = Vec::new();
    let row = PlainRow::of(entry)?;
    let is_plain =
        row.for_each_cell(|id, start, length| cells.push((id.0, &entry[start..start + usize::from(length)])));
    is_plain.then_some(cells)
}

#[test]
fn what_an_insert_writes_is_plain() {
    let parts = RowParts { liveness: Liveness::at(TIME), ..RowParts::none() };
    let long = [7; 127];
    let entry = encoded(
        &parts,
        &[
            (ColumnId(2), CellData::live(TIME, b"")),
            (ColumnId(3), CellData::live(TIME, b"abc")),
            (ColumnId(18), CellData::live(TIME, &long)),
        ],
    );
    let row = PlainRow::of(&entry).unwrap();
    assert_eq!((row.timestamp, row.is_inserted), (TIME, true));
    assert_eq!(cells(&entry), Some(vec![(2, &b""[..]), (3, b"abc"), (18, &long)]));
    assert_eq!(cells(&encoded(&parts, &[])), Some(vec![]));
}

#[test]
fn what_an_update_writes_is_plain() {
    let entry = encoded(&RowParts::none(), &[(ColumnId(0), CellData::live(TIME, b"x"))]);
    let row = PlainRow::of(&entry).unwrap();
    assert_eq!((row.timestamp, row.is_inserted), (TIME, false));
    assert_eq!(cells(&entry), Some(vec![(0, &b"x"[..])]));
}

#[test]
fn what_dies_or_has_several_times_is_not() {
    let inserted = RowParts { liveness: Liveness::at(TIME), ..RowParts::none() };
    let expiring = Liveness { ttl_s: 5, expires_at_s: 9, ..Liveness::at(TIME) };
    let deletion = Deletion { timestamp: TIME, local_time_s: 9 };
    let cell = CellData::live(TIME, b"x");
    let with = |cell| encoded(&inserted, &[(ColumnId(0), cell)]);
    let of = |parts| encoded(&parts, &[(ColumnId(0), cell)]);
    let long = [0; 128];
    for (what, entry) in [
        ("a liveness that expires", of(RowParts { liveness: expiring, ..RowParts::none() })),
        ("an older liveness", of(RowParts { liveness: Liveness::at(TIME - 1), ..RowParts::none() })),
        ("a newer liveness", of(RowParts { liveness: Liveness::at(TIME + 1), ..RowParts::none() })),
        ("a deletion", of(RowParts { deletion, ..RowParts::none() })),
        ("a deleted column", {
            of(RowParts {
                complex_deletions: [(ColumnId(1), deletion)].into_iter().collect(),
                ..RowParts::none()
            })
        }),
        (
            "an original",
            of(RowParts { originals: [(0, &b"0"[..])].into_iter().collect(), ..RowParts::none() }),
        ),
        ("a newer cell", with(CellData::live(TIME + 1, b"x"))),
        ("a cell that expires", with(CellData { ttl_s: 5, local_deletion_time_s: 9, ..cell })),
        ("a tombstone", with(CellData { local_deletion_time_s: 9, value: b"", ..cell })),
        ("a counter", with(CellData { is_counter: true, ..cell })),
        ("a long value", with(CellData::live(TIME, &long))),
        ("a column far away", encoded(&inserted, &[(ColumnId(16), cell)])),
    ] {
        assert!(RowEntry::parse(&entry).is_ok(), "{what}");
        assert_eq!(cells(&entry), None, "{what}");
    }
}

#[test]
fn what_is_cut_off_is_not() {
    let parts = RowParts { liveness: Liveness::at(TIME), ..RowParts::none() };
    let entry = encoded(&parts, &[(ColumnId(0), CellData::live(TIME, b"abc"))]);
    let front = encoded(&parts, &[]).len();
    for length in (0..entry.len()).filter(|&length| length != front) {
        assert_eq!(cells(&entry[..length]), None, "{length} bytes of {}", entry.len());
    }
}
