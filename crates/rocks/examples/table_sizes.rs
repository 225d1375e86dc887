//! What a table's options cost and save, by APM records (a key of 25 bytes, five values of 10 digits): bytes on disk, bytes written, reads.
//!
//! `cargo run --release -p basalt-rocks --example table_sizes -- [RECORDS] [NAME ...]`: how many records (1,000,000), and of the rows
//! below only those with these names. The numbers of `docs/operations/table-options.md` come from here.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock itself")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::schema::{ClusteringOrder, Column, ColumnId, ColumnKind, TableId, TableOptions};
use basalt_model::{
    Cell, Clustering, DataType, DecoratedKey, Liveness, Mutation, PartitionUpdate, ReadCommand, Row, Table,
};
use basalt_rocks::{RocksConfig, RocksEngine};
use basalt_storage::engine::options::{Codec, Shape};
use basalt_storage::engine::{
    Engine, EngineError, ReadTier, Reads, StorageOptions, Sync, WriteOptions, WriteSet,
};
use basalt_storage::read::{self, ReadOptions};
use basalt_storage::write::Writer;
use bytes::Bytes;
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

const QUICK: WriteOptions = WriteOptions { sync: Sync::None, may_block: true };
const NOW_MICROS: i64 = 1_700_000_000_000_000;
/// Bytes of a record as it comes.
const RAW: u64 = 75;
const READS: u64 = 100_000;
/// Small, so that reads come to files, and memtables are flushed often enough to be merged.
const MEMORY: u64 = 128 << 20;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// `(metric text PRIMARY KEY, value text, min text, max text, time text, duration text)`.
fn table() -> Arc<Table> {
    let column = |name: &str, kind, id| Column {
        name: name.into(),
        data_type: DataType::Text,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    };
    let mut columns = vec![column("metric", ColumnKind::PartitionKey, 0)];
    let names = ["duration", "max", "min", "time", "value"];
    columns.extend(names.iter().zip(1..).map(|(name, id)| column(name, ColumnKind::Regular, id)));
    Arc::new(Table {
        id: TableId(uuid::Uuid::from_u128(1)),
        keyspace: "apm".into(),
        name: "measurements".into(),
        columns,
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

fn key(index: u64) -> DecoratedKey {
    const METRICS: [&str; 5] = ["AvRsT", "ErPIv", "RsPIv", "CcInv", "StlCt"];
    let (servlet, agent, host) = (index / 5 % 100, index / 500 % 10, index / 5_000);
    let metric = METRICS[(index % 5) as usize];
    DecoratedKey::new(Bytes::from(format!("Host{host:04}/Ag{agent}/Svlt{servlet:02}/{metric}")))
}

fn mutation(table: &Arc<Table>, index: u64, random: &mut Random) -> Mutation {
    let timestamp = NOW_MICROS + i64::try_from(index).unwrap_or(0);
    let mut row = Row::new(Clustering::from_values([]));
    row.liveness = Liveness::at(timestamp);
    let mut digits = || Bytes::from(format!("{:010}", random.next() % 10_000_000_000));
    row.cells = (1..6).map(|id| Cell::live(ColumnId(id), None, timestamp, digits())).collect();
    let key = key(index);
    let mut update = PartitionUpdate::new(table.clone(), key.clone());
    update.rows.push(row);
    Mutation { keyspace: table.keyspace.clone(), key, updates: vec![update] }
}

fn command(table: &Arc<Table>, index: u64) -> ReadCommand {
    let rows = RowSelection::Names(vec![Clustering::from_values([])]);
    ReadCommand {
        table: table.clone(),
        now_s: NOW_MICROS / 1_000_000,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        layout: None,
        limits: DataLimits { rows: 1, ..DataLimits::NONE },
        target: ReadTarget::Partition {
            key: key(index),
            filter: ClusteringFilter { rows, reversed: false, resume_after: None },
        },
    }
}

/// Bytes that this process has handed to the kernel to be written.
fn written() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn variants() -> Vec<(&'static str, StorageOptions)> {
    let with = |change: &dyn Fn(&mut StorageOptions)| {
        let mut options = StorageOptions::default();
        change(&mut options);
        options
    };
    let leveled = Shape::Leveled { file_bytes: 160 << 20, fanout: 10 };
    vec![
        ("lz4", StorageOptions::default()),
        ("lz4-4k", with(&|options| options.chunk_bytes = 4 << 10)),
        ("lz4-64k", with(&|options| options.chunk_bytes = 64 << 10)),
        ("lz4high", with(&|options| options.codec = Codec::Lz4High(9))),
        ("zstd", with(&|options| options.codec = Codec::Zstd(3))),
        ("none", with(&|options| options.codec = Codec::None)),
        ("leveled", with(&|options| options.shape = leveled)),
        ("fp-0.1", with(&|options| options.bloom_filter_fp_chance = 0.1)),
        ("fp-0.001", with(&|options| options.bloom_filter_fp_chance = 0.001)),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let records: u64 = match arguments.peek().and_then(|text| text.parse().ok()) {
        Some(records) => {
            arguments.next();
            records
        }
        None => 1_000_000,
    };
    let wanted: Vec<String> = arguments.collect();
    println!("{records} records of {RAW} bytes; bytes are those of a record");
    println!("name        loaded compacted  log  write-amp  load-s  read-us  absent-us  false-positives");
    for (name, options) in variants() {
        if wanted.is_empty() || wanted.iter().any(|other| other == name) {
            measure(name, &options, records)?;
        }
    }
    Ok(())
}

fn measure(name: &str, options: &StorageOptions, records: u64) -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("basalt-sizes-{}", std::process::id()));
    let engine = Arc::new(RocksEngine::open(&RocksConfig::new(path.clone(), MEMORY, 2))?);
    let table = table();
    engine.create_table_with(table.id, options)?;
    let writer = Writer::new(engine.clone(), 16 << 20);
    let (mut random, mut log) = (Random(2012), 0);
    let (before, started) = (written(), Instant::now());
    for index in 0..records {
        let mut set = WriteSet::new();
        writer.encode(&[mutation(&table, index, &mut random)], &mut set)?;
        // The batch's header, the operation's, and the record's of the log.
        log += set.bytes() as u64 + 12 + 4 + 7;
        engine.write(&[&set], QUICK)?;
    }
    engine.flush(Some(table.id))?;
    engine.wait_for_compactions()?;
    let load_s = started.elapsed().as_secs_f64();
    let files = written() - before - log;
    let loaded = engine.stats(table.id)?.disk_bytes;
    engine.compact(table.id)?;
    let compacted = engine.stats(table.id)?.disk_bytes;

    let mut index = || random.next() % records;
    let read_options = ReadOptions::new(ReadTier::All);
    let started = Instant::now();
    for _ in 0..READS {
        read::read(&*engine, &command(&table, index()), &read_options)?;
    }
    let read_us = started.elapsed().as_micros() as f64 / READS as f64;
    let started = Instant::now();
    for index in 0..READS {
        read::read(&*engine, &command(&table, records * 4 + index), &read_options)?;
    }
    let absent_us = started.elapsed().as_micros() as f64 / READS as f64;
    let positives = false_positives(&engine, table.id, records)?;
    let each = |bytes: u64| bytes as f64 / records as f64;
    println!(
        "{name:<11} {:>6.1} {:>9.1} {:>4.0} {:>10.2} {load_s:>7.1} {read_us:>8.2} {absent_us:>10.2} {:>16.5}",
        each(loaded),
        each(compacted),
        each(log),
        files as f64 / (records * RAW) as f64,
        positives,
    );
    drop(writer);
    drop(engine);
    std::fs::remove_dir_all(path)?;
    Ok(())
}

/// The part of absent keys that the filter takes for present, as RocksDB counts them.
fn false_positives(engine: &RocksEngine, table: TableId, records: u64) -> Result<f64, EngineError> {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    for index in 0..READS {
        let mut stored = Vec::new();
        basalt_storage::keys::append_partition(&key(records * 8 + index), &mut stored);
        engine.get(table, &stored, ReadTier::All)?;
    }
    let positives = context.metric(PerfMetric::BloomSstHitCount);
    set_perf_stats(PerfStatsLevel::Disable);
    Ok(positives as f64 / READS as f64)
}
