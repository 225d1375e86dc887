//! Each workload as its source says: proportions, keys, sizes; and the same plan each time.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn workload(text: &str, options: &Options) -> std::sync::Arc<dyn Workload> {
    named(&words(text), options).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The values of a part, `None` for null or unset.
fn split(values: &Values) -> Vec<Option<Vec<u8>>> {
    let mut rest = values.bytes();
    let mut split = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_at(4);
        let length = i32::from_be_bytes(length.try_into().expect("four bytes"));
        let length = usize::try_from(length).ok();
        split.push(length.map(|length| behind[..length].to_vec()));
        rest = &behind[length.unwrap_or(0)..];
    }
    assert_eq!(split.len(), usize::from(values.count()));
    split
}

fn operation(workload: &dyn Workload, index: u64) -> Operation {
    let mut operation = Operation::default();
    workload.next(index, &mut Random::at(5, index), &mut operation);
    operation
}

fn loaded(workload: &dyn Workload, record: u64) -> Operation {
    let mut operation = Operation::default();
    workload.load(record, &mut operation);
    operation
}

/// How often each kind comes in so many operations.
fn proportions(text: &str, count: u64) -> Vec<(String, u64)> {
    let workload = workload(text, &Options { records: Some(1000), ..Options::default() });
    let mut counts = BTreeMap::new();
    for index in 0..count {
        let operation = operation(&*workload, index);
        *counts.entry(workload.kinds()[operation.kind].clone()).or_insert(0) += 1;
        for part in operation.parts() {
            let statement = &workload.statements()[part.statement];
            assert_eq!(
                statement.text.matches('?').count(),
                usize::from(part.values.count()),
                "{}",
                statement.text
            );
        }
    }
    counts.into_iter().collect()
}

