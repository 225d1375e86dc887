//! Types against what was recorded from Cassandra: order, validity, names.

use std::cmp::Ordering;

use super::DataType;

/// Fields of each recorded line.
fn recorded(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split(" | ").collect())
}

fn unhex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The type of a class string; `None` for the few classes only old tables have.
fn data_type(class: &str) -> Option<(DataType, bool)> {
    let known = DataType::from_class_name(class);
    let old = [
        "DateType",
        "CompositeType",
        "DynamicCompositeType",
        "LexicalUUIDType",
        "EmptyType",
        "LegacyTimeUUIDType",
    ];
    assert!(known.is_some() || old.iter().any(|old| class.contains(old)), "{class} is not known");
    known
}

fn compare(class: &str, left: &str, right: &str) -> Option<Ordering> {
    let (data_type, reversed) = data_type(class)?;
    let order = data_type.compare(&unhex(left), &unhex(right));
    Some(if reversed { order.reverse() } else { order })
}

#[test]
fn values_compare_as_in_cassandra() {
    let mut pairs = 0;
    for fields in recorded(include_str!("../../../../tests/golden/compare.txt")) {
        match fields[..] {
            ["pair", class, left, right, sign] => {
                let Some(order) = compare(class, left, right) else { continue };
                assert_eq!((order as i8).to_string(), sign, "{fields:?}");
                pairs += 1;
            }
            ["sorted", class, values] => {
                let words: Vec<&str> = values.split(' ').collect();
                for step in words.windows(3).step_by(2) {
                    let expected = if step[1] == "<" { Ordering::Less } else { Ordering::Equal };
                    let Some(order) = compare(class, step[0], step[2]) else { break };
                    assert_eq!(order, expected, "{class} {step:?}");
                    pairs += 1;
                }
            }
            _ => panic!("not a recorded line: {fields:?}"),
        }
    }
    assert!(pairs > 1000, "only {pairs} pairs");
}

#[test]
fn values_are_valid_as_in_cassandra() {
    let mut values = 0;
    for fields in recorded(include_str!("../../../../tests/golden/validate.txt")) {
        let [class, bytes, verdict] = fields[..] else { panic!("not a recorded line: {fields:?}") };
        let Some((data_type, _)) = data_type(class) else { continue };
        let ours = match data_type.validate(&unhex(bytes)) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        };
        if verdict.starts_with("throws ") {
            // Where Cassandra falls over an unexpected exception, some refusal is all that is asked.
            assert_ne!(ours, "ok", "{fields:?}");
        } else {
            assert_eq!(ours, verdict, "{fields:?}");
        }
        values += 1;
    }
    assert!(values > 300, "only {values} values");
}

#[test]
fn class_strings_and_cql_names_are_cassandras() {
    let mut types = 0;
    for fields in recorded(include_str!("../../../../tests/golden/class_names.txt")) {
        let ["parsed", _, class, _, cql, cells] = fields[..] else { continue };
        let Some((data_type, reversed)) = data_type(class) else { continue };
        assert_eq!((data_type.class_name().as_str(), reversed), (class, false), "{fields:?}");
        assert_eq!(data_type.to_string(), cql, "{fields:?}");
        assert_eq!(data_type.is_multi_cell(), cells == "multi-cell", "{fields:?}");
        types += 1;
    }
    assert!(types > 30, "only {types} types");
}

#[test]
fn frozen_types_are_cassandras() {
    let recorded = recorded(include_str!("../../../../tests/golden/class_names.txt"));
    let lines: Vec<Vec<&str>> = recorded.collect();
    let class_of = |cql: &str| lines.iter().find(|f| f[0] == "parsed" && f[1] == cql).map(|f| f[2]);
    let mut types = 0;
    for fields in lines.iter().filter(|fields| fields[0] == "frozen") {
        let [_, cql, frozen_class, frozen_cql] = fields[..] else { panic!("{fields:?}") };
        let Some((data_type, _)) = class_of(cql).and_then(data_type) else { continue };
        let frozen = data_type.freeze();
        assert_eq!((frozen.class_name().as_str(), frozen.to_string().as_str()), (frozen_class, frozen_cql));
        types += 1;
    }
    assert!(types > 30, "only {types} types");
}

#[test]
fn hostile_class_strings_are_refused() {
    let deep = "ListType(".repeat(100_000);
    for text in [
        "",
        "(",
        "ListType",
        "ListType(",
        "MapType(Int32Type)",
        "VectorType(Int32Type,x)",
        "UserType(k,zz)",
        &deep,
    ] {
        assert_eq!(DataType::from_class_name(text), None);
    }
}
