//! Inserts and nothing else, for as long as one likes: does the engine stay smooth? One line a second: rows, the largest response time,
//! what RocksDB held back, what waits to be flushed and merged, memory.
//!
//! `cargo run --release -p basalt-rocks --example insert_only -- [NAME=VALUE ...]`:
//! `seconds=60`; `row=apm` (75 bytes) or `1k`; `rate=20000` rows a second by an open loop, where a response time counts from the moment
//! a row was due, or `max` (as many as the engine takes from `in_flight=256` writers who wait for their answers); `memory=805306368`, the
//! engine's number in bytes; `sync=batch` or `periodic`; `reads=0` seconds of reads of any rows afterwards, which fill the cache;
//! `dir=/some/where`. Writes go the node's way: mutation, write set, committer.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock itself")]

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::env::Env;
use basalt_model::schema::{ClusteringOrder, Column, ColumnId, ColumnKind, TableId, TableOptions};
use basalt_model::{
    Cell, Clustering, DataType, DecoratedKey, Liveness, Mutation, PartitionUpdate, ReadCommand, Row, Table,
};
use basalt_rocks::{RocksConfig, RocksEngine};
use basalt_storage::commit::{CommitError, Committer, Submitted, SyncMode};
use basalt_storage::engine::{Debt, Engine, ReadTier, StorageOptions, WriteSet};
use basalt_storage::read::{self, ReadOptions};
use basalt_storage::write::Writer;
use bytes::Bytes;

const NOW_MICROS: i64 = 1_700_000_000_000_000;

/// This machine's clock and threads.
struct Here(Instant);

impl Env for Here {
    fn wall_micros(&self) -> i64 {
        NOW_MICROS
    }

