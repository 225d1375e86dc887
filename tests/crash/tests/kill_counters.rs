//! kill -9 while counters are incremented, again and again: every acknowledged increment is there once, at most the
//! ones in doubt are there besides, and no batch is half there. Once per way of syncing the log that differs.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use basalt_crash_tests::client::{CallError, Client};
use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;

const WRITERS: usize = 6;

/// What one writer has counted.
#[derive(Default)]
struct Writer {
    /// Acknowledged, or found after a kill.
    counted: i64,
    /// Whether one more was sent and not answered.
    is_in_doubt: bool,
}

#[test]
fn batch() {
    rounds("batch", "commitlog_sync: batch\n");
}

#[test]
fn periodic() {
    rounds("periodic", "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n");
}

/// Every counter is read each time.
#[test]
fn batch_without_cache() {
    rounds("uncached", "commitlog_sync: batch\ncounter_cache_size: 0MiB\n");
}

fn command(scratch: &Scratch, config: &Path) -> Command {
    let mut command = process::run(&scratch.data());
    command.args(["--memory", "256MiB", "--config"]).arg(config);
    command
}

/// A writer's counter, its mirror in another table, and one of all writers: in one batch, or nothing of it.
fn increment(writer: &mut Writer, number: usize, address: SocketAddr) {
    let batch = format!(
        "BEGIN COUNTER BATCH UPDATE crash.own SET n = n + 1 WHERE k = {number}; \
         UPDATE crash.mirror SET n = n - 1 WHERE k = 0 AND c = {number}; \
         UPDATE crash.mirror SET s = s + 1 WHERE k = 0; APPLY BATCH"
    );
    let Ok(mut client) = Client::connect(address, ProtocolVersion::V5) else { return };
    loop {
        match client.query(&batch) {
            Ok(_) => writer.counted += 1,
            Err(CallError::Lost(_)) => {
                writer.is_in_doubt = true;
                return;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn number(client: &mut Client, text: &str) -> i64 {
    let rows = client.query(text).expect("read");
    let cell = rows.first().and_then(|row| row.first().cloned().flatten());
    cell.map_or(0, |cell| i64::from_be_bytes(*cell.first_chunk().expect("8 bytes")))
}

fn check(client: &mut Client, writers: &mut [Writer]) {
    let mut all = 0;
    for (index, writer) in writers.iter_mut().enumerate() {
        let own = number(client, &format!("SELECT n FROM crash.own WHERE k = {index}"));
        let mirror = number(client, &format!("SELECT n FROM crash.mirror WHERE k = 0 AND c = {index}"));
        assert_eq!(own, -mirror, "a batch is half there");
        let expected = writer.counted..=writer.counted + i64::from(writer.is_in_doubt);
        assert!(expected.contains(&own), "{own} is not within {expected:?}");
        *writer = Writer { counted: own, is_in_doubt: false };
        all += own;
    }
    assert_eq!(number(client, "SELECT s FROM crash.mirror WHERE k = 0 LIMIT 1"), all);
}

fn rounds(mode: &str, yaml: &str) {
    let scratch = Scratch::new(&format!("kill-counters-{mode}"));
    let config = scratch.config(yaml);
    let mut random = Random::new(seed());
    let mut writers: Vec<Writer> = (0..WRITERS).map(|_| Writer::default()).collect();
    let mut node = Node::start(command(&scratch, &config), &scratch);
    let mut client = node.client(ProtocolVersion::V5);
    for statement in [
        "CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE crash.own (k int PRIMARY KEY, n counter)",
        "CREATE TABLE crash.mirror (k int, c int, s counter static, n counter, PRIMARY KEY (k, c))",
    ] {
        client.query(statement).expect("made");
    }
    let count = setting("BASALT_CRASH_ROUNDS", 5);
    for _ in 0..count {
        let address = node.address;
        thread::scope(|scope| {
            for (index, writer) in writers.iter_mut().enumerate() {
                scope.spawn(move || increment(writer, index, address));
            }
            thread::sleep(Duration::from_millis(random.between(100, 800)));
            node.kill();
        });
        node = Node::start(command(&scratch, &config), &scratch);
        check(&mut node.client(ProtocolVersion::V5), &mut writers);
    }
    node.terminate();
    let counted: i64 = writers.iter().map(|writer| writer.counted).sum();
    println!("kill -9, counters, {mode}: {count} rounds, {counted} increments, all there once");
    assert!(counted > 20, "too few increments to tell anything");
}
