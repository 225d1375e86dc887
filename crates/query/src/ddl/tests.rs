//! Every schema statement of the recorded corpus, with what a stock node answered.

use basalt_cql::ast::Statement;
use basalt_model::CqlError;

use super::{is_schema_change, plan};
use crate::result::{Change, ChangeTarget, Outcome, StatementResult};
use crate::schema::SchemaStore;
use crate::testing::{TestNode, run};

/// One request of a `.cqltest` file with its answer's lines.
struct Case {
    statement: String,
    answer: Vec<String>,
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
}

fn cases(file: &str) -> Vec<Case> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cql").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let case = |block: &str| {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        let plain = lines.iter().all(|line| !line.starts_with('@'));
        let statement = lines.iter().find_map(|line| line.strip_prefix("cql: ")).filter(|_| plain)?;
        let answer =
            lines.iter().filter(|line| !line.starts_with("cql: ")).map(|line| unescape(line)).collect();
        Some(Case { statement: unescape(statement), answer })
    };
    text.split("\n\n").filter_map(case).collect()
}

fn describe_outcome(outcome: &Outcome) -> Vec<String> {
    // What Basalt adds is not in the recording.
    let ours = |warning: &&String| !warning.contains("have no effect in Basalt");
    let mut lines: Vec<String> =
        outcome.warnings.iter().filter(ours).map(|warning| format!("warning: {warning}")).collect();
    lines.push(match &outcome.result {
        StatementResult::SchemaChange(change) => {
            let word = match change.change {
                Change::Created => "CREATED",
                Change::Updated => "UPDATED",
                Change::Dropped => "DROPPED",
            };
            match &change.target {
                ChangeTarget::Keyspace => format!("schema_change: {word} KEYSPACE {}", change.keyspace),
                ChangeTarget::Table(name) => {
                    format!("schema_change: {word} TABLE {} {name}", change.keyspace)
                }
                ChangeTarget::Type(name) => format!("schema_change: {word} TYPE {} {name}", change.keyspace),
            }
        }
        _ => "void".to_owned(),
    });
    lines
}

fn describe_error(error: &CqlError) -> Vec<String> {
    let mut lines = vec![format!("error: 0x{:04X} {error}", error.code())];
    if let CqlError::AlreadyExists { keyspace, table } = error {
        lines.push(format!("field: keyspace {keyspace}"));
        lines.push(format!("field: table {table}"));
    }
    lines
}

fn replay(file: &str) -> usize {
    let node = TestNode::new();
    let store: &SchemaStore = &node.open();
    let mut keyspace: Option<String> = None;
    let mut differences = Vec::new();
    let mut replayed = 0;
    // What could not be made here cannot be dropped.
    let mut unmade = false;
    for case in cases(file) {
        let Ok(statement) = basalt_cql::parse_statement(&case.statement) else { continue };
        if let Statement::Use(statement) = &statement {
            keyspace = Some(statement.keyspace.name.clone());
        }
        if !is_schema_change(&statement) {
            continue;
        }
        let result = run(store.change(keyspace.as_deref(), |context| plan(&statement, context)));
        let answer = match &result {
            Ok(outcome) => describe_outcome(outcome),
            Err(error) => describe_error(error),
        };
        if answer.iter().any(|line| line.ends_with("not supported yet")) {
            unmade = true;
            continue;
        }
        if std::mem::take(&mut unmade) && case.statement.starts_with("DROP") {
            continue;
        }
        replayed += 1;
        let expected: Vec<String> = case.answer.iter().map(|line| line.trim_end().to_owned()).collect();
        let answer: Vec<String> = answer.iter().map(|line| line.trim_end().to_owned()).collect();
        if answer != expected {
            differences.push(format!("{}\n  stock {expected:#?}\n  ours  {answer:#?}", case.statement));
        }
    }
    assert!(differences.is_empty(), "{file}: {}\n{}", differences.len(), differences.join("\n"));
    replayed
}

#[test]
fn wrong_schema_statements_get_the_recorded_errors() {
    assert!(replay("errors_schema.cqltest") > 80);
}

#[test]
fn schema_statements_get_the_recorded_answers() {
    assert!(replay("schema_ddl.cqltest") > 40);
}

#[test]
fn the_tables_of_the_corpus_can_be_made() {
    for file in ["types.cqltest", "udt_tuple_vector.cqltest", "collections.cqltest", "static.cqltest"] {
        replay(file);
    }
}
