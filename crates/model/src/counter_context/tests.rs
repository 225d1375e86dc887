//! Contexts against what Cassandra said of them (`tests/golden/counters.txt`), and the laws of merging.

use proptest::prelude::*;

use super::*;
use crate::recorded::{compared, recorded};

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

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn parse(text: &str) -> CounterContext {
    CounterContext::parse(&unhex(text)).unwrap()
}

fn id(number: u8) -> CounterId {
    let mut id = CounterId::UPDATE;
    id.0[15] = number;
    id
}

#[test]
fn contexts_are_made_as_in_cassandra() {
    each("update", |line, fields| {
        let made = CounterContext::update(fields[0].parse().unwrap());
        assert_eq!(made.to_bytes(), unhex(fields[1]), "{line}");
    });
    let globals = each("global", |line, fields| {
        let (clock, count) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
        let made = CounterContext::global(id(fields[0].parse().unwrap()), clock, count);
        assert_eq!(made.to_bytes(), unhex(fields[3]), "{line}");
    });
    compared("global counter contexts", globals, 10);
}

#[test]
fn contexts_are_read_as_in_cassandra() {
    let all = each("context", |line, fields| {
        let bytes = unhex(fields[0]);
        let context = CounterContext::parse(&bytes).unwrap();
        let shown: Vec<String> = context.shards.iter().map(show).collect();
        assert_eq!(shown.join(" "), fields[1], "{line}");
        assert_eq!(CounterContext::total(&bytes).to_string(), fields[2], "{line}");
        let own = context.shard(id(2)).map_or((0, 0), |shard| (shard.clock, shard.count));
        assert_eq!(format!("{}:{}", own.0, own.1), fields[3], "{line}");
        assert_eq!(context.to_bytes(), bytes, "{line}");
    });
    compared("counter contexts", all, 50);
}

fn show(shard: &Shard) -> String {
    let kind = format!("{:?}", shard.kind).to_lowercase();
    let id: String = shard.id.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}:{id}:{}:{}", shard.clock, shard.count)
}

#[test]
fn contexts_merge_as_in_cassandra() {
    let all = each("merge", |line, fields| {
        let (left, right) = (parse(fields[0]), parse(fields[1]));
        let mut merged = left.clone();
        merged.merge(&right);
        assert_eq!(merged.to_bytes(), unhex(fields[2]), "{line}");
        let mut merged = right;
        merged.merge(&left);
        let other = if fields[3] == "same" { fields[2] } else { fields[3] };
        assert_eq!(merged.to_bytes(), unhex(other), "{line}");
    });
    compared("merged counter contexts", all, 300);
}

#[test]
fn other_bytes_are_no_context() {
    let good = CounterContext::global(id(1), 5, 7).to_bytes().to_vec();
    assert_eq!(
        CounterContext::parse(&[0, 0]).map(|context| context.shards.len()),
        Some(0),
        "none has counted"
    );
    for cut in 0..good.len() {
        assert!(CounterContext::parse(&good[..cut]).is_none(), "{cut} bytes");
    }
    let damaged = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        CounterContext::parse(&bytes)
    };
    assert_eq!(damaged(0, 0xFF), None, "a negative number of marks");
    assert_eq!(damaged(3, 1), None, "a mark for a shard that is not there");
    let twice = [&[0, 0][..], &good[4..], &good[4..]].concat();
    assert_eq!(CounterContext::parse(&twice), None, "a node twice");
    assert_eq!(CounterContext::total(&[]), 0);
    assert_eq!(CounterContext::total(&good), 7);
}

fn shard() -> impl Strategy<Value = Shard> {
    let clock = prop_oneof![-3..4i64, Just(i64::MIN), Just(i64::MAX)];
    let count = prop_oneof![-2..3i64, any::<i64>()];
    let kind = prop_oneof![3 => Just(ShardKind::Global), 1 => Just(ShardKind::Remote)];
    (1..5u8, clock, count, kind).prop_map(|(number, clock, count, kind)| {
        // A remote shard at clock 0 is never stored.
        let clock = if clock == 0 && kind == ShardKind::Remote { 1 } else { clock };
        Shard { id: id(number), clock, count, kind }
    })
}

fn context() -> impl Strategy<Value = CounterContext> {
    proptest::collection::vec(shard(), 0..5).prop_map(|shards| {
        let mut context = CounterContext { shards: SmallVec::new() };
        shards.into_iter().for_each(|shard| context.merge(&CounterContext::of(shard)));
        context
    })
}

fn merged<'a>(contexts: impl IntoIterator<Item = &'a CounterContext>) -> CounterContext {
    let mut all = CounterContext { shards: SmallVec::new() };
    contexts.into_iter().for_each(|context| all.merge(context));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// What nodes store merges to the same in any order, any grouping, any number of times.
    #[test]
    fn settled_contexts_merge_in_any_order(a in context(), b in context(), c in context()) {
        prop_assert!(a.is_settled());
        let all = merged([&a, &b, &c]);
        prop_assert_eq!(&merged([&c, &a, &b]), &all);
        prop_assert_eq!(&merged([&a, &merged([&b, &c])]), &all);
        prop_assert_eq!(&merged([&all, &b, &all]), &all);
        prop_assert_eq!(CounterContext::parse(&all.to_bytes()), Some(all));
    }

    /// Updates of one mutation add up, wrapping.
    #[test]
    fn updates_add_up(increments in proptest::collection::vec(any::<i64>(), 1..5)) {
        let updates: Vec<_> = increments.iter().map(|&increment| CounterContext::update(increment)).collect();
        let sum = increments.iter().fold(0, |sum: i64, &increment| sum.wrapping_add(increment));
        let all = merged(&updates);
        prop_assert_eq!(CounterContext::total(&all.to_bytes()), sum);
        prop_assert!(!all.is_settled());
    }

    #[test]
    fn garbage_is_refused_or_understood(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        CounterContext::total(&bytes);
        if let Some(context) = CounterContext::parse(&bytes) {
            prop_assert_eq!(context.to_bytes(), bytes);
        }
    }
}
