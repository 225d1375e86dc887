//! States that Cassandra itself wrote (`tests/golden/statement_ids.txt`), and bytes that are none.

use proptest::prelude::*;

use super::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/statement_ids.txt");

fn unhex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The name and path of the cell by which a v3 mark calls its row: Cassandra's legacy order,
/// reversed, so the last one listed.
fn marked_cell(cells: &str) -> Option<(&str, Option<Bytes>)> {
    let last = match cells {
        "none" => return None,
        list => list.rsplit(',').next()?,
    };
    Some(match last.split_once('[') {
        Some((name, path)) => (name, Some(unhex(path.trim_end_matches(']')))),
        None => (last, None),
    })
}

#[test]
fn states_are_cassandras() {
    let mut count = 0;
    for line in GOLDEN.lines().filter(|line| line.starts_with("paging | ")) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [_, table, key, clustering, cells, remaining, in_partition, v3, v4] = fields[..] else {
            panic!("{line}")
        };
        let types = table.split_once(' ').unwrap().1;
        let clustering_len = if types == "none" { 0 } else { types.split(';').count() };
        let values: Option<Vec<Option<Bytes>>> = match clustering {
            "none" => None,
            "empty" => Some(Vec::new()),
            list => Some(
                list.split(',')
                    .map(|value| (value != "null").then(|| unhex(value.trim_matches('-'))))
                    .collect(),
            ),
        };
        let cell = marked_cell(cells);
        let slices: Option<Vec<Option<&[u8]>>> =
            values.as_ref().map(|values| values.iter().map(|value| value.as_deref()).collect());
        for (form, expected) in [(Form::Legacy, v3), (Form::Modern, v4)] {
            let mark = slices.as_ref().map(|clustering| match form {
                Form::Legacy => {
                    RowMark::legacy(clustering, cell.as_ref().map(|(name, path)| (*name, path.as_deref())))
                }
                Form::Modern => RowMark::modern(clustering),
            });
            let state = PagingState {
                form,
                partition_key: (key != "null").then(|| unhex(key)),
                // A table without clustering has nothing to mark in the modern form.
                row_mark: mark.filter(|mark| !mark.bytes().is_empty()),
                remaining: remaining.parse().unwrap(),
                remaining_in_partition: in_partition.parse().unwrap(),
            };
            let expected = unhex(expected);
            assert_eq!(state.encode(), expected, "{form:?}: {line}");
            for version in 3..=5 {
                assert_eq!(PagingState::decode(&expected, version).as_ref(), Ok(&state), "{version}: {line}");
            }
            if let (Some(mark), Some(values)) = (&state.row_mark, &values) {
                assert_eq!(mark.row(clustering_len), Ok(MarkedRow::Row(values.clone())), "{line}");
            }
        }
        count += 1;
    }
    assert!(count >= 100);
}

#[test]
fn static_rows_are_marked_in_version_3_only() {
    let mark = RowMark::legacy_static(1, Some(("s", None)));
    assert_eq!(mark.bytes(), [0xff, 0xff, 0, 0, 0, 0, 1, b's', 0]);
    assert_eq!(mark.row(1), Ok(MarkedRow::Static));
}

#[test]
fn cassandra_2_left_the_last_field_out() {
    let state = PagingState::decode(&unhex("0001aa000000000005"), 3).unwrap();
    assert_eq!((state.remaining, state.remaining_in_partition), (5, i32::MAX));
}

#[test]
fn other_bytes_are_no_state() {
    for hex in [
        "",
        "00",
        "ffffff",
        "0000ffffffff",
        "000000",
        "0001aa0000ffffffff00000001",
        "ff",
        "0000ffffffffffffffffff01",
    ] {
        for version in 3..=5 {
            let error = PagingState::decode(&unhex(hex), version).unwrap_err();
            assert_eq!(error.to_string(), "Invalid value for the paging state", "{hex}");
        }
    }
}

#[test]
fn vints_are_cassandras() {
    // v5 §3: 256000 is [110]00011 11101000 00000000.
    let cases: [(u64, &str); 6] = [
        (0, "00"),
        (127, "7f"),
        (128, "8080"),
        (256_000, "c3e800"),
        (u64::from(u32::MAX), "f0ffffffff"),
        (u64::MAX, "ffffffffffffffffff"),
    ];
    for (value, hex) in cases {
        let mut out = BytesMut::new();
        vint::put(&mut out, value);
        assert_eq!(out, unhex(hex), "{value}");
        assert_eq!(vint::take(&mut out.freeze()), Some(value));
    }
}

proptest! {
    #[test]
    fn vints_round_trip(value: u64, shift in 0u32..64) {
        let value = value >> shift;
        let mut out = BytesMut::new();
        vint::put(&mut out, value);
        prop_assert_eq!(vint::take(&mut out.freeze()), Some(value));
    }

    #[test]
    fn modern_marks_round_trip(values: Vec<Option<Vec<u8>>>) {
        let slices: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        let expected = values.iter().map(|value| value.clone().map(Bytes::from)).collect();
        prop_assert_eq!(RowMark::modern(&slices).row(values.len()), Ok(MarkedRow::Row(expected)));
    }
}
