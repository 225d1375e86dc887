//! Inserts over the wire, and nothing else: does a running node stay smooth? One line a second: rows, the largest response time, the
//! node's memory. Needs nothing but the standard library: `rustc -O` makes it too.
//!
//! `cargo run --release -p basalt-node --example inserts_over_wire -- [NAME=VALUE ...]`: `node=127.0.0.1:9042`; `seconds=60`; `row=apm` (75 bytes)
//! or `1k`; `rate=20000` rows a second by an open loop, where a response time counts from the moment a row was due, or `max`;
//! `connections=4`; `in_flight=64` requests of a connection at most; `pid=1234` of the node, whose resident memory is shown then.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock and starts its threads itself")]

use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

const STARTUP: u8 = 1;
const QUERY: u8 = 7;
const PREPARE: u8 = 9;
const EXECUTE: u8 = 10;
const ERROR: u8 = 0;
/// Consistency level ONE.
const ONE: [u8; 2] = [0, 1];
/// Streams of a connection.
const STREAMS: usize = 32_768;

/// splitmix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn frame(stream: usize, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![4, 0, (stream >> 8) as u8, stream as u8, opcode];
    frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
    frame.extend_from_slice(body);
    frame
}

/// The next answer: its stream, opcode and body.
fn answer(from: &mut impl Read) -> Result<(usize, u8, Vec<u8>), Failure> {
    let mut head = [0; 9];
    from.read_exact(&mut head)?;
    let mut body = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
    from.read_exact(&mut body)?;
    if head[4] == ERROR {
        return Err(String::from_utf8_lossy(&body).into());
    }
    Ok((usize::from(head[2]) << 8 | usize::from(head[3]), head[4], body))
}

fn ask(to: &mut TcpStream, opcode: u8, body: &[u8]) -> Result<Vec<u8>, Failure> {
    to.write_all(&frame(0, opcode, body))?;
    Ok(answer(to)?.2)
}

fn long_text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

fn query(to: &mut TcpStream, text: &str) -> Result<(), Failure> {
    let body = [&long_text(text)[..], &ONE, &[0]].concat();
    ask(to, QUERY, &body).map(drop)
}

