//! kill -9 while writers write, again and again: every acknowledged write is there after the restart, no batch is half
//! there, nothing is there that nobody wrote, and the schema is whole. Once per way of syncing the log.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::workload::{Schemer, Writer, check, create_tables};
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;

const WRITERS: usize = 6;
const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5];

#[test]
fn periodic() {
    rounds("periodic", "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n");
}

#[test]
fn batch() {
    rounds("batch", "commitlog_sync: batch\n");
}

#[test]
fn group() {
    rounds("group", "commitlog_sync: group\ncommitlog_sync_group_window: 5ms\n");
}

fn command(scratch: &Scratch, config: &Path) -> Command {
    let mut command = process::run(&scratch.data());
    command.args(["--memory", "256MiB", "--config"]).arg(config);
    command
}

fn rounds(mode: &str, yaml: &str) {
    let scratch = Scratch::new(&format!("kill-{mode}"));
    let config = scratch.config(yaml);
    let mut random = Random::new(seed());
    let mut writers: Vec<Writer> =
        (0..WRITERS).map(|number| Writer::new(&format!("w{number}"), random.fork())).collect();
    let mut schemer = Schemer::new(random.fork());
    let mut node = Node::start(command(&scratch, &config), &scratch);
    let said = std::fs::read_to_string(scratch.join("stdout")).expect("text");
    assert!(said.contains(&format!("commitlog_sync {mode}")), "not the mode that was asked for: {said}");
    create_tables(&mut node.client(ProtocolVersion::V5));
    let (mut doubtful, mut slowest, mut rows) = ((0, 0), Duration::ZERO, 0);
    let start = Instant::now();
    let count = setting("BASALT_CRASH_ROUNDS", 5);
    for round in 0..count {
        let after = Duration::from_millis(random.between(100, 1200));
        write_until_killed(node, &mut writers, (round % 2 == 0).then_some(&mut schemer), after);
        // Recovery itself is interrupted now and then.
        while random.once_in(3) {
            let after = Duration::from_millis(random.between(1, 60));
            process::start_and_kill(command(&scratch, &config), &scratch, after);
        }
        node = Node::start(command(&scratch, &config), &scratch);
        slowest = slowest.max(node.started_in);
        let mut client = node.client(ProtocolVersion::V5);
        let checked = check(&mut client, &mut writers, &mut random);
        schemer.check(&mut client);
        doubtful = (doubtful.0 + checked.doubtful.0, doubtful.1 + checked.doubtful.1);
        rows = checked.rows;
    }
    node.terminate();
    let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    println!(
        "kill -9, {mode}: {count} rounds in {} s, {acknowledged} writes and {} changes of the schema acknowledged, \
         all there ({rows} rows); of requests in doubt {} had been applied and {} had not; slowest start {} ms",
        start.elapsed().as_secs(),
        schemer.acknowledged,
        doubtful.0,
        doubtful.1,
        slowest.as_millis(),
    );
    assert!(acknowledged > count * 20, "too few writes to tell anything");
}

fn write_until_killed(node: Node, writers: &mut [Writer], schemer: Option<&mut Schemer>, after: Duration) {
    let (address, stop) = (node.address, AtomicBool::new(false));
    thread::scope(|scope| {
        for (index, writer) in writers.iter_mut().enumerate() {
            let stop = &stop;
            scope.spawn(move || writer.run(address, VERSIONS[index % VERSIONS.len()], stop));
        }
        if let Some(schemer) = schemer {
            scope.spawn(|| schemer.run(address, ProtocolVersion::V4, &stop));
        }
        thread::sleep(after);
        node.kill();
    });
}
