//! Snapshots as an operator takes, lists, removes and restores them, and those that TRUNCATE and DROP leave: what comes
//! back is exactly what was there, on the same node and on another, whatever is killed in between.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use basalt_crash_tests::client::{Client, Row};
use basalt_crash_tests::process::{Node, Scratch, copy, run};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;

/// A table of each kind of data, and what shows all that is stored of it.
const TABLES: [(&str, &str); 4] = [
    (
        "CREATE TABLE IF NOT EXISTS k.rows (p int, c int, s text static, v text, m map<text, int>, l list<frozen<pair>>, PRIMARY KEY (p, c))",
        "SELECT p, c, s, v, m, l, writetime(v), writetime(s) FROM k.rows",
    ),
    ("CREATE TABLE IF NOT EXISTS k.counts (p int PRIMARY KEY, n counter)", "SELECT p, n FROM k.counts"),
    (
        "CREATE TABLE IF NOT EXISTS k.mortal (p int PRIMARY KEY, v text, w text)",
        "SELECT p, v, w, writetime(v), writetime(w) FROM k.mortal",
    ),
    ("CREATE TABLE IF NOT EXISTS k.empty (p int PRIMARY KEY)", "SELECT p FROM k.empty"),
];

fn connect(node: &Node) -> Client {
    node.client(ProtocolVersion::V5)
}

