//! kill -9 while counters are incremented, again and again: every acknowledged increment is there once, at most the
//! ones in doubt are there besides, and no batch is half there. Once per way of syncing the log that differs.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::workload::{Counting, check_counters, create_counter_tables};
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;

const WRITERS: usize = 6;

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

const KEYSPACE: &str =
    "CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

fn rounds(mode: &str, yaml: &str) {
    let scratch = Scratch::new(&format!("kill-counters-{mode}"));
    let config = scratch.config(yaml);
    let mut random = Random::new(seed());
    let mut writers = Counting::some(WRITERS);
    let mut node = Node::start(command(&scratch, &config), &scratch);
    let mut client = node.client(ProtocolVersion::V5);
    client.query(KEYSPACE).expect("made");
    create_counter_tables(&mut client);
    let count = setting("BASALT_CRASH_ROUNDS", 5);
    for _ in 0..count {
        let (address, stop) = (node.address, AtomicBool::new(false));
        thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(|| writer.run(address, ProtocolVersion::V5, &stop));
            }
            thread::sleep(Duration::from_millis(random.between(100, 800)));
            node.kill();
        });
        node = Node::start(command(&scratch, &config), &scratch);
        check_counters(&mut node.client(ProtocolVersion::V5), &mut writers);
    }
    node.terminate();
    let counted: i64 = writers.iter().map(|writer| writer.counted).sum();
    println!("kill -9, counters, {mode}: {count} rounds, {counted} increments, all there once");
    assert!(counted > 20, "too few increments to tell anything");
}
