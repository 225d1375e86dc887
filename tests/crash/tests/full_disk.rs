//! A disk that fills while writers write, on a small file system in memory: writes are refused, reads go on, and when
//! there is space again writes are taken by the same process. Nothing that was acknowledged is lost, after a kill either.
//!
//! The file system is mounted in a mount namespace of the test's own, which takes `unshare` and a kernel that lets a user
//! have one. Where that is not so the test says it and asserts nothing.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use basalt_crash_tests::client::values::text;
use basalt_crash_tests::client::{CallError, Client};
use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::{seed, setting};
use basalt_model::CqlError;
use basalt_wire::{ProtocolVersion, Value};

const MOUNTED: &str = "BASALT_TEST_SMALL_DISK";
const WRITERS: u64 = 3;
const VALUE_BYTES: usize = 8_000;
/// For the disk to be looked at, RocksDB to look for space (every five seconds), and a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs this test again where a small file system is mounted; answers whether that could be done.
fn again_on_a_small_disk(name: &str, scratch: &Scratch) -> bool {
    let disk = scratch.join("disk");
    fs::create_dir_all(&disk).expect("made");
    let mount = "mount -t tmpfs -o size=96m tmpfs \"$0\"";
    let probe = Command::new("unshare").args(["-rm", "bash", "-c", mount]).arg(&disk).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("no file system can be mounted here: not tested");
        return false;
    }
    let script = format!("{mount} && exec \"$1\" --exact {name} --nocapture");
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new("unshare");
    command.args(["-rm", "bash", "-c", &script]).arg(&disk).arg(this).env(MOUNTED, &disk);
    let status = command.status().expect("it runs");
    assert!(status.success(), "{status}");
    true
}

fn command(disk: &Path, words: &Scratch) -> Command {
    let mut command = process::run(&disk.join("data"));
    // A snapshot would keep what TRUNCATE is to free, and needs space itself.
    command.args(["--memory", "64MiB"]).arg("--config").arg(words.config("auto_snapshot: false\n"));
    command
}

/// The bytes of a key's value.
fn value(key: u64) -> Vec<u8> {
    Random::new(key).bytes(VALUE_BYTES)
}

#[derive(Default)]
struct Count {
    early: AtomicU64,
    late: AtomicU64,
    acknowledged: AtomicU64,
}

struct Writer {
    next: u64,
    /// Keys that must be there.
    acknowledged: Vec<u64>,
    /// Keys that may be.
    in_doubt: Vec<u64>,
}

