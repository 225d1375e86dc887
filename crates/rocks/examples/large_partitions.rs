//! What large things cost: a point read beside a million tombstones, pages of ten million rows, a collection
//! that grows one element at a time.
//!
//! `cargo run --release -p basalt-rocks --example large_partitions -- [TOMBSTONES] [ROWS] [ELEMENTS]` (1,000,000,
//! 10,000,000 and 100,000). The numbers of `docs/operations/large-partitions.md` come from here.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock itself")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::{ClusteringOrder, Column, ColumnId, ColumnKind, TableOptions};
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, DataType, DecoratedKey, Deletion, Liveness, Mutation,
    PartitionUpdate, ReadCommand, Row, Slice, Table, TableId,
};
use basalt_rocks::{RocksConfig, RocksEngine};
use basalt_storage::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use basalt_storage::read::{self, ReadOptions};
use basalt_storage::write::{MAX_MUTATION_BYTES_DEFAULT, Writer};
use bytes::Bytes;

type Measured<T> = Result<T, Box<dyn Error>>;

const QUICK: WriteOptions = WriteOptions { sync: Sync::None, may_block: true };
const MEMORY_BYTES: u64 = 512 << 20;
const READS: i32 = 100_000;
const PAGE_ROWS: u32 = 5_000;
const V: ColumnId = ColumnId(2);
const M: ColumnId = ColumnId(3);
const NOW_S: i64 = 1_700_000_000;
/// Of data, and of what deletes none of it.
const WRITTEN: i64 = 2_000_000;
const DELETED: Deletion = Deletion { timestamp: 1_000_000, local_time_s: NOW_S };

/// `(k int, c int, v text, m map<int, int>, PRIMARY KEY (k, c))`
fn table() -> Arc<Table> {
    let map = DataType::Map { key: DataType::Int.into(), value: DataType::Int.into(), frozen: false };
    let column = |name: &str, data_type, kind, id| Column {
        name: name.into(),
        data_type,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id,
        mask: None,
    };
    Arc::new(Table {
        id: TableId(uuid::Uuid::from_u128(1)),
        keyspace: "ks".into(),
        name: "t".into(),
        columns: vec![
            column("k", DataType::Int, ColumnKind::PartitionKey, ColumnId(0)),
            column("c", DataType::Int, ColumnKind::Clustering, ColumnId(1)),
            column("m", map, ColumnKind::Regular, M),
            column("v", DataType::Text, ColumnKind::Regular, V),
        ],
        partition_key_count: 1,
        clustering_count: 1,
        static_count: 0,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: vec!["compound".to_owned()],
        compact: None,
        is_virtual: false,
    })
}

fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

fn clustering(c: i32) -> Clustering {
    Clustering::from_values([int(c)])
}

fn key(partition: i32) -> DecoratedKey {
    DecoratedKey::new(int(partition))
}

fn live_row(c: i32) -> Row {
    let mut row = Row::new(clustering(c));
    row.liveness = Liveness::at(WRITTEN);
    row.cells = vec![Cell::live(V, None, WRITTEN, Bytes::from_static(b"0123456789"))];
    row
}

fn dead_row(c: i32) -> Row {
    let mut row = Row::new(clustering(c));
    row.deletion = DELETED;
    row
}

fn dead_range(c: i32) -> RangeTombstone {
    let at = |kind, c| Bound { kind, prefix: clustering(c) };
    let slice = Slice { start: at(BoundKind::InclusiveStart, c), end: at(BoundKind::ExclusiveEnd, c + 1) };
    RangeTombstone { slice, deletion: DELETED }
}

struct Ground {
    engine: Arc<RocksEngine>,
    writer: Writer,
    table: Arc<Table>,
}

impl Ground {
    fn open(path: &Path) -> Measured<Ground> {
        let engine = Arc::new(RocksEngine::open(&RocksConfig::new(path.to_owned(), MEMORY_BYTES, 2))?);
        let table = table();
        engine.create_table(table.id)?;
        let writer = Writer::new(engine.clone(), MAX_MUTATION_BYTES_DEFAULT);
        Ok(Ground { engine, writer, table })
    }

    /// One write; how many bytes it was.
    fn write(
        &self,
        partition: i32,
        rows: Vec<Row>,
        range_tombstones: Vec<RangeTombstone>,
    ) -> Measured<usize> {
        let mut update = PartitionUpdate::new(self.table.clone(), key(partition));
        update.rows = rows;
        update.range_tombstones = range_tombstones;
        let keyspace = self.table.keyspace.clone();
        let mut set = WriteSet::new();
        let mutation = Mutation { keyspace, key: key(partition), updates: vec![update] };
        // One thread writes: nobody else lays range tombstones.
        self.writer.encode(&[mutation], &mut set)?;
        self.engine.write(&[&set], QUICK)?;
        Ok(set.bytes())
    }

    fn settle(&self) -> Measured<()> {
        self.engine.flush(None)?;
        Ok(self.engine.compact(self.table.id)?)
    }

    fn command(
        &self,
        partition: i32,
        rows: RowSelection,
        filter: ClusteringFilter,
        limit: u32,
    ) -> ReadCommand {
        ReadCommand {
            table: self.table.clone(),
            now_s: NOW_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            layout: None,
            limits: DataLimits { rows: limit, ..DataLimits::NONE },
            target: ReadTarget::Partition {
                key: key(partition),
                filter: ClusteringFilter { rows, ..filter },
            },
        }
    }

