//! Ids that Cassandra itself computed (`tests/golden/statement_ids.txt`).

use super::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/statement_ids.txt");

fn hex(id: Md5Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\\\", "\\")
}

#[test]
fn statement_ids_are_cassandras() {
    let mut count = 0;
    for line in GOLDEN.lines().filter(|line| line.starts_with("statement | ")) {
        let (rest, id) = line.rsplit_once(" | ").unwrap();
        let [_, keyspace, query] = rest.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        // "-" stands for an empty name.
        let keyspace = match keyspace {
            "null" => None,
            "-" => Some(""),
            name => Some(name),
        };
        assert_eq!(hex(statement_id(keyspace, &unescape(query))), id, "{line}");
        count += 1;
    }
    assert!(count >= 30);
}

#[test]
fn result_metadata_ids_are_cassandras() {
    let mut count = 0;
    for line in GOLDEN.lines().filter(|line| line.starts_with("metadata | ")) {
        let [_, columns, id] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let columns: Vec<(String, &str)> = match columns {
            "none" => Vec::new(),
            list => list
                .split(';')
                .map(|column| column.split_once(":org.").unwrap())
                .map(|(name, class)| (unescape(name), class))
                .collect(),
        };
        let columns = columns.iter().map(|(name, class)| (name.as_str(), format!("org.{class}")));
        assert_eq!(hex(result_metadata_id(columns)), id, "{line}");
        count += 1;
    }
    assert!(count >= 30);
}
