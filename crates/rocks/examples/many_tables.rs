//! What many tables cost: making them, starting again, memory, writing.
//!
//! `cargo run --release -p basalt-rocks --example many_tables -- [TABLES] [OWN]`: how many tables
//! (2000), and how many of them may have a family of their own (the engine's own limit). The
//! numbers of `docs/decisions/0002-column-families.md` come from here.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock itself")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use basalt_model::TableId;
use basalt_rocks::{OWN_FAMILIES_MAX, RocksConfig, RocksEngine};
use basalt_storage::engine::{Engine, ReadTier, Reads, Sync, WriteOptions, WriteSet};

const WRITES: u128 = 200_000;
const QUICK: WriteOptions = WriteOptions { sync: Sync::None, may_block: true };

fn table(number: u128) -> TableId {
    TableId(uuid::Uuid::from_u128(number))
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

fn say(what: &str, started: Instant, each: u128) {
    let took = started.elapsed();
    let one = Duration::from_nanos(u64::try_from(took.as_nanos() / each.max(1)).unwrap_or(u64::MAX));
    println!("{what:<44} {took:>10.1?}  {one:>10.1?} each   {:>5} MB resident", resident_mb());
}

fn open(path: &Path, own: usize) -> Result<RocksEngine, Box<dyn Error>> {
    let config = RocksConfig::new(path.to_owned(), 512 << 20, 2);
    Ok(RocksEngine::open_with_families(&config, own)?)
}

fn write(engine: &RocksEngine, number: u128, key: u128) -> Result<(), Box<dyn Error>> {
    let mut set = WriteSet::new();
    set.put(table(number), &key.to_be_bytes(), &[b'x'; 60]);
    Ok(engine.write(&[&set], QUICK)?)
}

fn measure(path: &Path, tables: u128, own: usize) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let engine = open(path, own)?;
    say("first start", started, 1);

    let step = (tables / 4).max(1);
    for first in (0..tables).step_by(usize::try_from(step)?) {
        let (started, last) = (Instant::now(), (first + step).min(tables));
        for number in first..last {
            engine.create_table(table(number))?;
        }
        say(&format!("make tables {first}..{last}"), started, last - first);
    }

    let started = Instant::now();
    for key in 0..WRITES {
        write(&engine, 0, key)?;
    }
    say("write, one table", started, WRITES);
    let started = Instant::now();
    for key in 0..WRITES {
        write(&engine, key % tables, key)?;
    }
    say("write, all tables in turn", started, WRITES);
    let started = Instant::now();
    for key in 0..WRITES {
        engine.get(table(key % tables), &key.to_be_bytes(), ReadTier::All)?;
    }
    say("read, all tables in turn", started, WRITES);

    let started = Instant::now();
    drop(engine);
    let engine = open(path, own)?;
    say("start after a kill", started, 1);
    let started = Instant::now();
    engine.close()?;
    drop(engine);
    say("drain", started, 1);
    let started = Instant::now();
    let engine = open(path, own)?;
    say("start after a drain", started, 1);

    let started = Instant::now();
    for number in 0..10 {
        engine.truncate_table(table(tables - 1 - number % tables))?;
    }
    say("truncate", started, 10);
    let started = Instant::now();
    for number in 0..10 {
        engine.drop_table(table(tables - 1 - number % tables))?;
    }
    say("drop", started, 10);
    println!("{} files in db/", std::fs::read_dir(path.join("db"))?.count());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let tables = arguments.next().map_or(Ok(2000), |text| text.parse::<u128>())?;
    let own = arguments.next().map_or(Ok(OWN_FAMILIES_MAX), |text| text.parse::<usize>())?;
    let path = std::env::temp_dir().join(format!("basalt-many-tables-{}", std::process::id()));
    println!("{tables} tables, at most {own} with a family of their own, in {}", path.display());
    let measured = measure(&path, tables, own);
    std::fs::remove_dir_all(&path)?;
    measured
}