impl Writer {
    fn run(&mut self, address: SocketAddr, count: &Count, stop: &AtomicBool) {
        let mut client = Client::connect(address, ProtocolVersion::V5).expect("a connection");
        let insert = client.prepare("INSERT INTO small.t (k, v) VALUES (?, ?)").expect("prepared");
        while !stop.load(Ordering::Relaxed) {
            let key = self.next;
            self.next += WRITERS;
            let values = vec![text(&key.to_string()), Value::Bytes(value(key).into())];
            match client.execute(&insert, values) {
                Ok(_) => {
                    self.acknowledged.push(key);
                    count.acknowledged.fetch_add(1, Ordering::Relaxed);
                }
                Err(CallError::Refused(error)) => match *error {
                    CqlError::Invalid(text) => {
                        assert!(text.starts_with("Guardrail replica_disk_usage violated"), "{text}");
                        count.early.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(5));
                    }
                    CqlError::WriteFailure { .. } | CqlError::WriteTimeout { .. } => {
                        self.in_doubt.push(key);
                        count.late.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(5));
                    }
                    other => panic!("{other}"),
                },
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not so: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Takes all the space there is, as another process would.
fn fill(path: &Path) {
    let mut file = File::create(path).expect("made");
    for bytes in [1 << 16, 1 << 10] {
        while file.write_all(&vec![0; bytes]).is_ok() {}
    }
}

/// Every acknowledged row is there, and nothing that was not written.
fn check(node: &Node, writers: &[Writer]) {
    let mut client = node.client(ProtocolVersion::V4);
    let mut found = BTreeMap::new();
    for row in client.query("SELECT k, v FROM small.t").expect("read") {
        let key = String::from_utf8(row[0].as_ref().expect("a key").to_vec()).expect("text");
        found.insert(key.parse::<u64>().expect("a number"), row[1].clone().expect("a value"));
    }
    for writer in writers {
        for key in &writer.acknowledged {
            assert!(found.contains_key(key), "lost: {key}");
        }
    }
    for (key, bytes) in &found {
        let is_known = |writer: &Writer| writer.acknowledged.contains(key) || writer.in_doubt.contains(key);
        assert!(writers.iter().any(is_known), "phantom: {key}");
        assert!(*bytes == value(*key), "wrong: {key}");
    }
}

/// Fills and frees the disk under the writers, again and again.
fn rounds(node: &Node, disk: &Path, count: &Count, rounds: u64) {
    let filler = disk.join("filler");
    let mut reader = node.client(ProtocolVersion::V4);
    let refused = || count.early.load(Ordering::Relaxed) + count.late.load(Ordering::Relaxed);
    for _ in 0..rounds {
        let before = count.acknowledged.load(Ordering::Relaxed);
        wait_until("writes are taken", || count.acknowledged.load(Ordering::Relaxed) > before + 50);
        let before = refused();
        fill(&filler);
        wait_until("writes are refused", || refused() > before + 3);
        reader.query("SELECT k FROM small.t LIMIT 10").expect("reads go on");
        fs::remove_file(&filler).expect("removed");
    }
    let before = count.acknowledged.load(Ordering::Relaxed);
    wait_until("writes are taken again", || count.acknowledged.load(Ordering::Relaxed) > before + 50);
}

#[test]
fn a_full_disk_is_survived_without_a_restart() {
    let Some(disk) = std::env::var_os(MOUNTED).map(PathBuf::from) else {
        let scratch = Scratch::new("full-disk");
        again_on_a_small_disk("a_full_disk_is_survived_without_a_restart", &scratch);
        return;
    };
    let words = Scratch::new("full-disk-words");
    let start = Instant::now();
    let node = Node::start(command(&disk, &words), &words);
    let mut client = node.client(ProtocolVersion::V5);
    for statement in [
        "CREATE KEYSPACE small WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE small.t (k text PRIMARY KEY, v blob)",
        "CREATE TABLE small.ballast (k int PRIMARY KEY, v blob)",
    ] {
        client.query(statement).expect("made");
    }
    let writer = |number: u64| Writer { next: number, acknowledged: Vec::new(), in_doubt: Vec::new() };
    let mut writers: Vec<Writer> = (0..WRITERS).map(writer).collect();
    let (count, stop) = (Count::default(), AtomicBool::new(false));
    let fillings = setting("BASALT_FULL_DISK_ROUNDS", 2);
    thread::scope(|scope| {
        for writer in &mut writers {
            scope.spawn(|| writer.run(node.address, &count, &stop));
        }
        rounds(&node, &disk, &count, fillings);
        stop.store(true, Ordering::Relaxed);
    });
    node.no_panic();
    check(&node, &writers);
    node.kill();
    let node = Node::start(command(&disk, &words), &words);
    check(&node, &writers);
    // Without anybody else: refused before the log meets the end, and TRUNCATE helps.
    let late = count.late.load(Ordering::Relaxed);
    let mut client = node.client(ProtocolVersion::V5);
    let insert = client.prepare("INSERT INTO small.ballast (k, v) VALUES (?, ?)").expect("prepared");
    let (mut key, mut random) = (0_u32, Random::new(seed()));
    let mut ballast = || {
        key += 1;
        // Random, so that it does not compress.
        let bytes = random.bytes(100_000);
        let values = vec![Value::Bytes(key.to_be_bytes().to_vec().into()), Value::Bytes(bytes.into())];
        client.execute(&insert, values).map(drop)
    };
    let refusal = loop {
        if let Err(error) = ballast() {
            break error;
        }
    };
    let CallError::Refused(error) = refusal else { panic!("{refusal:?}") };
    assert!(matches!(&*error, CqlError::Invalid(text) if text.contains("disk usage")), "{error}");
    check(&node, &writers);
    // Refused only while RocksDB comes out of a device that was full to the last byte, for up to ten seconds.
    let mut client_of_truncate = node.client(ProtocolVersion::V4);
    wait_until("TRUNCATE is taken", || client_of_truncate.query("TRUNCATE small.ballast").is_ok());
    wait_until("TRUNCATE helps", || ballast().is_ok());
    node.terminate();
    println!(
        "full disk: {fillings} fillings in {} s; {} writes acknowledged, all there; {} refused early, {late} late",
        start.elapsed().as_secs(),
        count.acknowledged.load(Ordering::Relaxed),
        count.early.load(Ordering::Relaxed),
    );
}
