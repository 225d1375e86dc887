//! Clusterings and bounds, held against Cassandra's bytes and against the order of values.

use std::cmp::Ordering;

use basalt_model::DataType;
use proptest::prelude::*;

use super::*;
use crate::recorded::{compared, recorded};
use crate::testing::{hex, may_hold_other_nan, parse_class, table_clustered_by, unhex};

fn order(is_reversed: bool) -> ClusteringOrder {
    if is_reversed { ClusteringOrder::Desc } else { ClusteringOrder::Asc }
}

#[test]
fn clusterings_and_bounds_encode_as_cassandra_does() {
    let mut seen = 0;
    for line in recorded("byte_comparable").filter(|line| line.starts_with("clustering ")) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [_, kind, types, components, encoded] = fields[..] else { panic!("bad line: {line}") };
        let with_other_nan = types.split(';').zip(components.split(',')).any(|(class, component)| {
            !matches!(component, "null" | "none") && may_hold_other_nan(class, &unhex(component))
        });
        let types: Option<Vec<_>> = types
            .split(';')
            .map(|class| parse_class(class).map(|(data_type, reversed)| (data_type, order(reversed))))
            .collect();
        let Some(types) = types else { continue };
        let kind = match kind {
            "CLUSTERING" => None,
            "INCL_START_BOUND" => Some(BoundKind::InclusiveStart),
            "EXCL_START_BOUND" => Some(BoundKind::ExclusiveStart),
            "INCL_END_BOUND" => Some(BoundKind::InclusiveEnd),
            "EXCL_END_BOUND" => Some(BoundKind::ExclusiveEnd),
            _ => continue,
        };
        if encoded.starts_with("error") || with_other_nan {
            continue;
        }
        seen += 1;
        let table = table_clustered_by(&types);
        let values: Vec<Option<Bytes>> = match components {
            "none" => Vec::new(),
            _ => components.split(',').map(|c| (c != "null").then(|| unhex(c))).collect(),
        };
        let prefix = Clustering(values.into_iter().collect());
        let mut bytes = Vec::new();
        match kind {
            None => append_clustering(&table, &prefix, &mut bytes).expect(&line),
            Some(kind) => {
                append_bound(&table, &Bound { kind, prefix: prefix.clone() }, &mut bytes).expect(&line)
            }
        };
        assert_eq!(hex(&bytes), encoded, "{line}");

        // What comes back is the same but for what the originals keep; encoding it again is equal.
        let mut again = Vec::new();
        match kind {
            None => {
                let (decoded, length) = decode_clustering(&table, &bytes).expect(&line);
                assert_eq!(length, bytes.len(), "{line}");
                append_clustering(&table, &decoded, &mut again).expect(&line);
            }
            Some(kind) => {
                let decoded = decode_bound(&table, &bytes, kind.is_start()).expect(&line);
                assert_eq!(decoded.kind, kind, "{line}");
                append_bound(&table, &decoded, &mut again).expect(&line);
            }
        }
        assert_eq!(hex(&again), encoded, "{line}");
    }
    compared("clusterings and bounds", seen, 350);
}

#[test]
fn originals_are_kept_where_decoding_loses_them() {
    let table = table_clustered_by(&[
        (DataType::Int, ClusteringOrder::Asc),
        (DataType::Decimal, ClusteringOrder::Desc),
    ]);
    let one_point_zero = unhex("000000010a");
    let clustering = Clustering::from_values([unhex("00000001"), one_point_zero.clone()]);
    let mut bytes = Vec::new();
    let originals = append_clustering(&table, &clustering, &mut bytes).unwrap();
    assert_eq!(originals.as_slice(), &[(1, one_point_zero)]);
    let mut other = Vec::new();
    let same = Clustering::from_values([unhex("00000001"), unhex("0000000001")]);
    append_clustering(&table, &same, &mut other).unwrap();
    assert_eq!(bytes, other, "1.0 and 1 are one row");
}

fn value_of(data_type: &DataType) -> BoxedStrategy<Bytes> {
    let interesting = prop_oneof![Just(0u8), Just(0xFF), Just(0xFE), any::<u8>()];
    let sized = |length: usize| {
        proptest::collection::vec(prop_oneof![Just(0u8), Just(0xFF), Just(0x80), any::<u8>()], length)
            .prop_map(Bytes::from)
            .boxed()
    };
    match data_type {
        DataType::Int => sized(4),
        DataType::BigInt | DataType::Timestamp => sized(8),
        DataType::SmallInt => sized(2),
        _ => proptest::collection::vec(interesting, 0..5).prop_map(Bytes::from).boxed(),
    }
}

fn reference(data_type: &DataType, left: &Bytes, right: &Bytes) -> Ordering {
    let number =
        |bytes: &Bytes| bytes.iter().fold(-i128::from(bytes[0] >> 7), |n, b| (n << 8) | i128::from(*b));
    match data_type {
        DataType::Blob => left.cmp(right),
        _ => number(left).cmp(&number(right)),
    }
}

const TYPES: [DataType; 4] = [DataType::Int, DataType::BigInt, DataType::SmallInt, DataType::Blob];

proptest! {
    /// The order of keys is the order of clusterings, whatever the directions; both come back.
    #[test]
    fn key_order_is_clustering_order(
        (columns, left, right, cut, is_after) in (
            proptest::collection::vec((0..TYPES.len(), any::<bool>()), 1..4),
        ).prop_flat_map(|(columns,)| {
            let values = || columns.iter().map(|(t, _)| value_of(&TYPES[*t])).collect::<Vec<_>>();
            (Just(columns.clone()), values(), values(), 0..=columns.len(), any::<bool>())
        })
    ) {
        let types: Vec<_> = columns.iter().map(|(t, r)| (TYPES[*t].clone(), order(*r))).collect();
        let table = table_clustered_by(&types);
        let key = |values: &Vec<Bytes>| {
            let mut bytes = Vec::new();
            let clustering = Clustering::from_values(values.iter().cloned());
            append_clustering(&table, &clustering, &mut bytes).unwrap();
            assert_eq!(decode_clustering(&table, &bytes).unwrap(), (clustering, bytes.len()));
            bytes
        };
        let compare = |upto: usize| {
            types.iter().zip(left.iter().zip(&right)).take(upto).fold(Ordering::Equal, |order, ((t, d), (a, b))| {
                order.then_with(|| match d {
                    ClusteringOrder::Asc => reference(t, a, b),
                    ClusteringOrder::Desc => reference(t, b, a),
                })
            })
        };
        prop_assert_eq!(key(&left).cmp(&key(&right)), compare(types.len()));

        // A bound lies on its side of everything with its prefix.
        let kind = if is_after { BoundKind::InclusiveEnd } else { BoundKind::InclusiveStart };
        let bound = Bound { kind, prefix: Clustering::from_values(left[..cut].iter().cloned()) };
        let mut bytes = Vec::new();
        append_bound(&table, &bound, &mut bytes).unwrap();
        let side = if is_after { Ordering::Greater } else { Ordering::Less };
        prop_assert_eq!(bytes.as_slice().cmp(&key(&right)), compare(cut).then(side));
        prop_assert_eq!(decode_bound(&table, &bytes, !is_after).unwrap(), bound);
    }
}