fn cql(client: &mut Client, text: &str) -> Vec<Row> {
    client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn make(client: &mut Client) {
    cql(client, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    cql(client, "CREATE TYPE k.pair (a int, b text)");
    for (create, _) in TABLES {
        cql(client, create);
    }
    // Columns get ids that a table made anew would not give them.
    cql(client, "ALTER TABLE k.rows ADD gone int");
    cql(client, "ALTER TABLE k.rows ADD later int");
    cql(client, "INSERT INTO k.rows (p, c, gone, later) VALUES (9, 9, 1, 2)");
    cql(client, "ALTER TABLE k.rows DROP gone");
    for i in 0..30 {
        let (p, c) = (i % 3, i);
        cql(
            client,
            &format!(
                "INSERT INTO k.rows (p, c, s, v, m, l) VALUES ({p}, {c}, 's{i}', 'v{i}', {{'a': {i}, 'b': 0}}, [{{a: {i}, b: 'x'}}])"
            ),
        );
        cql(client, &format!("UPDATE k.counts SET n = n + {i} WHERE p = {p}"));
        cql(client, &format!("INSERT INTO k.mortal (p, v) VALUES ({i}, 'v{i}') USING TTL {}", 1_000 + i));
    }
    // Values of no bytes, and a row that has none.
    cql(client, "INSERT INTO k.rows (p, c, s, v, m) VALUES (7, 7, '', '', {'': 7})");
    cql(client, "INSERT INTO k.rows (p, c) VALUES (7, 8)");
    cql(client, "INSERT INTO k.mortal (p, v, w) VALUES (70, '', '')");
    cql(client, "DELETE FROM k.rows WHERE p = 0 AND c < 10");
    cql(client, "DELETE m['a'] FROM k.rows WHERE p = 1 AND c = 1");
    cql(client, "DELETE FROM k.rows WHERE p = 2");
    cql(client, "INSERT INTO k.rows (p, c, v) VALUES (2, 2, 'again')");
    cql(client, "DELETE FROM k.mortal WHERE p = 3");
}

/// Other data over it, some of it older than what is there.
fn change(client: &mut Client) {
    for i in 0..30 {
        let p = i % 3;
        cql(client, &format!("INSERT INTO k.rows (p, c, v, s) VALUES ({p}, {i}, 'changed', 'changed')"));
        cql(client, &format!("UPDATE k.counts SET n = n + 1000 WHERE p = {p}"));
        cql(client, &format!("DELETE FROM k.mortal WHERE p = {i}"));
    }
    cql(client, "INSERT INTO k.rows (p, c, v) VALUES (0, 1, 'old') USING TIMESTAMP 5");
    cql(client, "INSERT INTO k.empty (p) VALUES (1)");
}

fn shown(client: &mut Client) -> Vec<Vec<Row>> {
    TABLES.iter().map(|(_, select)| cql(client, select)).collect()
}

/// The deletions are back as well: what is older than they does not show.
fn older_data_stays_deleted(client: &mut Client) {
    let before = shown(client);
    cql(client, "INSERT INTO k.rows (p, c, v) VALUES (0, 3, 'old') USING TIMESTAMP 5");
    cql(client, "INSERT INTO k.rows (p, c, v) VALUES (2, 20, 'old') USING TIMESTAMP 5");
    cql(client, "INSERT INTO k.mortal (p, v) VALUES (3, 'old') USING TIMESTAMP 5");
    assert_eq!(shown(client), before);
}

fn nodetool(node: &Node, arguments: &[&str]) -> String {
    let (code, out, err) = node.nodetool(arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}: {out}");
    out
}

/// Names of snapshots with their tables.
fn listed(node: &Node) -> Vec<(String, String)> {
    let out = nodetool(node, &["listsnapshots"]);
    let rows = out.lines().skip(2).take_while(|line| !line.is_empty());
    let cell = |line: &str, index: usize| line.split_whitespace().nth(index).expect("a cell").to_owned();
    rows.map(|line| (cell(line, 0), cell(line, 2))).collect()
}

fn tag_of(node: &Node, prefix: &str, table: &str) -> String {
    let found = listed(node).into_iter().find(|(tag, of)| tag.starts_with(prefix) && of == table);
    found.unwrap_or_else(|| panic!("no snapshot {prefix}...-{table}")).0
}

#[test]
fn a_snapshot_comes_back_exactly() {
    let scratch = Scratch::new("snapshots");
    let node = Node::start(run(&scratch.data()), &scratch);
    let mut client = connect(&node);
    make(&mut client);
    let before = shown(&mut client);
    let out = nodetool(&node, &["snapshot", "-t", "one", "k"]);
    assert_eq!(
        out,
        "Requested creating snapshot(s) for [k] with snapshot name [one] and options {skipFlush=false}\nSnapshot directory: one\n"
    );
    let (code, _, error) = node.nodetool(&["snapshot", "-t", "one", "k"]);
    assert_eq!((code, error.as_str()), (2, "error: Snapshot one already exists.\n"));

    change(&mut client);
    assert_ne!(shown(&mut client), before);
    let restored = nodetool(&node, &["restore", "-t", "one"]);
    assert_eq!(restored, "Restored k.counts\nRestored k.empty\nRestored k.mortal\nRestored k.rows\n");
    assert_eq!(shown(&mut client), before);
    older_data_stays_deleted(&mut client);
    // Counting goes on from what was restored.
    cql(&mut client, "UPDATE k.counts SET n = n + 1 WHERE p = 0");
    let count = cql(&mut client, "SELECT n FROM k.counts WHERE p = 0");
    assert_eq!(count[0][0].as_deref(), Some(&136_i64.to_be_bytes()[..]));

    // One table of it, over a truncated one; and the node is killed at once.
    change(&mut client);
    cql(&mut client, "TRUNCATE k.rows");
    assert_eq!(nodetool(&node, &["restore", "-t", "one", "k", "rows"]), "Restored k.rows\n");
    node.kill();
    let node = Node::start(run(&scratch.data()), &scratch);
    let mut client = connect(&node);
    assert_eq!(shown(&mut client)[0], before[0]);
    assert_ne!(shown(&mut client)[1], before[1]);
    assert_eq!(
        nodetool(&node, &["clearsnapshot", "-t", "one"]),
        "Requested clearing snapshot(s) for [all keyspaces] with snapshot name [one]\n"
    );
    assert!(!listed(&node).iter().any(|(tag, _)| tag == "one"));
    node.terminate();
}

#[test]
fn what_was_dropped_comes_back_on_this_node_and_on_another() {
    let scratch = Scratch::new("snapshots-dropped");
    let node = Node::start(run(&scratch.data()), &scratch);
    let mut client = connect(&node);
    make(&mut client);
    let before = shown(&mut client);
    cql(&mut client, "TRUNCATE k.mortal");
    let truncated = tag_of(&node, "truncated-", "mortal");
    assert!(truncated.ends_with("-mortal"));
    nodetool(&node, &["restore", "-t", &truncated]);
    cql(&mut client, "ALTER TABLE k.empty WITH allow_auto_snapshot = false");
    cql(&mut client, "DROP TABLE k.rows");
    cql(&mut client, "DROP KEYSPACE k");
    assert!(!listed(&node).iter().any(|(tag, table)| tag.starts_with("dropped-") && table == "empty"));
    for table in ["rows", "counts", "mortal"] {
        let tag = tag_of(&node, "dropped-", table);
        assert_eq!(nodetool(&node, &["restore", "-t", &tag]), format!("Restored k.{table}\n"));
    }
    cql(&mut client, TABLES[3].0);
    assert_eq!(shown(&mut client), before);
    older_data_stays_deleted(&mut client);
    let columns =
        cql(&mut client, "SELECT column_name FROM system_schema.dropped_columns WHERE keyspace_name = 'k'");
    assert_eq!(columns.len(), 1);
    nodetool(&node, &["snapshot", "-t", "all", "k"]);
    node.kill();

    let other = Scratch::new("snapshots-other");
    let node = Node::start(run(&other.data()), &other);
    copy(&scratch.data().join("snapshots/all"), &other.data().join("snapshots/all"));
    nodetool(&node, &["restore", "-t", "all"]);
    let mut client = connect(&node);
    assert_eq!(shown(&mut client), before);
    older_data_stays_deleted(&mut client);
    // A table that is another one is not replaced.
    cql(&mut client, "DROP TABLE k.rows");
    cql(&mut client, "CREATE TABLE k.rows (p int, c int, v int, PRIMARY KEY (p, c))");
    let (code, _, error) = node.nodetool(&["restore", "-t", "all", "k", "rows"]);
    assert!(
        code == 2 && error.starts_with("error: k.rows is not the table that the snapshot was taken of"),
        "{error}"
    );
    node.terminate();
}

#[test]
fn snapshots_are_named_listed_and_removed_as_cassandra_does() {
    let scratch = Scratch::new("snapshots-named");
    let node = Node::start(run(&scratch.data()), &scratch);
    let mut client = connect(&node);
    assert_eq!(nodetool(&node, &["listsnapshots"]), "Snapshot Details: \nThere are no snapshots\n");
    make(&mut client);
    let out = nodetool(&node, &["snapshot", "-t", "a", "-cf", "rows", "--ttl", "2h", "-sf", "k"]);
    assert!(out.starts_with("Requested creating snapshot(s) for [k] with snapshot name [a] and options {ttl=2h, skipFlush=true}\n"), "{out}");
    let out = nodetool(&node, &["snapshot", "-t", "b", "-kt", "k.rows,k.counts"]);
    assert!(
        out.starts_with(
            "Requested creating snapshot(s) for [k.rows,k.counts] with snapshot name [b] and options"
        ),
        "{out}"
    );
    nodetool(&node, &["snapshot", "-t", "all"]);
    let out = nodetool(&node, &["listsnapshots"]);
    let line = out.lines().find(|line| line.starts_with("a ")).expect("listed");
    assert!(line.contains(" k ") && line.contains(" rows "), "{line}");
    assert_eq!(line.matches('Z').count(), 2, "created and expires: {line}");
    let heading = out.lines().nth(1).expect("a heading");
    let words: Vec<&str> = heading.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert!(heading.starts_with("Snapshot name") && heading.contains("Keyspace name"), "{words:?}");
    assert!(out.contains("\n\nTotal TrueDiskSpaceUsed: "), "{out}");
    let all = listed(&node);
    assert_eq!(all.iter().filter(|(tag, _)| tag == "b").count(), 2);
    assert!(all.iter().filter(|(tag, _)| tag == "all").count() > 40, "system tables too");
    assert!(!nodetool(&node, &["listsnapshots", "-nt"]).contains("\na "));
    assert!(nodetool(&node, &["listsnapshots", "-e"]).contains("Ephemeral"));
    let rows = cql(&mut client, "SELECT name FROM system_views.snapshots WHERE name = 'b'");
    assert_eq!(rows.len(), 2);
    let sizes =
        cql(&mut client, "SELECT size_on_disk, true_size FROM system_views.snapshots WHERE name = 'b'");
    // Files that the tables have, too, take no space of the snapshot's own.
    assert!(
        sizes.iter().all(|row| row[1] > Some([0; 8][..].to_vec().into()) && row[1] < row[0]),
        "{sizes:?}"
    );

    what_cannot_be_is_refused(&node);
    nodetool(&node, &["clearsnapshot", "--all", "--older-than", "1h"]);
    assert_eq!(listed(&node).len(), all.len());
    nodetool(&node, &["clearsnapshot", "-t", "a"]);
    let without: Vec<_> = all.iter().filter(|(tag, _)| tag != "a").cloned().collect();
    assert_eq!((listed(&node), all.len()), (without.clone(), without.len() + 1));
    nodetool(&node, &["clearsnapshot", "--all", "k"]);
    let left = listed(&node);
    assert!(
        left.len() > 40 && left.iter().all(|(tag, _)| tag == "all"),
        "those of other keyspaces: {left:?}"
    );
    nodetool(&node, &["clearsnapshot", "--all"]);
    assert_eq!(listed(&node).len(), 0);
    assert_eq!(fs::read_dir(scratch.data().join("snapshots")).expect("there").count(), 0);
    node.terminate();
}

/// Where there are the snapshots `a`, `b` and `all`.
fn what_cannot_be_is_refused(node: &Node) {
    let refused = |arguments: &[&str], text: &str| {
        let (code, out, error) = node.nodetool(arguments);
        assert!(code > 0 && format!("{out}{error}").contains(text), "{arguments:?}: {code} {out}{error}");
    };
    refused(&["snapshot", "-t", "b", "k"], "error: Snapshot b already exists.");
    refused(&["snapshot", "-t", "x/y", "k"], "error: Snapshot name cannot contain /");
    refused(&["snapshot", "-t", "..", "k"], "error: Snapshot name cannot begin with a dot");
    refused(&["snapshot", "-t", "", "k"], "error: You must supply a snapshot name.");
    refused(&["snapshot", "-t", "c", "nope"], "nodetool: Keyspace nope does not exist");
    refused(
        &["snapshot", "-t", "c", "system_views"],
        "nodetool: Cannot perform any operations against virtual keyspace system_views",
    );
    refused(&["snapshot", "-t", "c", "-cf", "nope", "k"], "error: Unknown keyspace/cf pair (k.nope)");
    refused(
        &["snapshot", "-t", "c", "--ttl", "59s", "k"],
        "nodetool: ttl for snapshot must be at least 60 seconds",
    );
    refused(&["clearsnapshot"], "nodetool: Specify snapshot name or --all");
    refused(&["clearsnapshot", "-t", "a", "--all"], "nodetool: Specify only one of snapshot name or --all");
    refused(
        &["clearsnapshot", "--all", "--older-than-timestamp", "x"],
        "nodetool: Parameter --older-than-timestamp has to be",
    );
    refused(&["restore", "-t", "nope"], "error: Snapshot nope does not exist.");
    refused(&["restore", "-t", "all", "system"], "error: system cannot be restored");
}

/// Bytes that files beneath a directory take, each counted once however often it is linked.
fn disk_bytes(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut seen = std::collections::BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                open.push(entry.path());
            } else {
                seen.insert(data.ino(), data.len());
            }
        }
    }
    seen.values().sum()
}

