//! A table's file with a changed bit, and a log cut short, as the whole program meets them: what clients are told, what the
//! log says, what goes on, and what `disk_failure_policy` makes of it.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use basalt_crash_tests::client::{CallError, Client};
use basalt_crash_tests::process::{self, Node, Scratch, copy};
use basalt_model::CqlError;
use basalt_wire::ProtocolVersion;

const ROWS: u32 = 60;

fn start(scratch: &Scratch, yaml: &str) -> Node {
    let mut command = process::run(&scratch.data());
    command.args(["--memory", "64MiB", "--config"]).arg(scratch.config(yaml));
    Node::start(command, scratch)
}

fn files(scratch: &Scratch, end: &str) -> Vec<PathBuf> {
    let listing = fs::read_dir(scratch.data().join("db")).expect("a listing");
    let mut paths: Vec<_> = listing.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == end));
    paths.sort();
    paths
}

/// A directory with the tables `k.bad` and `k.good`, a bit changed in the file of the first; the file's name.
fn damaged(scratch: &Scratch) -> String {
    let node = start(scratch, "");
    let mut client = node.client(ProtocolVersion::V5);
    let mut cql = |text: &str| client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    cql("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    for table in ["bad", "good"] {
        cql(&format!("CREATE TABLE k.{table} (k int PRIMARY KEY, v text)"));
        for key in 0..ROWS {
            cql(&format!("INSERT INTO k.{table} (k, v) VALUES ({key}, 'value {key}')"));
        }
    }
    let before = files(scratch, "sst");
    assert_eq!(node.nodetool(&["flush", "k", "bad"]).0, 0);
    let file = files(scratch, "sst").into_iter().find(|path| !before.contains(path)).expect("a new file");
    node.terminate();
    let mut bytes = fs::read(&file).expect("bytes");
    bytes[100] ^= 1;
    fs::write(&file, bytes).expect("written");
    file.file_name().expect("a name").to_string_lossy().into_owned()
}

fn others_go_on(client: &mut Client) {
    assert_eq!(client.query("SELECT k FROM k.good").expect("read").len(), ROWS as usize);
    client.query("INSERT INTO k.good (k, v) VALUES (1, 'value 1')").expect("written");
    client.query("INSERT INTO k.bad (k, v) VALUES (1000, 'new')").expect("written");
    assert_eq!(client.query("SELECT v FROM k.bad WHERE k = 1000").expect("read").len(), 1);
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "not so: {what}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn damage_in_one_table_is_named_and_judged_by_the_policy() {
    let whole = Scratch::new("damage");
    let file = damaged(&whole);
    for policy in ["ignore", "best_effort", "stop", "stop_paranoid", "die"] {
        let scratch = Scratch::new(&format!("damage-{policy}"));
        copy(&whole.data(), &scratch.data());
        let node = start(&scratch, &format!("disk_failure_policy: {policy}\n"));
        let mut client = node.client(ProtocolVersion::V5);
        others_go_on(&mut client);
        let read = client.query("SELECT * FROM k.bad");
        match policy {
            "die" => {
                assert_eq!(node.ends(), 100, "the exit code of JVMStabilityInspector");
                continue;
            }
            "stop_paranoid" => {
                wait_until("nobody is served", || {
                    Client::connect(node.address, ProtocolVersion::V5).is_err()
                });
                assert!(node.log().contains("Stopping transports as disk_failure_policy is stop_paranoid"));
                assert_eq!(node.nodetool(&["flush", "k", "good"]).0, 0, "the process is there for a look");
                node.terminate();
                continue;
            }
            _ => {}
        }
        let Err(CallError::Refused(error)) = read else { panic!("{policy}: {read:?}") };
        assert!(matches!(*error, CqlError::ReadFailure { .. }), "{policy}: {error}");
        let log = node.log();
        assert!(log.contains("A read of k.bad failed") && log.contains(&file), "{policy}: {log}");
        // A compaction meets it as well, and says so.
        let (code, _, said) = node.nodetool(&["compact", "k", "bad"]);
        assert!(code != 0 && said.contains(&file), "{policy}: {code} {said}");
        wait_until("the table is named", || node.log().contains("table=\"k.bad\""));
        others_go_on(&mut client);
        for table in ["good", "bad"] {
            assert_eq!(node.nodetool(&["flush", "k", table]).0, 0, "{policy}");
        }
        assert_eq!(node.nodetool(&["compact", "k", "good"]).0, 0, "{policy}");
        node.terminate();
    }
}

#[test]
fn what_a_crash_cut_short_is_said_and_nothing_else_is_lost() {
    let scratch = Scratch::new("torn");
    let node = start(&scratch, "");
    let mut client = node.client(ProtocolVersion::V5);
    client
        .query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .expect("made");
    client.query("CREATE TABLE k.t (k int PRIMARY KEY, v text)").expect("made");
    for key in 0..ROWS {
        client.query(&format!("INSERT INTO k.t (k, v) VALUES ({key}, 'value {key}')")).expect("written");
    }
    node.kill();
    let log = files(&scratch, "log").into_iter().rfind(|log| log.metadata().expect("there").len() > 0);
    let log = log.expect("a log");
    let bytes = fs::read(&log).expect("bytes");
    fs::write(&log, &bytes[..bytes.len() - 3]).expect("written");
    let node = start(&scratch, "");
    let said = node.log();
    let name = log.file_name().expect("a name").to_string_lossy().into_owned();
    let line = said.lines().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("not said: {said}"));
    assert!(line.contains("WARN") && line.contains("cut short"), "{line}");
    let found = node.client(ProtocolVersion::V4).query("SELECT k FROM k.t").expect("read").len();
    assert_eq!(found, ROWS as usize - 1, "all but the one whose record is not whole");
    node.kill();
    let node = start(&scratch, "");
    assert!(!node.log().contains("cut short"), "once");
    node.terminate();
}