    /// Nanoseconds of a read of one row: the median, and what one in a hundred exceeds.
    fn point_reads(&self, partition: i32, c: i32) -> Measured<(u128, u128)> {
        let names = RowSelection::Names(vec![clustering(c)]);
        let command = self.command(partition, names, ClusteringFilter::all(), 1);
        let mut times = Vec::new();
        for _ in 0..READS {
            let started = Instant::now();
            let outcome = read::read(&*self.engine, &command, &ReadOptions::new(ReadTier::All))?;
            times.push(started.elapsed().as_nanos());
            assert_eq!(outcome.live_rows, 1, "the row is there");
        }
        times.sort_unstable();
        Ok((times[times.len() / 2], times[times.len() * 99 / 100]))
    }
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

fn tombstones(ground: &Ground, count: i32) -> Measured<()> {
    let middle = count / 2;
    let (empty, ranges, rows) = (1, 2, 3);
    let started = Instant::now();
    for c in 0..count {
        ground.write(ranges, Vec::new(), vec![dead_range(c)])?;
    }
    println!("{count} range tombstones, one a write: {:.1?}", started.elapsed());
    for c in 0..count {
        ground.write(rows, vec![dead_row(c)], Vec::new())?;
    }
    for partition in [empty, ranges, rows] {
        ground.write(partition, vec![live_row(middle)], Vec::new())?;
    }
    for state in ["as written", "compacted"] {
        let (base, base_99) = ground.point_reads(empty, middle)?;
        println!("point read {state}: alone in its partition {base} ns (p99 {base_99})");
        for (what, partition) in [("range", ranges), ("row", rows)] {
            let (median, p99) = ground.point_reads(partition, middle)?;
            let ratio = median as f64 / base as f64;
            println!("  beside {count} {what} tombstones {median} ns (p99 {p99}), {ratio:.2} of that");
        }
        ground.settle()?;
    }
    Ok(())
}

fn pages(ground: &Ground, count: i32) -> Measured<()> {
    let started = Instant::now();
    for first in (0..count).step_by(100) {
        let rows = (first..count.min(first + 100)).map(live_row).collect();
        ground.write(4, rows, Vec::new())?;
    }
    println!(
        "{count} rows of one partition written: {:.1?}, {} MB resident",
        started.elapsed(),
        resident_mb()
    );
    for reversed in [false, true] {
        let (started, mut resume_after, mut seen, mut resident, mut longest) =
            (Instant::now(), None, 0, resident_mb(), 0);
        loop {
            let filter = ClusteringFilter { reversed, resume_after, ..ClusteringFilter::all() };
            let rows = filter.rows.clone();
            let command = ground.command(4, rows, filter, PAGE_ROWS);
            let asked = Instant::now();
            let outcome = read::read(&*ground.engine, &command, &ReadOptions::new(ReadTier::All))?;
            longest = longest.max(asked.elapsed().as_micros());
            let rows = outcome.page.partitions.first().map_or(&[][..], |partition| &partition.rows);
            seen += rows.len();
            resident = resident.max(resident_mb());
            let Some(last) = rows.last() else { break };
            resume_after = Some(last.clustering.clone());
        }
        let way = if reversed { "backwards" } else { "forwards" };
        println!(
            "  paged {way} by {PAGE_ROWS}: {seen} rows in {:.1?}, longest page {longest} µs, at most {resident} MB resident",
            started.elapsed()
        );
    }
    Ok(())
}

fn collection(ground: &Ground, count: i32) -> Measured<()> {
    let (started, mut bytes, mut last) = (Instant::now(), 0, 0);
    for element in 0..count {
        let mut row = Row::new(clustering(0));
        row.cells = vec![Cell::live(M, Some(int(element)), WRITTEN + i64::from(element), int(element))];
        last = ground.write(5, vec![row], Vec::new())?;
        bytes += last;
    }
    println!(
        "a map of {count} elements, one a write: {:.1?}, {} bytes each, the last one {last}",
        started.elapsed(),
        bytes / usize::try_from(count.max(1))?
    );
    ground.settle()?;
    let names = RowSelection::Names(vec![clustering(0)]);
    let command = ground.command(5, names, ClusteringFilter::all(), 1);
    let started = Instant::now();
    let outcome = read::read(&*ground.engine, &command, &ReadOptions::new(ReadTier::All))?;
    let cells = outcome
        .page
        .partitions
        .first()
        .and_then(|partition| partition.rows.first())
        .map(|row| row.cells.len());
    println!("  read whole: {} cells in {:.1?}", cells.unwrap_or(0), started.elapsed());
    Ok(())
}

fn main() -> Measured<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<i32>());
    let (deletions, rows, elements) = (number(1_000_000)?, number(10_000_000)?, number(100_000)?);
    let path = std::env::temp_dir().join(format!("basalt-large-partitions-{}", std::process::id()));
    let ground = Ground::open(&path)?;
    let measured = tombstones(&ground, deletions)
        .and_then(|()| collection(&ground, elements))
        .and_then(|()| pages(&ground, rows));
    drop(ground);
    std::fs::remove_dir_all(&path)?;
    measured
}
