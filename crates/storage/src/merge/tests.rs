//! The laws of merging over random entries, and what is refused.

use basalt_model::deletion::{NO_DELETION_TIME, NO_TTL};
use basalt_model::{ColumnId, Deletion, Liveness};
use proptest::prelude::*;

use super::*;
use crate::cells::{CellData, Covered, PurgeEntry, RowParts};

/// Few values, so that ties are met often.
fn timestamp() -> impl Strategy<Value = i64> {
    prop_oneof![0i64..4, Just(i64::MIN + 1), Just(i64::MAX)]
}

fn deletion() -> impl Strategy<Value = Deletion> {
    prop_oneof![
        Just(Deletion::LIVE),
        (timestamp(), 10i64..13).prop_map(|(timestamp, local_time_s)| Deletion { timestamp, local_time_s }),
    ]
}

fn liveness() -> impl Strategy<Value = Liveness> {
    prop_oneof![
        Just(Liveness::NONE),
        timestamp().prop_map(Liveness::at),
        (timestamp(), prop_oneof![1..4i32, Just(i32::MAX)], 10i64..13)
            .prop_map(|(timestamp, ttl_s, expires_at_s)| Liveness { timestamp, ttl_s, expires_at_s }),
    ]
}

type OwnedCell = (i64, i32, i64, Vec<u8>);

fn cell() -> impl Strategy<Value = OwnedCell> {
    let value = prop_oneof![Just(Vec::new()), Just(vec![0]), Just(vec![1, 2])];
    prop_oneof![
        (timestamp(), value.clone()).prop_map(|(t, v)| (t, NO_TTL, NO_DELETION_TIME, v)),
        (timestamp(), 1..4i32, 10i64..13, value).prop_map(|(t, ttl, time, v)| (t, ttl, time, v)),
        (timestamp(), 10i64..13).prop_map(|(t, time)| (t, NO_TTL, time, Vec::new())),
    ]
}

fn data(cell: &OwnedCell) -> CellData<'_> {
    CellData {
        timestamp: cell.0,
        ttl_s: cell.1,
        local_deletion_time_s: cell.2,
        value: &cell.3,
        is_counter: false,
    }
}

fn head_entry() -> impl Strategy<Value = Vec<u8>> {
    (deletion(), any::<bool>()).prop_map(|(deletion, has_range_tombstones)| {
        let mut bytes = Vec::new();
        HeadEntry { deletion, has_range_tombstones }.encode(&mut bytes);
        bytes
    })
}

fn row_entry() -> impl Strategy<Value = Vec<u8>> {
    let columns = prop_oneof![Just(0u32), Just(1), Just(200), Just(u32::MAX - 1)];
    (
        liveness(),
        deletion(),
        proptest::collection::btree_map(columns.clone(), deletion(), 0..3),
        proptest::collection::btree_map(0u16..3, proptest::collection::vec(any::<u8>(), 0..3), 0..2),
        proptest::collection::btree_map(columns, cell(), 0..4),
    )
        .prop_map(|(liveness, deletion, complex, originals, cells)| {
            let mut parts = RowParts::none();
            parts.liveness = liveness;
            parts.deletion = deletion;
            let complex = complex.into_iter().filter(|(_, deletion)| !deletion.is_live());
            parts.complex_deletions.extend(complex.map(|(id, deletion)| (ColumnId(id), deletion)));
            parts.originals.extend(originals.iter().map(|(index, value)| (*index, value.as_slice())));
            let mut row = MergedRow::of(parts);
            for (id, cell) in &cells {
                row.add_cell(ColumnId(*id), data(cell));
            }
            let mut bytes = Vec::new();
            row.encode(&mut bytes).unwrap();
            bytes
        })
}

fn cell_entry() -> impl Strategy<Value = Vec<u8>> {
    (cell(), proptest::option::of(proptest::collection::vec(0u8..3, 1..3))).prop_map(|(cell, path)| {
        let mut bytes = Vec::new();
        CellEntry { data: data(&cell), original_path: path.as_deref() }.encode(&mut bytes);
        bytes
    })
}

fn range_tombstone_entry() -> impl Strategy<Value = Vec<u8>> {
    let originals = prop_oneof![Just(Vec::new()), Just(vec![0, 1, 7]), Just(vec![0, 0])];
    let one = (0u8..4, deletion(), originals.clone(), originals);
    proptest::collection::vec(one, 1..4)
        .prop_filter("a deletion deletes", |all| all.iter().all(|(_, deletion, _, _)| !deletion.is_live()))
        .prop_map(|all| {
            let ends: Vec<[u8; 2]> = all.iter().map(|(end, ..)| [*end, 0x60]).collect();
            let covered = all.iter().zip(&ends).map(|((_, deletion, start, end_originals), end)| Covered {
                end,
                deletion: *deletion,
                start_originals: start,
                end_originals,
            });
            let mut bytes = Vec::new();
            RangeTombstoneEntry::of(covered.collect()).encode(&mut bytes);
            bytes
        })
}

