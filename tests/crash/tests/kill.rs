//! kill -9 while writers write, somebody counts, somebody truncates and somebody changes the schema, again and again:
//! every acknowledged write is there after the restart, no batch is half there, nothing is there that nobody wrote,
//! nothing from before a truncation is back, and the schema is whole. Once per way of syncing the log. Memory is the
//! least there may be, and somebody flushes, compacts and purges all the while.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use basalt_crash_tests::client::Client;
use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::workload::{
    Checked, Counting, Schemer, Truncating, Writer, check, check_counters, create_counter_tables,
    create_tables,
};
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;

const WRITERS: usize = 6;
const COUNTING: usize = 2;
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
    command.args(["--memory", "64MiB", "--config"]).arg(config);
    command
}

/// All who work on a node.
struct People {
    writers: Vec<Writer>,
    counting: Vec<Counting>,
    truncating: Truncating,
    schemer: Schemer,
    random: Random,
    /// Flushes, compactions and purges that were done.
    kept: u64,
}

/// What somebody does who keeps house.
const KEEPING: [&[&str]; 5] = [
    &["flush", "crash"],
    &["flush", "crash", "wide"],
    &["compact", "crash"],
    &["garbagecollect", "crash"],
    &["garbagecollect", "-g", "CELL", "crash"],
];

fn keep(random: &mut Random, done: &mut u64, port: &str, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.between(1, 200)));
        let what = random.pick(&KEEPING);
        let (code, out, error) = process::nodetool(port, what);
        // The node may be gone by now.
        assert!(code == 0 || stop.load(Ordering::Relaxed), "{what:?}: {code} {out} {error}");
        *done += u64::from(code == 0);
    }
}

impl People {
    fn new(random: &mut Random) -> People {
        People {
            writers: (0..WRITERS).map(|number| Writer::new(&format!("w{number}"), random.fork())).collect(),
            counting: Counting::some(COUNTING),
            truncating: Truncating::new(random.fork()),
            schemer: Schemer::new(random.fork()),
            random: random.fork(),
            kept: 0,
        }
    }

    fn work_until_killed(&mut self, node: Node, with_schemer: bool, after: Duration) {
        let (address, stop) = (node.address, AtomicBool::new(false));
        let (stop, port) = (&stop, node.admin_port());
        thread::scope(|scope| {
            for (index, writer) in self.writers.iter_mut().enumerate() {
                scope.spawn(move || writer.run(address, VERSIONS[index % VERSIONS.len()], stop));
            }
            for one in &mut self.counting {
                scope.spawn(|| one.run(address, ProtocolVersion::V5, stop));
            }
            scope.spawn(|| self.truncating.run(address, ProtocolVersion::V4, stop));
            if with_schemer {
                scope.spawn(|| self.schemer.run(address, ProtocolVersion::V4, stop));
            }
            let keeper = (&mut self.random, &mut self.kept);
            scope.spawn(move || keep(keeper.0, keeper.1, &port, stop));
            thread::sleep(after);
            stop.store(true, Ordering::Relaxed);
            node.kill();
        });
    }

    fn check(&mut self, client: &mut Client, random: &mut Random) -> Checked {
        let checked = check(client, &mut self.writers, random);
        check_counters(client, &mut self.counting);
        self.truncating.check(client);
        self.schemer.check(client);
        checked
    }
}

fn rounds(mode: &str, yaml: &str) {
    let scratch = Scratch::new(&format!("kill-{mode}"));
    let config = scratch.config(yaml);
    let mut random = Random::new(seed());
    let mut people = People::new(&mut random);
    let mut node = Node::start(command(&scratch, &config), &scratch);
    let said = std::fs::read_to_string(scratch.join("stdout")).expect("text");
    assert!(said.contains(&format!("commitlog_sync {mode}")), "not the mode that was asked for: {said}");
    let mut client = node.client(ProtocolVersion::V5);
    create_tables(&mut client);
    create_counter_tables(&mut client);
    Truncating::create_table(&mut client);
    let (mut doubtful, mut slowest, mut rows) = ((0, 0), Duration::ZERO, 0);
    let start = Instant::now();
    let count = setting("BASALT_CRASH_ROUNDS", 5);
    for round in 0..count {
        let after = Duration::from_millis(random.between(100, 1200));
        people.work_until_killed(node, round % 2 == 0, after);
        // Recovery itself is interrupted now and then.
        while random.once_in(3) {
            let after = Duration::from_millis(random.between(1, 60));
            process::start_and_kill(command(&scratch, &config), &scratch, after);
        }
        node = Node::start(command(&scratch, &config), &scratch);
        slowest = slowest.max(node.started_in);
        let checked = people.check(&mut node.client(ProtocolVersion::V5), &mut random);
        doubtful = (doubtful.0 + checked.doubtful.0, doubtful.1 + checked.doubtful.1);
        rows = checked.rows;
    }
    node.terminate();
    let acknowledged: u64 = people.writers.iter().map(|writer| writer.acknowledged).sum();
    println!(
        "kill -9, {mode}: {count} rounds in {} s; acknowledged were {acknowledged} writes, {} increments, {} changes \
         of the schema, {} rows between {} truncations, beside {} flushes, compactions and purges; all are there ({rows} rows); of writes in doubt {} had been \
         applied and {} had not; slowest start {} ms",
        start.elapsed().as_secs(),
        people.counting.iter().map(|one| one.counted).sum::<i64>(),
        people.schemer.acknowledged,
        people.truncating.inserted,
        people.truncating.acknowledged,
        people.kept,
        doubtful.0,
        doubtful.1,
        slowest.as_millis(),
    );
    assert!(acknowledged > count * 20, "too few writes to tell anything");
}