#[test]
fn proportions_are_exact() {
    for (text, count, expected) in [
        ("apm R", 100, &[("insert", 5), ("read", 95)][..]),
        ("apm RW", 100, &[("insert", 50), ("read", 50)]),
        ("apm W", 100, &[("insert", 99), ("read", 1)]),
        ("apm RS", 100, &[("insert", 6), ("read", 47), ("scan", 47)]),
        ("apm RSW slice", 100, &[("insert", 50), ("read", 25), ("scan", 25)]),
        ("yj 1", 3000, &[("insert", 1000), ("select", 2000)]),
        ("yj 2", 7000, &[("delete", 1000), ("insert", 1000), ("select", 4000), ("update", 1000)]),
        ("yj 3", 6000, &[("insert", 1000), ("select", 4000), ("update", 1000)]),
        ("tene", 100, &[("read", 100)]),
        ("ndbench", 100, &[("read", 50), ("write", 50)]),
        ("ycsb A", 100, &[("read", 50), ("update", 50)]),
        ("ycsb B", 100, &[("read", 95), ("update", 5)]),
        ("ycsb c", 100, &[("read", 100)]),
        ("ycsb D", 100, &[("insert", 5), ("read", 95)]),
        ("ycsb E", 100, &[("insert", 5), ("scan", 95)]),
        ("ycsb F", 300, &[("read", 100), ("rmw-read", 100), ("rmw-update", 100)]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(proportions(text, count), expected, "{text}");
    }
}

#[test]
fn apm_has_25_byte_keys_and_five_values_of_10() {
    let workload = workload("apm RS", &Options::default());
    assert_eq!(workload.records(), 10_000_000);
    let keys: HashSet<Vec<u8>> = (0..10_000)
        .map(|record| {
            let operation = loaded(&*workload, record * 5000 - record);
            let values = split(&operation.parts()[0].values);
            let lengths: Vec<usize> = values.iter().flatten().map(Vec::len).collect();
            assert_eq!(lengths, [25, 10, 10, 10, 10, 10]);
            values[0].clone().expect("a key")
        })
        .collect();
    assert_eq!(keys.len(), 10_000);
    assert_eq!(apm::key(7 * 5000 + 3 * 500 + 12 * 5), "Host0007/Ag3/Svlt12/AvRsT");
    assert_eq!(apm::metric_name(7 * 5000 + 3 * 500 + 12 * 5), "Host7/Agent3/Servlet12/AverageResponseTime");
    let statements: Vec<&str> = workload.statements().iter().map(|statement| &statement.text[..]).collect();
    assert!(statements[1].ends_with("token(metric) >= token(?) LIMIT 50"));
    let slice = split(
        &loaded(&*super::named(&words("apm RS slice"), &Options::default()).expect("slice"), 0).parts()[0]
            .values,
    );
    assert_eq!(slice[0].as_deref(), Some(&b"Host0000/Ag0"[..]));
    assert_eq!(slice[1].as_deref(), Some(&b"/Svlt00/AvRsT"[..]));
}

#[test]
fn yj_has_text_of_32_bytes_a_timeuuid_and_1_to_2_kb() {
    let check = |options: &Options, sizes: std::ops::RangeInclusive<usize>| {
        let workload = workload("yj 1", options);
        let mut keys = HashSet::new();
        let mut lengths = Vec::new();
        for record in 0..2000 {
            let values = split(&loaded(&*workload, record).parts()[0].values);
            let [Some(key), Some(uuid), Some(text)] = &values[..] else { panic!("three values") };
            assert_eq!((key.len(), uuid.len(), uuid[6] >> 4, uuid[8] >> 6), (32, 16, 1, 2));
            assert!(std::str::from_utf8(key).is_ok() && std::str::from_utf8(text).is_ok());
            assert!(keys.insert((key.clone(), uuid.clone())));
            lengths.push(text.len());
        }
        assert!(lengths.iter().all(|length| sizes.contains(length)));
        let mean = lengths.iter().sum::<usize>() as f64 / 2000.0;
        let middle = (sizes.start() + sizes.end()) as f64 / 2.0;
        assert!((mean / middle - 1.0).abs() < 0.02, "{mean}");
    };
    check(&Options::default(), 1024..=2048);
    let value = Some("10-20KB".parse().expect("a size"));
    check(&Options { value, ..Options::default() }, 10_240..=20_480);
}

#[test]
fn ndbench_writes_a_partition_of_100_rows_in_a_batch() {
    let workload = workload("ndbench", &Options::default());
    let operation = loaded(&*workload, 999);
    assert_eq!((operation.batch, operation.parts().len()), (Some(BatchKind::Unlogged), 100));
    let last = split(&operation.parts()[99].values);
    assert_eq!(last[0].as_deref(), Some(&b"T999"[..]));
    assert_eq!(last[1].as_deref(), Some(&99_i32.to_be_bytes()[..]));
    assert_eq!(last[2].as_ref().map(Vec::len), Some(128));
}

#[test]
fn ycsb_reads_what_its_distribution_says_and_modifies_what_it_has_read() {
    let key_of = |operation: &Operation| {
        let values = split(&operation.parts()[0].values);
        if operation.parts()[0].statement >= 4 { values[1].clone() } else { values[0].clone() }
    };
    let f = workload("ycsb F", &Options { records: Some(1000), ..Options::default() });
    for block in 0..500 {
        let modified: Vec<Operation> = (block * 3..block * 3 + 3)
            .map(|index| operation(&*f, index))
            .filter(|made| made.kind >= 4)
            .collect();
        assert_eq!(modified.iter().map(|made| made.kind).collect::<Vec<_>>(), [4, 5], "the read is first");
        assert_eq!(key_of(&modified[0]), key_of(&modified[1]));
        assert!(key_of(&modified[0]).is_some_and(|key| key.starts_with(b"user")));
    }
    // D: the newest records that are settled are read most.
    let d = workload("ycsb D", &Options { records: Some(1000), ..Options::default() });
    let mut reads: HashMap<_, u64> = HashMap::new();
    (100_000..110_000).map(|index| operation(&*d, index)).filter(|made| made.kind == 0).for_each(|made| {
        *reads.entry(key_of(&made)).or_default() += 1;
    });
    let newest: u64 = (5_900..6_500).filter_map(|record| reads.get(&key_of(&loaded(&*d, record)))).sum();
    assert!(newest > 5000, "{newest} of 9,500 reads are of the newest tenth");
    let e = workload("ycsb E", &Options { records: Some(1000), ..Options::default() });
    let lengths = (0..5000).map(|index| operation(&*e, index)).filter(|made| made.kind == 3).map(|made| {
        let limit = split(&made.parts()[0].values)[1].clone().expect("a limit");
        i32::from_be_bytes(limit[..].try_into().expect("four bytes"))
    });
    let lengths: HashSet<i32> = lengths.collect();
    assert_eq!((lengths.len(), lengths.iter().min(), lengths.iter().max()), (100, Some(&1), Some(&100)));
}

#[test]
fn inserts_are_new_records_each_once() {
    for text in ["apm W", "apm RSW slice", "yj 2", "ycsb D", "ycsb E"] {
        let workload = workload(text, &Options { records: Some(100), ..Options::default() });
        let keys = |made: &Operation| {
            split(&made.parts()[0].values)
                [..if text.starts_with("apm RSW") || text.starts_with("yj") { 2 } else { 1 }]
                .to_vec()
        };
        let mut seen: HashSet<_> = (0..100).map(|record| keys(&loaded(&*workload, record))).collect();
        let insert = workload.kinds().iter().position(|kind| kind == "insert").expect("inserts");
        for made in (0..5000).map(|index| operation(&*workload, index)).filter(|made| made.kind == insert) {
            assert!(seen.insert(keys(&made)), "{text}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_plan() {
    for text in ["apm RSW", "yj 2", "tene", "ndbench", "ycsb A", "ycsb F"] {
        let [one, same, other] =
            [1, 1, 2].map(|seed| workload(text, &Options { seed, ..Options::default() }));
        let bytes = |workload: &dyn Workload, index| {
            let made = operation(workload, index);
            let part = |part: &Part| (part.statement, part.values.bytes().to_vec());
            (made.kind, made.batch, made.parts().iter().map(part).collect::<Vec<_>>())
        };
        assert!((0..200).all(|index| bytes(&*one, index) == bytes(&*same, index)), "{text}");
        // Of one kind of operation there is but one order.
        let differs = (0..200).any(|index| bytes(&*one, index) != bytes(&*other, index));
        assert_eq!(differs, text != "tene", "{text}");
    }
}

#[test]
fn an_operation_used_again_keeps_its_buffers() {
    for text in ["apm RSW", "yj 2", "tene", "ndbench", "ycsb A", "ycsb E", "ycsb F"] {
        let workload = workload(text, &Options::default());
        let mut made = Operation::default();
        let mut run = || {
            (0..300)
                .map(|index| {
                    made.clear();
                    workload.next(index, &mut Random::at(5, index), &mut made);
                    made.parts().last().map(|part| part.values.bytes().as_ptr())
                })
                .collect::<Vec<_>>()
        };
        run();
        assert_eq!(run(), run(), "{text}");
    }
}

#[test]
fn verified_writes_carry_their_sequence_as_timestamp() {
    let options = Options { records: Some(100), verify: true, now_micros: 5_000_000, ..Options::default() };
    for text in ["apm W", "yj 2", "ndbench", "ycsb A", "ycsb F"] {
        let workload = workload(text, &options);
        let mut last = 0;
        let loads = (0..100).map(|record| loaded(&*workload, record));
        for made in loads.chain((0..200).map(|index| operation(&*workload, index))) {
            let statement = &workload.statements()[made.parts()[0].statement];
            assert_eq!(made.written.is_some(), statement.is_write, "{}", statement.text);
            let Some(written) = made.written else { continue };
            assert!(written.sequence > last && (4_999_900..5_000_200).contains(&written.sequence));
            last = written.sequence;
            for part in made.parts() {
                let time = written.sequence.to_be_bytes().to_vec();
                assert!(split(&part.values).contains(&Some(time)), "{}", statement.text);
            }
        }
    }
}

#[test]
fn what_is_not_possible_is_refused_with_what_is() {
    let error =
        |text: &str, options: &Options| named(&words(text), options).err().map(|error| error.to_string());
    let plain = Options::default();
    for text in [
        "",
        "apm",
        "apm X",
        "apm R slice",
        "apm RW RW",
        "yj",
        "yj 0",
        "yj 4",
        "yj -1",
        "tene 5",
        "ndbench x",
        "ycsb",
        "ycsb G",
        "tpcc",
    ] {
        let error = error(text, &plain).unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(
            ["apm R", "yj 1", "tene ", "ndbench ", "ycsb A"].iter().any(|possible| error.contains(possible)),
            "{error}"
        );
    }
    let value = Options { value: Some(Sizes::fixed(100)), ..Options::default() };
    assert!(error("apm R", &value).is_some_and(|error| error.starts_with("--value")));
    assert!(error("tene", &value).is_some() && error("ycsb A", &value).is_none());
    let short = Options { value: Some(Sizes::fixed(9)), verify: true, ..Options::default() };
    assert!(error("yj 1", &short).is_some_and(|error| error.starts_with("--verify")));
    let many = Options { records: Some(50_000_001), ..Options::default() };
    assert!(error("apm R", &many).is_some_and(|error| error.contains("25 bytes")));
    let none = Options { replication: Some(0), ..Options::default() };
    assert!(error("tene", &none).is_some());
}

#[test]
fn nothing_loaded_is_no_reason_to_fail() {
    for text in ["apm RS", "yj 2", "tene", "ndbench", "ycsb A", "ycsb D", "ycsb E", "ycsb F"] {
        let workload = workload(text, &Options { records: Some(0), ..Options::default() });
        (0..500).for_each(|index| assert!(!operation(&*workload, index).parts().is_empty()));
    }
}