    fn monotonic_nanos(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn random_u64(&self) -> u64 {
        4
    }

    fn spawn_thread(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

/// splitmix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn table(columns: usize) -> Arc<Table> {
    let column = |name: String, kind, id| Column {
        name: name.into(),
        data_type: DataType::Text,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    };
    let mut all = vec![column("key".to_owned(), ColumnKind::PartitionKey, 0)];
    all.extend((1..).take(columns).map(|id| column(format!("c{id}"), ColumnKind::Regular, id)));
    Arc::new(Table {
        id: TableId(uuid::Uuid::from_u128(1)),
        keyspace: "k".into(),
        name: "t".into(),
        columns: all,
        partition_key_count: 1,
        clustering_count: 0,
        static_count: 0,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: vec!["compound".to_owned()],
        compact: None,
        is_virtual: false,
    })
}

fn key(table: &Table, index: u64) -> DecoratedKey {
    DecoratedKey::new(Bytes::from(match table.columns.len() {
        2 => format!("{:020}", mix(index)),
        _ => format!("Host{index:012}/Agent/AvRsT"),
    }))
}

/// Reads any rows of those there are for so many seconds; answers how many.
fn read_any(
    engine: &RocksEngine,
    table: &Arc<Table>,
    rows: u64,
    seconds: u64,
) -> Result<u64, Box<dyn Error>> {
    let start = Instant::now();
    for read in 0.. {
        if start.elapsed().as_secs() >= seconds {
            return Ok(read);
        }
        let rows_of = RowSelection::Names(vec![Clustering::from_values([])]);
        let command = ReadCommand {
            table: Arc::clone(table),
            now_s: NOW_MICROS / 1_000_000,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            layout: None,
            limits: DataLimits { rows: 1, ..DataLimits::NONE },
            target: ReadTarget::Partition {
                key: key(table, mix(read) % rows),
                filter: ClusteringFilter { rows: rows_of, reversed: false, resume_after: None },
            },
        };
        read::read(engine, &command, &ReadOptions::new(ReadTier::All))?;
    }
    Ok(0)
}

/// Five values of ten digits behind a key of 25 bytes, or one value of 1,000 letters.
fn mutation(table: &Arc<Table>, index: u64) -> Mutation {
    let timestamp = NOW_MICROS + i64::try_from(index).unwrap_or(0);
    let mut row = Row::new(Clustering::from_values([]));
    row.liveness = Liveness::at(timestamp);
    let value = |id: u64| match table.columns.len() {
        2 => {
            let words = (0..).map(|word| mix(index.wrapping_mul(64).wrapping_add(word)));
            let letters = words.flat_map(|word| word.to_le_bytes()).map(|byte| b'A' + byte % 64);
            letters.take(1_000).collect::<Vec<u8>>().into()
        }
        _ => Bytes::from(format!("{:010}", mix(index.wrapping_mul(8) + id) % 10_000_000_000)),
    };
    let columns = table.columns.iter().skip(1);
    row.cells = columns.map(|c| Cell::live(c.id, None, timestamp, value(u64::from(c.id.0)))).collect();
    let key = key(table, index);
    let mut update = PartitionUpdate::new(table.clone(), key.clone());
    update.rows.push(row);
    Mutation { keyspace: table.keyspace.clone(), key, updates: vec![update] }
}

/// Counts of the second, and of the whole.
#[derive(Default)]
struct Counts {
    done: AtomicU64,
    waiting: AtomicU64,
    worst_nanos: AtomicU64,
    failed: AtomicU64,
}

struct Load {
    start: Instant,
    counts: Arc<Counts>,
    table: Arc<Table>,
    writer: Writer,
    committer: Committer,
    in_flight: u64,
    /// Nanoseconds between rows; `None`: as many as there is room for.
    interval: Option<u64>,
}

impl Load {
    fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sends rows as they are due until the time is over, and waits for their answers.
    fn run(&self, seconds: u64) -> Result<(), Box<dyn Error + Send + std::marker::Sync>> {
        let mut index = 0;
        while self.nanos() < seconds * 1_000_000_000 {
            match self.interval {
                Some(interval) => {
                    let due = index * interval;
                    let now = self.nanos();
                    if due > now {
                        std::thread::sleep(Duration::from_nanos((due - now).min(1_000_000)));
                        continue;
                    }
                    self.send(index, due)?;
                }
                None if self.counts.waiting.load(Ordering::Acquire) >= self.in_flight => {
                    std::thread::sleep(Duration::from_micros(50));
                    continue;
                }
                None => self.send(index, self.nanos())?,
            }
            index += 1;
        }
        while self.counts.waiting.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn send(&self, index: u64, due: u64) -> Result<(), Box<dyn Error + Send + std::marker::Sync>> {
        let mut set = WriteSet::new();
        self.writer.encode(&[mutation(&self.table, index)], &mut set)?;
        self.counts.waiting.fetch_add(1, Ordering::AcqRel);
        let (counts, start) = (Arc::clone(&self.counts), self.start);
        let answered = move |result: Result<(), CommitError>| {
            let now = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            counts.worst_nanos.fetch_max(now.saturating_sub(due), Ordering::Relaxed);
            counts.done.fetch_add(1, Ordering::Relaxed);
            counts.failed.fetch_add(u64::from(result.is_err()), Ordering::Relaxed);
            counts.waiting.fetch_sub(1, Ordering::AcqRel);
        };
        let queued = answered.clone();
        match self.committer.submit(&mut set, false, || Box::new(queued)) {
            Ok(Submitted::Queued) => {}
            Ok(Submitted::Done) => answered(Ok(())),
            Err(error) => answered(Err(error)),
        }
        Ok(())
    }
}

/// Resident bytes of this process, now and at most.
fn resident(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

fn debt_of(engine: &RocksEngine, table: TableId) -> Debt {
    engine.debts().ok().and_then(|debts| debts.get(&table).copied()).unwrap_or_default()
}

/// Prints a line a second until the load has ended. Answers the largest response time of any second, nanoseconds.
fn watch(engine: &RocksEngine, table: TableId, counts: &Counts, load: &JoinHandle<()>) -> u64 {
    println!(
        "  s   rows/s  max-ms waiting brake  stops delays stall-ms  runs pending mem-w mem-MB cache-MB rss-MB disk-MB"
    );
    let (mut before, mut worst) = (0, 0);
    for second in 1.. {
        std::thread::sleep(Duration::from_secs(1));
        let done = counts.done.load(Ordering::Relaxed);
        let nanos = counts.worst_nanos.swap(0, Ordering::Relaxed);
        worst = worst.max(nanos);
        let (metrics, debt) = (engine.metrics(), debt_of(engine, table));
        let files = engine.files_by_level(table).unwrap_or_default();
        println!(
            "{second:>3} {:>8} {:>7.1} {:>7} {:>5.2} {:>6} {:>6} {:>8} {:>2}+{:<2} {:>7} {:>5} {:>6} {:>8} {:>6} {:>7}",
            done - before,
            nanos as f64 / 1e6,
            counts.waiting.load(Ordering::Relaxed),
            metrics.brake as f64 / 1e3,
            debt.stops,
            debt.delays,
            metrics.stalled_ms,
            files.first().copied().unwrap_or(0),
            files.iter().skip(1).filter(|files| **files > 0).count(),
            mib(debt.pending_bytes),
            debt.memtables,
            mib(metrics.memtable_bytes),
            mib(metrics.cache_bytes),
            mib(resident("VmRSS:")),
            mib(metrics.disk_bytes),
        );
        before = done;
        if load.is_finished() {
            break;
        }
    }
    worst
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given: HashMap<&str, &str> = arguments.iter().filter_map(|text| text.split_once('=')).collect();
    let text = |name, default| given.get(name).copied().unwrap_or(default);
    let seconds: u64 = text("seconds", "60").parse()?;
    let interval = match text("rate", "max") {
        "max" => None,
        rate => Some(1_000_000_000 / rate.parse::<u64>()?.max(1)),
    };
    let mode = match text("sync", "batch") {
        "periodic" => SyncMode::Periodic { period_ms: 10_000, lag_block_ms: 15_000 },
        _ => SyncMode::Batch,
    };
    let path = PathBuf::from(text("dir", "/tmp")).join(format!("basalt-insert-{}", std::process::id()));
    let cores = std::thread::available_parallelism()?.get();
    let config = RocksConfig::new(path.clone(), text("memory", "805306368").parse()?, cores);
    let engine = Arc::new(RocksEngine::open(&config)?);
    let table = table(if text("row", "apm") == "1k" { 1 } else { 5 });
    engine.create_table_with(table.id, &StorageOptions::default())?;
    let counts = Arc::new(Counts::default());
    let start = Instant::now();
    let load = Load {
        start,
        counts: Arc::clone(&counts),
        table: Arc::clone(&table),
        writer: Writer::new(engine.clone(), 16 << 20),
        committer: Committer::start(engine.clone(), Arc::new(Here(start)), mode)?,
        in_flight: text("in_flight", "256").parse()?,
        interval,
    };
    let run = move || {
        if let Err(error) = load.run(seconds) {
            eprintln!("the load ended: {error}");
        }
    };
    let running = std::thread::Builder::new().name("load".to_owned()).spawn(run)?;
    let worst = watch(&engine, table.id, &counts, &running);
    running.join().map_err(|_| "the load died")?;
    let (metrics, debt, done) =
        (engine.metrics(), debt_of(&engine, table.id), counts.done.load(Ordering::Relaxed));
    let reads: u64 = text("reads", "0").parse()?;
    if reads > 0 && done > 0 {
        let read = read_any(&engine, &table, done, reads)?;
        let cache = engine.metrics().cache_bytes;
        println!("{read} reads; cache {} MB, resident {} MB", mib(cache), mib(resident("VmRSS:")));
    }
    println!(
        "{done} rows, {} failed; worst second {:.1} ms; RocksDB: {} stops, {} delays, {} ms; resident at most {} MB of {} MB",
        counts.failed.load(Ordering::Relaxed),
        worst as f64 / 1e6,
        debt.stops,
        debt.delays,
        metrics.stalled_ms,
        mib(resident("VmHWM:")),
        mib(config.memory_bytes),
    );
    drop(engine);
    std::fs::remove_dir_all(path)?;
    Ok(())
}
