//! DESCRIBE against recordings of a stock node, byte for byte.

use basalt_cql::ast::Statement;
use basalt_model::{Consistency, SerialConsistency};

use super::{DescribeContext, describe};
use crate::ddl;
use crate::request::{QueryOptions, Values};
use crate::result::ResultSet;
use crate::schema::SchemaStore;
use crate::testing::{TestNode, golden, run};

fn options(page_size: Option<i32>, paging_state: Option<bytes::Bytes>) -> QueryOptions {
    QueryOptions {
        consistency: Consistency::One,
        serial_consistency: SerialConsistency::Serial,
        values: Values::Positional(Vec::new()),
        page_size,
        paging_state,
        default_timestamp: None,
        now_s: None,
        keyspace: None,
        protocol_version: 5,
    }
}

fn ask(
    store: &SchemaStore,
    text: &str,
    keyspace: Option<&str>,
    options: &QueryOptions,
) -> Result<ResultSet, String> {
    let Ok(Statement::Describe(statement)) = basalt_cql::parse_statement(text) else { panic!("{text}") };
    let schema = store.current();
    let context =
        DescribeContext { schema: &schema, keyspace, facts: store.facts(), tokens: &store.identity().tokens };
    describe(&statement, options, &context).map_err(|error| error.to_string())
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t")
        .replace('|', "\\p")
}

fn lines(result: &ResultSet) -> Vec<String> {
    let columns: Vec<String> = result
        .metadata
        .columns
        .iter()
        .map(|column| format!("{}.{}.{} {}", column.keyspace, column.table, column.name, column.data_type))
        .collect();
    let mut lines = vec![format!("columns | {}", columns.join(" | "))];
    for row in result.all_values().chunks(result.metadata.columns.len()) {
        let values: Vec<String> =
            row.iter().map(|value| escape(std::str::from_utf8(value.as_ref().unwrap()).unwrap())).collect();
        lines.push(format!("row | {}", values.join(" | ")));
    }
    lines
}

/// Blocks of a golden file: the statement and the lines that follow it.
fn recorded(file: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    for line in golden(file).lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("describe | ") {
            Some(statement) => blocks.push((statement.to_owned(), Vec::new())),
            None => blocks.last_mut().unwrap().1.push(line.to_owned()),
        }
    }
    blocks
}

#[test]
fn user_schemas_are_described_as_recorded() {
    let node = TestNode::new();
    let store = node.open();
    let mut keyspace: Option<String> = None;
    let mut differences = Vec::new();
    let text = golden("schema/describe_user.txt");
    let mut asked: Vec<String> = Vec::new();
    let mut expected: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).chain(["run | "]) {
        let (kind, rest) = line.split_once(" | ").unwrap();
        if kind != "run" && kind != "describe" {
            expected.push(line.to_owned());
            continue;
        }
        if asked != expected {
            let pairs = asked.iter().zip(&expected).filter(|(ours, stock)| ours != stock);
            let pairs: Vec<String> =
                pairs.map(|(ours, stock)| format!("  stock {stock}\n  ours  {ours}")).collect();
            differences.push(format!(
                "before {line} ({} lines, stock {})\n{}",
                asked.len(),
                expected.len(),
                pairs.join("\n")
            ));
        }
        asked.clear();
        expected.clear();
        if rest.is_empty() {
            continue;
        }
        if kind == "describe" {
            asked = match ask(&store, &unescape(rest), keyspace.as_deref(), &options(None, None)) {
                Ok(result) => lines(&result).into_iter().filter(|line| !ours(line)).collect(),
                Err(error) => vec![format!("error | 0x2200 | {}", escape(&error))],
            };
            continue;
        }
        let statement = basalt_cql::parse_statement(&unescape(rest)).unwrap();
        match &statement {
            Statement::Use(statement) => keyspace = Some(statement.keyspace.name.clone()),
            _ => {
                run(store.change(None, |context| ddl::plan(&statement, context))).unwrap();
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn unescape(text: &str) -> String {
    text.replace("\\p", "|").replace("\\\\", "\\")
}

#[test]
fn pages_follow_each_other_until_the_schema_changes() {
    let node = TestNode::new();
    let store = node.open();
    let all = ask(&store, "DESCRIBE TABLES", None, &options(None, None)).unwrap();
    let (mut values, mut state, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = ask(&store, "DESCRIBE TABLES", None, &options(Some(10), state)).unwrap();
        values.extend(page.values);
        pages += 1;
        state = page.paging_state;
        if state.is_none() {
            break;
        }
    }
    assert_eq!(values, all.values);
    assert_eq!(pages, all.row_count / 10 + 1);
    let first = ask(&store, "DESCRIBE TABLES", None, &options(Some(10), None)).unwrap();
    let create = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    let statement = basalt_cql::parse_statement(create).unwrap();
    run(store.change(None, |context| ddl::plan(&statement, context))).unwrap();
    let error = ask(&store, "DESCRIBE TABLES", None, &options(Some(10), first.paging_state)).unwrap_err();
    assert!(error.starts_with("The schema has changed since the previous page"), "{error}");
    let bad = ask(
        &store,
        "DESCRIBE TABLES",
        None,
        &options(Some(10), Some(bytes::Bytes::from_static(b"\x01\x02"))),
    );
    assert!(bad.is_err());
}

/// Lines that differ on purpose: tables of our own, and the index on Paxos state that we have not.
fn ours(line: &str) -> bool {
    let tables = ["basalt", "basalt_columns", "pending_compactions", "request_latency", "write_stalls"];
    let is_table =
        |name: &&str| line.contains(&format!("| {name} |")) || line.ends_with(&format!("| table | {name}"));
    tables.iter().any(is_table) || line.contains("PaxosUncommittedIndex")
}

#[test]
fn system_keyspaces_are_described_as_recorded() {
    let node = TestNode::new();
    let store = node.open();
    let mut differences = Vec::new();
    for (statement, expected) in recorded("schema/describe.txt") {
        let result = ask(&store, &statement, None, &options(None, None)).unwrap();
        let actual: Vec<String> = lines(&result).into_iter().filter(|line| !ours(line)).collect();
        let expected: Vec<String> = expected.into_iter().filter(|line| !ours(line)).collect();
        for (actual, expected) in actual.iter().zip(&expected) {
            if actual != expected {
                differences.push(format!("{statement}\n  stock {expected}\n  ours  {actual}"));
            }
        }
        if actual.len() != expected.len() {
            differences.push(format!("{statement}: {} rows, stock {}", actual.len(), expected.len()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