/// Entries of one kind.
fn versions() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop_oneof![
        proptest::collection::vec(head_entry(), 3),
        proptest::collection::vec(row_entry(), 3),
        proptest::collection::vec(cell_entry(), 3),
        proptest::collection::vec(range_tombstone_entry(), 3),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// An engine may fold whatever it meets first, in any order, and fold results again.
    #[test]
    fn order_grouping_and_repetition_do_not_matter(versions in versions()) {
        let [a, b, c] = [&versions[0], &versions[1], &versions[2]];
        let all = merge(None, &[a, b, c]).unwrap();
        for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            prop_assert_eq!(&merge(None, &order.map(|v| v.as_slice())).unwrap(), &all);
        }
        let left = merge(None, &[a, b]).unwrap();
        prop_assert_eq!(&merge(Some(&left), &[c]).unwrap(), &all);
        let right = merge(None, &[b, c]).unwrap();
        prop_assert_eq!(&merge(Some(a), &[&right]).unwrap(), &all);
        prop_assert_eq!(&merge(Some(&all), &[a, &all, b]).unwrap(), &all);
        prop_assert_eq!(&merge(None, &[a, a]).unwrap(), a);
        // Operands folded among themselves, before what they are folded into is known.
        let some = merge_operands(&[b, c]).unwrap();
        prop_assert_eq!(&merge_operands(&[c, b]).unwrap(), &some);
        prop_assert_eq!(&merge_operands(&[b, &some, c, &some]).unwrap(), &some);
        prop_assert_eq!(&merge(Some(a), &[&some]).unwrap(), &all);
        prop_assert_eq!(&merge_operands(&[a, &some]).unwrap(), &all);
    }

    /// A purge takes from what was written before it and from nothing else, however that was grouped. It leaves
    /// nothing to take for the same purge again.
    #[test]
    fn a_purge_takes_from_what_was_before(
        versions in versions().prop_filter("rewritten under a lock", |v| v[0][0] != RANGE_TOMBSTONE_TAG),
        covering in deletion(),
        (now_s, gc_before_s) in (10i64..14, 9i64..14),
        has_deletion in any::<bool>(),
    ) {
        let [a, b, c] = [&versions[0], &versions[1], &versions[2]];
        let mut purge = PurgeEntry { covering, ..PurgeEntry::new(now_s, gc_before_s) };
        let before = merge(None, &[a, b]).unwrap();
        if has_deletion && before[0] == ROW_TAG {
            purge.deletion = RowEntry::parse(&before).unwrap().parts.deletion;
        }
        let mut p = Vec::new();
        purge.encode(&mut p);
        prop_assert_eq!(&PurgeEntry::parse(&p).unwrap(), &purge);

        let all = merge(None, &[a, b, &p, c]).unwrap();
        prop_assert_eq!(&merge(Some(&before), &[&p, c]).unwrap(), &all);
        prop_assert_eq!(&merge(Some(a), &[b, &p, c]).unwrap(), &all);
        let purged = merge(None, &[a, b, &p]).unwrap();
        prop_assert_eq!(&merge(Some(&purged), &[c]).unwrap(), &all);
        prop_assert_eq!(&merge(Some(&purged), &[&p]).unwrap(), &purged);
        prop_assert_eq!(&merge(None, &[&p, c]).unwrap(), c);
        prop_assert_eq!(merge_operands(&[a, &p]), Err(MergeError::Purge));
    }

    /// Garbage is an error or an entry, never a panic; cut-off entries are mostly errors.
    #[test]
    fn damaged_entries_do_not_panic(versions in versions(), at in any::<usize>(), byte in any::<u8>()) {
        let mut damaged = versions[0].clone();
        let at = at % damaged.len();
        damaged[at] = byte;
        let _ = merge(None, &[&damaged, &versions[1]]);
        damaged.truncate(at);
        let _ = merge(None, &[&damaged, &versions[1]]);
    }
}

/// So rare among random cells that only large vectors have it.
#[test]
fn of_two_cells_that_expire_together_the_shorter_lived_stays() {
    let (short, long) = ((5, 10, 1_000, vec![1]), (5, 11, 1_000, vec![2]));
    assert_eq!(reconcile(data(&short), data(&long)), data(&short));
    assert_eq!(reconcile(data(&long), data(&short)), data(&short));
}

#[test]
fn kinds_do_not_mix_and_garbage_is_refused() {
    let head = [0x11, 0x00];
    let row = [0x12, 0x00, 0x00];
    assert_eq!(merge(None, &[&head, &row]), Err(MergeError::Kinds(0x11, 0x12)));
    assert_eq!(merge(None, &[]), Err(MergeError::Nothing));
    assert_eq!(merge(None, &[&[0x21]]), Err(EntryError::UnknownTag(0x21).into()), "a later version");
    for garbage in
        [&b""[..], b"\x00", b"\x12", b"\x12\x80\x00", b"\x12\x00\x00\x08", b"\x11\x04", b"\x13\x03\x00"]
    {
        let other = [garbage.first().copied().unwrap_or(0x11), 0, 0];
        assert!(merge(Some(garbage), &[&other, &other]).is_err(), "{garbage:?}");
    }
}

#[test]
fn integers_have_one_form() {
    // Time 0 of a head's deletion, written in two bytes.
    assert!(HeadEntry::parse(&[0x11, 0x01, 0x00, 0x00]).is_ok());
    assert!(HeadEntry::parse(&[0x11, 0x01, 0x80, 0x00, 0x00]).is_err());
    assert!(HeadEntry::parse(&[0x11, 0x00, 0x00]).is_err(), "nothing may follow");
}