#[test]
fn snapshots_of_truncations_expire_when_that_is_configured() {
    let scratch = Scratch::new("snapshots-expire");
    let start = || {
        let mut command = run(&scratch.data());
        command.arg("--config").arg(scratch.config("auto_snapshot_ttl: 1s\n"));
        Node::start(command, &scratch)
    };
    let mut node = start();
    let mut client = connect(&node);
    make(&mut client);
    nodetool(&node, &["snapshot", "-t", "stays", "k"]);
    let kept = listed(&node);
    cql(&mut client, "TRUNCATE k.rows");
    let expires = cql(&mut client, "SELECT expires_at FROM system_views.snapshots");
    assert_eq!(expires.iter().filter(|row| row[0].is_some()).count(), 1, "{expires:?}");
    // They are removed once a minute, and at every start.
    for _ in 0..60 {
        node.terminate();
        node = start();
        if listed(&node) == kept {
            break;
        }
    }
    assert_eq!(listed(&node), kept);
    node.terminate();
}

#[test]
fn without_auto_snapshot_the_space_is_free_at_once() {
    for is_kept in [true, false] {
        let scratch = Scratch::new("snapshots-space");
        let config = scratch.config(&format!("auto_snapshot: {is_kept}\nmemory: 256MiB\n"));
        let mut command = run(&scratch.data());
        command.arg("--config").arg(config);
        let node = Node::start(command, &scratch);
        let mut client = connect(&node);
        cql(
            &mut client,
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        for table in ["t", "d"] {
            cql(
                &mut client,
                &format!(
                    "CREATE TABLE k.{table} (p int PRIMARY KEY, v blob) WITH compression = {{'enabled': false}}"
                ),
            );
            for p in 0..40 {
                cql(
                    &mut client,
                    &format!("INSERT INTO k.{table} (p, v) VALUES ({p}, 0x{})", "ab".repeat(50_000)),
                );
            }
        }
        nodetool(&node, &["flush"]);
        let usage =
            "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = 'k' AND table_name = 't'";
        let mebibytes = cql(&mut client, usage)[0][0].clone().expect("a number");
        // Two megabytes, and a few of RocksDB's own.
        assert_eq!(mebibytes[..], 2_i64.to_be_bytes());
        let db = scratch.data().join("db");
        let sst_bytes = || -> u64 {
            let files = fs::read_dir(&db).expect("there").flatten();
            files
                .filter(|file| file.path().extension().is_some_and(|end| end == "sst"))
                .filter_map(|file| Some(file.metadata().ok()?.len()))
                .sum()
        };
        assert!(sst_bytes() > 4_000_000);
        cql(&mut client, "TRUNCATE k.t");
        cql(&mut client, "DROP TABLE k.d");
        // The engine removes files on a thread of its own.
        let mut patience = 1_000;
        while sst_bytes() > 1_000_000 && patience > 0 {
            patience -= 1;
            sleep(Duration::from_millis(10));
        }
        assert!(sst_bytes() < 1_000_000, "the tables' files are gone from the engine");
        let kept = disk_bytes(&scratch.data().join("snapshots"));
        assert_eq!(listed(&node).len(), if is_kept { 2 } else { 0 });
        assert!(if is_kept { kept > 4_000_000 } else { kept == 0 }, "{kept} bytes in snapshots");
        nodetool(&node, &["clearsnapshot", "--all"]);
        assert_eq!(disk_bytes(&scratch.data().join("snapshots")), 0);
        node.terminate();
    }
}

/// Truncations, drops, snapshots and restores are killed at any moment: a table is as before or as after, each snapshot
/// that is listed can be restored, and nothing that was dropped comes back by itself.
#[test]
fn kills_leave_all_or_nothing() {
    let mut random = Random::new(seed());
    let scratch = Scratch::new("snapshots-killed");
    let mut node = Node::start(run(&scratch.data()), &scratch);
    make(&mut connect(&node));
    nodetool(&node, &["snapshot", "-t", "base", "k"]);
    let before = shown(&mut connect(&node));
    for round in 0..setting("BASALT_CRASH_ROUNDS", 5) {
        let mut client = connect(&node);
        nodetool(&node, &["restore", "-t", "base"]);
        assert_eq!(shown(&mut client), before, "round {round}");
        let (what, tag) = (round % 4, format!("killed-{round}"));
        let after = Duration::from_micros(random.between(0, 40_000));
        std::thread::scope(|scope| {
            let node = &node;
            scope.spawn(move || match what {
                0 => drop(client.query("TRUNCATE k.rows")),
                1 => drop(client.query("DROP TABLE k.rows")),
                2 => drop(node.nodetool(&["snapshot", "-t", &tag, "k"])),
                _ => {
                    drop(client.query("TRUNCATE k.rows"));
                    drop(node.nodetool(&["restore", "-t", "base", "k", "rows"]));
                }
            });
            sleep(after);
            node.signal("-KILL");
        });
        drop(node);
        node = Node::start(run(&scratch.data()), &scratch);
        let mut client = connect(&node);
        let is_there = !cql(
            &mut client,
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k' AND table_name = 'rows'",
        )
        .is_empty();
        assert!(is_there || what == 1, "round {round}");
        if is_there {
            let rows = cql(&mut client, TABLES[0].1);
            assert!(
                rows == before[0] || (rows.is_empty() && what != 1 && what != 2),
                "round {round}: {rows:?}"
            );
        }
        for (tag, table) in listed(&node).into_iter().filter(|(_, table)| table == "rows") {
            nodetool(&node, &["restore", "-t", &tag, "k", &table]);
            assert_eq!(cql(&mut client, TABLES[0].1), before[0], "round {round}: {tag}");
        }
        for hidden in [".making", ".clearing"] {
            assert!(!scratch.data().join("snapshots").join(hidden).exists());
        }
    }
    node.terminate();
}