fn connect(node: &str) -> Result<TcpStream, Failure> {
    let mut stream = TcpStream::connect(node)?;
    stream.set_nodelay(true)?;
    let option = |text: &str| [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat();
    ask(&mut stream, STARTUP, &[&[0, 1][..], &option("CQL_VERSION"), &option("3.0.0")].concat())?;
    Ok(stream)
}

/// Makes the table and prepares the insert; answers its id.
fn prepare(node: &str, columns: usize) -> Result<Vec<u8>, Failure> {
    let mut to = connect(node)?;
    let names: Vec<String> = (1..=columns).map(|number| format!("c{number}")).collect();
    query(
        &mut to,
        "CREATE KEYSPACE IF NOT EXISTS insert_only WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )?;
    let table = format!("insert_only.rows_of_{columns}");
    query(
        &mut to,
        &format!("CREATE TABLE IF NOT EXISTS {table} (key text PRIMARY KEY, {} text)", names.join(" text, ")),
    )?;
    let marks = vec!["?"; columns + 1].join(", ");
    let insert = format!("INSERT INTO {table} (key, {}) VALUES ({marks})", names.join(", "));
    let answer = ask(&mut to, PREPARE, &long_text(&insert))?;
    // Behind the kind of result: the id with its length.
    let length = usize::from(u16::from_be_bytes([answer[4], answer[5]]));
    Ok(answer[6..6 + length].to_vec())
}

/// An EXECUTE with five values of ten digits behind a key of 25 bytes, or one value of 1,000 letters.
fn insert(stream: usize, id: &[u8], columns: usize, index: u64) -> Vec<u8> {
    let mut body =
        [&(id.len() as u16).to_be_bytes(), id, &ONE, &[1], &(columns as u16 + 1).to_be_bytes()].concat();
    if columns == 1 {
        body.extend(long_text(&format!("{:020}", mix(index))));
        body.extend_from_slice(&1_000u32.to_be_bytes());
        let words = (0..125u64).map(|word| mix(index.wrapping_mul(128) + word));
        body.extend(words.flat_map(u64::to_le_bytes).map(|byte| b'A' + byte % 26));
    } else {
        body.extend(long_text(&format!("Host{index:012}/Agnt/AvRT")));
        for column in 0..columns as u64 {
            body.extend(long_text(&format!("{:010}", mix(index.wrapping_mul(8) + column) % 10_000_000_000)));
        }
    }
    frame(stream, EXECUTE, &body)
}

/// What threads share.
struct Load {
    start: Instant,
    seconds: u64,
    /// Nanoseconds between rows of one connection; `None`: as many as there is room for.
    interval: Option<u64>,
    in_flight: u64,
    connections: u64,
    /// Where this run's rows begin: another run writes others.
    first: u64,
    done: AtomicU64,
    worst_nanos: AtomicU64,
    has_ended: AtomicBool,
}

impl Load {
    fn nanos(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Sends one connection's rows, and has another thread take the answers.
    fn run(self: &Arc<Load>, node: &str, id: &[u8], columns: usize, number: u64) -> Result<(), Failure> {
        let mut to = connect(node)?;
        let mut from = std::io::BufReader::with_capacity(1 << 16, to.try_clone()?);
        let due: Arc<Vec<AtomicU64>> = Arc::new((0..STREAMS).map(|_| AtomicU64::new(0)).collect());
        let answered = Arc::new(AtomicU64::new(0));
        let (load, due_of, counted) = (Arc::clone(self), Arc::clone(&due), Arc::clone(&answered));
        let receiver = thread::spawn(move || -> Result<(), Failure> {
            loop {
                let (stream, _, _) = match answer(&mut from) {
                    Err(_) if load.has_ended.load(Ordering::Acquire) => return Ok(()),
                    answer => answer?,
                };
                let waited = load.nanos().saturating_sub(due_of[stream].load(Ordering::Acquire));
                load.worst_nanos.fetch_max(waited, Ordering::Relaxed);
                load.done.fetch_add(1, Ordering::Relaxed);
                counted.fetch_add(1, Ordering::Release);
            }
        });
        let (mut sent, mut bytes) = (0u64, Vec::new());
        while self.nanos() < self.seconds * 1_000_000_000 && !receiver.is_finished() {
            bytes.clear();
            let room = self.in_flight.saturating_sub(sent - answered.load(Ordering::Acquire));
            let now = self.nanos();
            let wanted = self.interval.map_or(room, |interval| (now / interval + 1).saturating_sub(sent));
            for _ in 0..wanted.min(room) {
                let stream = sent as usize % STREAMS;
                due[stream].store(self.interval.map_or(now, |interval| sent * interval), Ordering::Release);
                bytes.extend(insert(stream, id, columns, self.first + sent * self.connections + number));
                sent += 1;
            }
            match bytes.is_empty() {
                true => thread::sleep(Duration::from_micros(100)),
                false => to.write_all(&bytes)?,
            }
        }
        while answered.load(Ordering::Acquire) < sent && !receiver.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        self.has_ended.store(true, Ordering::Release);
        to.shutdown(std::net::Shutdown::Both)?;
        receiver.join().map_err(|_| "the receiver died")?
    }
}

fn resident_mb(pid: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given: HashMap<&str, &str> = arguments.iter().filter_map(|text| text.split_once('=')).collect();
    let text = |name, default| given.get(name).copied().unwrap_or(default);
    let (node, columns) = (text("node", "127.0.0.1:9042"), if text("row", "apm") == "1k" { 1 } else { 5 });
    let connections: u64 = text("connections", "4").parse()?;
    let interval = match text("rate", "max") {
        "max" => None,
        rate => Some(1_000_000_000 * connections / rate.parse::<u64>()?.max(1)),
    };
    let id = prepare(node, columns)?;
    let load = Arc::new(Load {
        start: Instant::now(),
        seconds: text("seconds", "60").parse()?,
        interval,
        in_flight: text("in_flight", "64").parse()?,
        connections,
        first: mix(u64::from(std::process::id())) >> 24,
        done: AtomicU64::new(0),
        worst_nanos: AtomicU64::new(0),
        has_ended: AtomicBool::new(false),
    });
    let senders: Vec<_> = (0..connections)
        .map(|number| {
            let (load, node, id) = (Arc::clone(&load), node.to_owned(), id.clone());
            thread::spawn(move || load.run(&node, &id, columns, number))
        })
        .collect();
    println!("  s   rows/s  max-ms  rss-MB");
    let (mut before, mut worst, mut late) = (0, 0, 0);
    for second in 1.. {
        thread::sleep(Duration::from_secs(1));
        let (done, nanos) = (load.done.load(Ordering::Relaxed), load.worst_nanos.swap(0, Ordering::Relaxed));
        let resident = resident_mb(text("pid", ""));
        println!("{second:>3} {:>8} {:>7.1} {resident:>7}", done - before, nanos as f64 / 1e6);
        (before, worst, late) = (done, worst.max(nanos), late + u64::from(nanos > 100_000_000));
        if senders.iter().all(|sender| sender.is_finished()) {
            break;
        }
    }
    for sender in senders {
        sender.join().map_err(|_| "a sender died")??;
    }
    println!("{before} rows; worst second {:.1} ms; {late} seconds over 100 ms", worst as f64 / 1e6);
    Ok(())
}
