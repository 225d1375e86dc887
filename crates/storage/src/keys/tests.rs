//! Partitions in keys: they come back, and ranges of them hold what they should.

use basalt_model::Token;
use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn key_in(key: &DecoratedKey, kind: EntryKind, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_partition(key, &mut bytes);
    bytes.push(kind as u8);
    bytes.extend_from_slice(rest);
    bytes
}

/// Few tokens and bytes, so that keys share tokens and prefixes.
fn key() -> impl Strategy<Value = DecoratedKey> {
    let token = prop_oneof![Just(i64::MIN), Just(-1), Just(0), Just(i64::MAX)];
    let byte = prop_oneof![Just(0u8), Just(1), Just(0x13), Just(0xFE), Just(0xFF)];
    (token, proptest::collection::vec(byte, 0..4))
        .prop_map(|(token, key)| DecoratedKey { token: Token(token), key: Bytes::from(key) })
}

fn kind() -> impl Strategy<Value = EntryKind> {
    prop_oneof![
        Just(EntryKind::Head),
        Just(EntryKind::Static),
        Just(EntryKind::RangeTombstone),
        Just(EntryKind::Row)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn keys_are_in_ring_order_and_come_back(
        (a, b) in (key(), key()),
        (kind_a, kind_b) in (kind(), kind()),
        rest in proptest::collection::vec(any::<u8>(), 0..4),
    ) {
        let (in_a, in_b) = (key_in(&a, kind_a, &rest), key_in(&b, kind_b, &rest));
        prop_assert_eq!(in_a.cmp(&in_b), a.cmp(&b).then(kind_a.cmp(&kind_b)));
        let parts = split(&in_a).unwrap();
        prop_assert_eq!((parts.kind, parts.rest), (kind_a, rest.as_slice()));
        prop_assert_eq!(decode_partition(parts.partition).unwrap(), a);
    }

    #[test]
    fn ranges_hold_the_partitions_between_their_bounds(
        (a, b) in (key(), key()),
        kind in kind(),
        is_inclusive in any::<bool>(),
        by_token in any::<bool>(),
    ) {
        let entry = key_in(&a, kind, b"rest");
        let bound = match by_token {
            true => KeyBound::Token { token: b.token, inclusive: is_inclusive },
            false => KeyBound::Key { key: b.clone(), inclusive: is_inclusive },
        };
        let order = if by_token { a.token.cmp(&b.token) } else { a.cmp(&b) };
        let is_behind_start = order.is_gt() || (is_inclusive && order.is_eq());
        prop_assert_eq!(range_start(&bound) <= entry, is_behind_start);
        let is_before_end = order.is_lt() || (is_inclusive && order.is_eq());
        prop_assert_eq!(range_end(&bound).is_none_or(|end| entry < end), is_before_end);
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let good = key_in(&DecoratedKey::new(Bytes::from_static(b"k")), EntryKind::Row, b"");
    assert!(split(&good).is_ok());
    for length in 0..good.len() {
        assert!(split(&good[..length]).is_err(), "{length} bytes of it");
    }
    let mut other_kind = good.clone();
    *other_kind.last_mut().unwrap() = PARTITION_END;
    assert!(split(&other_kind).is_err());
}
