//! A storm of random and mutated frames over many connections, beside one honest connection that reads and writes:
//! nothing panics, nothing hangs, memory stays bounded, and the honest connection has every answer.
#![allow(clippy::disallowed_methods, reason = "what is judged from outside has the real clock")]

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use basalt_crash_tests::client::values::{as_int, int};
use basalt_crash_tests::client::{CallError, Client};
use basalt_crash_tests::process::{self, Node, Scratch};
use basalt_crash_tests::random::Random;
use basalt_crash_tests::storm::{Assailant, Corpus, Tally, create_tables};
use basalt_crash_tests::{seed, setting};
use basalt_wire::ProtocolVersion;
use bytes::Bytes;

const THREADS: usize = 4;
const CONNECTIONS_PER_THREAD: usize = 16;
/// Connections that stop in the middle of a frame and stay.
const STALLED: usize = 40;
/// What the node may have gained between a tenth of the storm and its end.
const GROWTH_MAX_KIB: u64 = 96 * 1024;

/// What the honest connection has to tell.
#[derive(Default)]
struct Honest {
    operations: u64,
    slowest: Duration,
}

#[test]
fn a_storm_of_frames_harms_nobody() {
    let frames = setting("BASALT_STORM_FRAMES", 50_000);
    let scratch = Scratch::new("storm");
    let mut command = process::run(&scratch.data());
    command.args(["--memory", "256MiB"]);
    let mut node = Node::start(command, &scratch);
    let mut random = Random::new(seed());
    let corpus = prepare(&node);
    let before = node.memory_kib();
    let stalled = stalled_connections(&node);
    let (sent, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    let (mut tally, mut warm) = (Tally::default(), before);
    let honest = thread::scope(|scope| {
        let storms: Vec<_> = (0..THREADS)
            .map(|_| {
                let (random, corpus, sent, address) = (random.fork(), &corpus, &sent, node.address);
                scope.spawn(move || storm(address, random, corpus, sent, frames))
            })
            .collect();
        let honest = scope.spawn(|| be_honest(&node, &stop));
        while sent.load(Ordering::Relaxed) < frames / 10 && !storms.iter().any(|storm| storm.is_finished()) {
            thread::sleep(Duration::from_millis(10));
        }
        warm = node.memory_kib();
        let results: Vec<_> = storms.into_iter().map(|storm| storm.join()).collect();
        stop.store(true, Ordering::Relaxed);
        for result in results {
            tally.add(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        honest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let took = start.elapsed();
    drop(stalled);
    assert!(node.is_running(), "the node ended");
    node.no_panic();
    let after = node.memory_kib();
    println!(
        "storm: {tally:?} in {:.0} s; honest connection: {} operations, all answered, slowest {} ms; memory {} MiB \
         before, {} MiB after a tenth, {} MiB after all, {} MiB at most",
        took.as_secs_f64(),
        honest.operations,
        honest.slowest.as_millis(),
        before.0 / 1024,
        warm.0 / 1024,
        after.0 / 1024,
        after.1 / 1024,
    );
    assert!(
        tally.errors > 0 && tally.answers > 0 && tally.closed > 0,
        "the storm reached nothing: {tally:?}"
    );
    assert!(honest.operations > 100, "the honest connection hardly got a turn");
    assert!(after.0 < warm.0 + GROWTH_MAX_KIB, "memory grows");
    node.client(ProtocolVersion::V4).query("SELECT key FROM system.local").expect("it accepts and answers");
    node.terminate();
}

/// Tables, and prepared statements for EXECUTE to find.
fn prepare(node: &Node) -> Corpus {
    let mut client = node.client(ProtocolVersion::V5);
    create_tables(&mut client);
    for text in [
        "CREATE KEYSPACE honest WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE honest.t (k int PRIMARY KEY, v int)",
    ] {
        client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
    let ids: Vec<Bytes> = [
        "SELECT * FROM storm.t WHERE p = ? AND c = ?",
        "INSERT INTO storm.t (p, c) VALUES (?, ?)",
        "SELECT * FROM storm.t WHERE p > ? AND c < ? ALLOW FILTERING",
    ]
    .into_iter()
    .map(|text| client.prepare(text).expect("prepared").id().clone())
    .collect();
    Corpus::new(&ids)
}

/// Connections that have begun a frame and never end it.
fn stalled_connections(node: &Node) -> Vec<TcpStream> {
    let begun: [&[u8]; 4] = [
        &[0x04],
        &[0x05, 0, 0, 1, 1, 0, 0],
        &[0x03, 0, 0, 1, 7, 0, 0x0F, 0xFF, 0xFF, 1, 2, 3],
        &[0x04, 0, 0, 1, 1, 0, 0, 0, 22, 0, 1],
    ];
    let stalled = |index: usize| {
        let mut stream = TcpStream::connect(node.address).expect("accepted");
        stream.write_all(begun[index % begun.len()]).expect("taken");
        stream
    };
    (0..STALLED).map(stalled).collect()
}

fn storm(
    address: std::net::SocketAddr,
    mut random: Random,
    corpus: &Corpus,
    sent: &AtomicU64,
    frames: u64,
) -> Tally {
    let mut tally = Tally::default();
    let mut connections: Vec<Assailant> =
        (0..CONNECTIONS_PER_THREAD).map(|_| Assailant::connect(address, &mut random, &mut tally)).collect();
    while sent.load(Ordering::Relaxed) < frames {
        let (before, mut is_idle) = (tally.frames, true);
        for connection in &mut connections {
            is_idle &= !connection.step(corpus, &mut random, &mut tally);
        }
        sent.fetch_add(tally.frames - before, Ordering::Relaxed);
        if is_idle {
            thread::sleep(Duration::from_micros(200));
        }
    }
    tally
}

/// Writes and reads back on one connection, and wants every answer.
fn be_honest(node: &Node, stop: &AtomicBool) -> Honest {
    let mut client = node.client(ProtocolVersion::V5);
    let outcome = honest_operations(&mut client, stop);
    outcome.unwrap_or_else(|error| panic!("the honest connection was harmed: {error:?}"))
}

fn honest_operations(client: &mut Client, stop: &AtomicBool) -> Result<Honest, CallError> {
    let write = client.prepare("INSERT INTO honest.t (k, v) VALUES (?, ?)")?;
    let read = client.prepare("SELECT v FROM honest.t WHERE k = ?")?;
    let mut honest = Honest::default();
    while !stop.load(Ordering::Relaxed) {
        let number = honest.operations as i32;
        let start = Instant::now();
        client.execute(&write, vec![int(number % 1000), int(number)])?;
        let rows = client.execute(&read, vec![int(number % 1000)])?;
        let [row] = rows.as_slice() else { panic!("{} rows of one key", rows.len()) };
        assert_eq!(row[0].as_deref().map(as_int), Some(number), "a read after its write");
        honest.slowest = honest.slowest.max(start.elapsed() / 2);
        honest.operations += 2;
        thread::sleep(Duration::from_micros(500));
    }
    Ok(honest)
}
