//! The keeper against recordings of a stock node: the same statements at the same times give the
//! same schema version, and everything survives a restart.

use std::sync::atomic::Ordering;

use basalt_model::{CqlError, Schema};

use super::SchemaStore;
use crate::ddl;
use crate::result::{Change, ChangeTarget, Outcome, StatementResult};
use crate::testing::{TestNode, golden, run};

/// Runs a statement.
pub fn execute(store: &SchemaStore, text: &str) -> Result<Outcome, CqlError> {
    let statement = basalt_cql::parse_statement(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    run(store.change(None, |context| ddl::plan(&statement, context)))
}

fn unescape(field: &str) -> String {
    field
        .replace("\\p", "|")
        .replace("\\n", "\n")
        .replace("\\r", "\r")
        .replace("\\t", "\t")
        .replace("\\\\", "\\")
}

/// The recorded statements: time, version after, event, text.
fn recorded() -> Vec<(Option<i64>, String, String, String)> {
    let text = golden("schema_ddl.txt");
    let line = |line: &str| {
        let fields: Vec<&str> = line.splitn(5, " | ").collect();
        (fields[1].parse().ok(), fields[2].to_owned(), fields[3].to_owned(), unescape(fields[4]))
    };
    text.lines().filter(|line| line.starts_with("ddl |")).map(line).collect()
}

fn event(outcome: &Outcome) -> String {
    let StatementResult::SchemaChange(change) = &outcome.result else { return "none".to_owned() };
    let word = match change.change {
        Change::Created => "CREATED",
        Change::Updated => "UPDATED",
        Change::Dropped => "DROPPED",
    };
    match &change.target {
        ChangeTarget::Keyspace => format!("{word} KEYSPACE {}", change.keyspace),
        ChangeTarget::Table(name) => format!("{word} TABLE {} {name}", change.keyspace),
        ChangeTarget::Type(name) => format!("{word} TYPE {} {name}", change.keyspace),
    }
}

fn first_version(file: &str) -> String {
    let text = golden(file);
    let line = text.lines().find_map(|line| line.strip_prefix("digest | ")).unwrap();
    line.trim().to_owned()
}

#[test]
fn an_empty_node_has_the_stock_version() {
    let store = TestNode::new().open();
    assert_eq!(store.current().version.to_string(), first_version("schema_digest_empty.txt"));
}

#[test]
fn the_same_statements_at_the_same_times_give_the_same_versions() {
    let node = TestNode::new();
    let store = node.open();
    let mut time = 0;
    for (timestamp, version, change, text) in recorded() {
        time = timestamp.unwrap_or(time + 1_000);
        node.env.micros.store(time, Ordering::Relaxed);
        let outcome = execute(&store, &text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(event(&outcome), change, "{text}");
        assert_eq!(store.current().version.to_string(), version, "after {text}");
    }
}

/// The parts of a schema that a restart must bring back. The times of drops are kept in
/// milliseconds.
fn shape(schema: &Schema) -> String {
    let mut text = format!("{}\n", schema.version);
    for keyspace in schema.keyspaces.values() {
        text += &format!("{} {:?} {:?}\n", keyspace.name, keyspace.replication, keyspace.types);
        for table in keyspace.tables.values() {
            let dropped = table.dropped_columns.values();
            let dropped: Vec<_> =
                dropped.map(|dropped| (&dropped.column, dropped.dropped_time.div_euclid(1000))).collect();
            text += &format!("{:?} {:?} {dropped:?} {:?}\n", table.id, table.columns, table.options);
        }
    }
    text
}

#[test]
fn a_restart_brings_everything_back() {
    let node = TestNode::new();
    let store = node.open();
    for (timestamp, _, _, text) in recorded() {
        if let Some(time) = timestamp {
            node.env.micros.store(time, Ordering::Relaxed);
        }
        execute(&store, &text).unwrap();
    }
    let again = node.open();
    assert_eq!(shape(&again.current()), shape(&store.current()));
    assert_eq!(again.identity(), store.identity());
    assert_eq!(again.identity().tokens.len(), 16);
}

#[test]
fn storage_comes_and_goes_with_tables() {
    let node = TestNode::new();
    let store = node.open();
    let before = node.storage.0.lock().len();
    execute(
        &store,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )
    .unwrap();
    execute(&store, "CREATE TABLE k.a (k int PRIMARY KEY)").unwrap();
    execute(&store, "CREATE TABLE k.b (k int PRIMARY KEY)").unwrap();
    assert_eq!(node.storage.0.lock().len(), before + 2);
    execute(&store, "DROP TABLE k.a").unwrap();
    assert_eq!(node.storage.0.lock().len(), before + 1);
    execute(&store, "DROP KEYSPACE k").unwrap();
    assert_eq!(node.storage.0.lock().len(), before);
}

#[test]
fn storage_without_a_table_goes_and_a_table_without_storage_is_damage() {
    let node = TestNode::new();
    let store = node.open();
    execute(
        &store,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )
    .unwrap();
    execute(&store, "CREATE TABLE k.a (k int PRIMARY KEY)").unwrap();
    let id = store.current().table("k", "a").unwrap().id;
    let orphan = basalt_model::TableId(uuid::Uuid::from_u128(7));
    node.storage.0.lock().push(orphan);
    node.open();
    assert!(!node.storage.0.lock().contains(&orphan));
    node.storage.0.lock().retain(|table| *table != id);
    let error = run(SchemaStore::open(node.parts())).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("the stored schema is damaged: table k.a ({}) has no data files", id.0)
    );
}

#[test]
fn data_without_a_schema_is_damage() {
    let node = TestNode::new();
    node.storage.0.lock().push(basalt_model::TableId(uuid::Uuid::from_u128(7)));
    let error = run(SchemaStore::open(node.parts())).err().unwrap();
    assert!(error.to_string().contains("system.local is empty"), "{error}");
}

#[test]
fn another_cluster_name_is_refused() {
    let node = TestNode::new();
    node.open();
    let mut parts = node.parts();
    parts.facts.cluster_name = "Other".into();
    let error = run(SchemaStore::open(parts)).err().unwrap();
    assert_eq!(error.to_string(), "Saved cluster name Test Cluster != configured name Other");
}

#[test]
fn a_column_keeps_its_id_when_it_comes_back() {
    let node = TestNode::new();
    let store = node.open();
    execute(
        &store,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )
    .unwrap();
    execute(&store, "CREATE TABLE k.t (k int PRIMARY KEY, a int, b int)").unwrap();
    let id = |name: &str| store.current().table("k", "t").unwrap().column(name).unwrap().id;
    let (a, b) = (id("a"), id("b"));
    execute(&store, "ALTER TABLE k.t DROP a").unwrap();
    execute(&store, "ALTER TABLE k.t ADD c int").unwrap();
    assert!(![a, b].contains(&id("c")));
    execute(&store, "ALTER TABLE k.t ADD a int").unwrap();
    assert_eq!(id("a"), a);
    let again = node.open();
    assert_eq!(again.current().table("k", "t").unwrap().column("c").unwrap().id, id("c"));
}

#[test]
fn listeners_hear_of_changes_after_they_are_published() {
    let node = TestNode::new();
    let store = node.open();
    let heard = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let sink = heard.clone();
    store.on_change(Box::new(move |change| sink.lock().push(change.keyspace.to_string())));
    let create = "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    execute(&store, create).unwrap();
    let second = execute(&store, create).unwrap();
    assert!(matches!(second.result, StatementResult::Void));
    assert_eq!(*heard.lock(), ["k"]);
}

#[test]
fn a_change_that_nobody_waited_for_is_caught_up_with() {
    let node = TestNode::new();
    let store = node.open();
    execute(
        &store,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )
    .unwrap();
    node.replica.fail_reads.store(true, Ordering::Relaxed);
    let create = "CREATE TABLE k.a (k int PRIMARY KEY)";
    assert!(execute(&store, create).is_err());
    assert!(store.current().table("k", "a").is_none());
    node.replica.fail_reads.store(false, Ordering::Relaxed);
    // The rows are there: the next change finds the table.
    assert!(matches!(execute(&store, create), Err(CqlError::AlreadyExists { .. })));
    assert!(store.current().table("k", "a").is_some());
}
