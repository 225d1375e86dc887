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

/// The warnings of a statement about table `ks.t`.
fn warnings(store: &SchemaStore, statement: &str) -> Vec<String> {
    let statement = basalt_cql::parse_statement(statement).unwrap();
    run(store.change(Some("ks"), |context| plan(&statement, context))).unwrap().warnings
}

#[test]
fn options_without_effect_are_named_and_no_others() {
    let store = TestNode::new().open();
    warnings(
        &store,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    let ours = "Options of table ks.t that are kept but have no effect in Basalt: ";
    let effective = "CREATE TABLE t (k int PRIMARY KEY) WITH compression = {'class': 'ZstdCompressor', \
        'compression_level': 5, 'chunk_length_in_kb': 64, 'min_compress_ratio': 1.1} \
        AND compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 8, 'fanout_size': 5, \
        'enabled': false, 'tombstone_threshold': 0.2, 'log_all': false} \
        AND bloom_filter_fp_chance = 0.2 AND caching = {'keys': 'NONE'} AND gc_grace_seconds = 10 \
        AND default_time_to_live = 20 AND memtable_flush_period_in_ms = 30 AND comment = 'c'";
    assert_eq!(warnings(&store, effective), Vec::<String>::new());
    for (options, named) in [
        (
            "compaction = {'class': 'LeveledCompactionStrategy', 'single_sstable_uplevel': true, 'log_all': true}",
            "compaction.log_all, compaction.single_sstable_uplevel",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS', \
             'compaction_window_size': 2, 'min_threshold': 5, 'timestamp_resolution': 'MILLISECONDS', \
             'tombstone_threshold': 0.3, 'bucket_low': 0.4}",
            "compaction.bucket_low, compaction.timestamp_resolution, compaction.tombstone_threshold",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'L10', 'base_shard_count': 8, \
             'target_sstable_size': '2GiB'}",
            "compaction.base_shard_count, compaction.target_sstable_size",
        ),
        ("caching = {'keys': 'ALL', 'rows_per_partition': 10}", "caching.rows_per_partition"),
        (
            "speculative_retry = 'ALWAYS' AND read_repair = 'NONE' AND crc_check_chance = 0.5 \
             AND min_index_interval = 64 AND max_index_interval = 4096 AND additional_write_policy = '50ms' \
             AND memtable = 'trie' AND incremental_backups = false",
            "additional_write_policy, crc_check_chance, incremental_backups, max_index_interval, memtable, \
             min_index_interval, read_repair, speculative_retry",
        ),
    ] {
        assert_eq!(warnings(&store, &format!("ALTER TABLE t WITH {options}")), [format!("{ours}{named}")]);
    }
    // Said of what is asked for now, not of what was before.
    assert_eq!(warnings(&store, "ALTER TABLE t WITH gc_grace_seconds = 11"), Vec::<String>::new());
}

#[test]
fn users_are_told_when_storage_cannot_do_what_they_asked() {
    let store = TestNode::new().open();
    warnings(
        &store,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    // The storage of these tests goes by the comment.
    let shares = warnings(&store, "CREATE TABLE t (k int PRIMARY KEY) WITH comment = 'shares'");
    assert!(shares[0].starts_with("Table ks.t shares its files with other tables"), "{shares:?}");
    let waits = warnings(&store, "ALTER TABLE t WITH comment = 'waits'");
    assert!(waits[0].contains("until the node starts again"), "{waits:?}");
    assert_eq!(warnings(&store, "ALTER TABLE t ADD v int"), Vec::<String>::new(), "no option was altered");
}
