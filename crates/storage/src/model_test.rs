//! Random mutations with random timestamps over the engine in memory, against a model that keeps
//! every mutation and works out each read from scratch.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyBound, KeyRange, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, DataType, DecoratedKey, Deletion, Liveness, Mutation,
    PartitionUpdate, ReadCommand, Row, Slice, Table,
};
use bytes::Bytes;

use crate::engine::mem::MemEngine;
use crate::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use crate::read::{ReadOptions, read};
use crate::testing::{column, table};
use crate::write::Writer;

const NOW_S: i64 = 1_000;
const S: ColumnId = ColumnId(20);
const V: ColumnId = ColumnId(10);
const M: ColumnId = ColumnId(11);
const W: ColumnId = ColumnId(12);

/// Without the map every row is one entry, and reads by name look entries up.
fn test_table(has_map: bool) -> Arc<Table> {
    let mut down = column("c2", DataType::Text, ColumnKind::Clustering, 1, 3);
    down.order = ClusteringOrder::Desc;
    let map = DataType::Map { key: DataType::Text.into(), value: DataType::Int.into(), frozen: false };
    let mut columns = vec![
        column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1),
        column("c1", DataType::Int, ColumnKind::Clustering, 0, 2),
        down,
        column("s", DataType::Text, ColumnKind::Static, 0, S.0),
        column("m", map, ColumnKind::Regular, 0, M.0),
        column("v", DataType::Text, ColumnKind::Regular, 0, V.0),
        column("w", DataType::Int, ColumnKind::Regular, 0, W.0),
    ];
    columns.retain(|column| has_map || column.id != M);
    Arc::new(table(columns))
}

/// Numbers that look random and are the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn chance(&mut self, in_ten: u64) -> bool {
        self.below(10) < in_ten
    }

    fn int(&mut self) -> Bytes {
        Bytes::copy_from_slice(&(self.below(4) as i32 - 1).to_be_bytes())
    }

    fn text(&mut self) -> Bytes {
        Bytes::from_static([&b""[..], b"a", b"a\0", b"b"][self.below(4) as usize])
    }

    fn timestamp(&mut self) -> i64 {
        self.below(12) as i64
    }

    fn deletion(&mut self) -> Deletion {
        Deletion { timestamp: self.timestamp(), local_time_s: 990 + self.below(5) as i64 }
    }

    fn clustering(&mut self) -> Clustering {
        Clustering::from_values([self.int(), self.text()])
    }

    fn bound(&mut self, is_start: bool) -> Bound {
        let mut values = vec![self.int(), self.text()];
        values.truncate(self.below(3) as usize);
        let kind = match (is_start, self.chance(5)) {
            (true, true) => BoundKind::InclusiveStart,
            (true, false) => BoundKind::ExclusiveStart,
            (false, true) => BoundKind::InclusiveEnd,
            (false, false) => BoundKind::ExclusiveEnd,
        };
        Bound { kind, prefix: Clustering::from_values(values) }
    }

    fn slice(&mut self) -> Slice {
        Slice { start: self.bound(true), end: self.bound(false) }
    }

    fn cell(&mut self, column: ColumnId, path: Option<Bytes>) -> Cell {
        let timestamp = self.timestamp();
        let value = if column == V || column == S { self.text() } else { self.int() };
        match self.below(6) {
            0 => Cell::tombstone(column, path, timestamp, 990 + self.below(5) as i64),
            1 => {
                let now_s = 980 + self.below(20) as i64;
                Cell::expiring(column, path, timestamp, 10 + self.below(3) as i32, now_s, value)
            }
            _ => Cell::live(column, path, timestamp, value),
        }
    }

    fn row(&mut self) -> Row {
        let mut row = Row::new(self.clustering());
        if self.chance(5) {
            row.liveness = Liveness::at(self.timestamp());
            if self.chance(3) {
                row.liveness.ttl_s = 10;
                row.liveness.expires_at_s = 995 + self.below(10) as i64;
            }
        }
        if self.chance(2) {
            row.deletion = self.deletion();
        }
        if self.chance(2) {
            row.complex_deletions.push((M, self.deletion()));
        }
        if self.chance(4) {
            row.cells.push(self.cell(V, None));
        }
        for path in [&b"x"[..], b"y"] {
            if self.chance(3) {
                row.cells.push(self.cell(M, Some(Bytes::from_static(path))));
            }
        }
        if self.chance(4) {
            row.cells.push(self.cell(W, None));
        }
        row
    }

    /// Without range tombstones a partition's rows can be looked up.
    fn update(&mut self, table: &Arc<Table>, has_ranges: bool) -> PartitionUpdate {
        let key = DecoratedKey::new(Bytes::from(vec![self.below(3) as u8; 1 + self.below(2) as usize]));
        let mut update = PartitionUpdate::new(table.clone(), key);
        match self.below(10) {
            0 => update.deletion = self.deletion(),
            1 | 2 if has_ranges => {
                for _ in 0..1 + self.below(2) {
                    let tombstone = RangeTombstone { slice: self.slice(), deletion: self.deletion() };
                    update.range_tombstones.push(tombstone);
                }
            }
            3 => {
                let mut row = Row::new(Clustering::empty());
                row.cells.push(self.cell(S, None));
                update.static_row = Some(row);
            }
            _ => {
                let rows =
                    (0..1 + self.below(2)).map(|_| self.row()).map(|row| (row.clustering.clone(), row));
                let rows: Vec<(Clustering, Row)> = rows.collect();
                for (clustering, mut row) in rows {
                    row.cells.retain(|cell| table.column_by_id(cell.column).is_some());
                    row.complex_deletions.retain(|(id, _)| table.column_by_id(*id).is_some());
                    if update.rows.iter().all(|other: &Row| other.clustering != clustering) {
                        update.rows.push(row);
                    }
                }
                update.rows.sort_by(|a, b| table.compare_clusterings(&a.clustering, &b.clustering));
            }
        }
        update
    }
}

/// Which of two cells stays, spelled out as the rules are told.
fn stays<'a>(a: &'a Cell, b: &'a Cell) -> &'a Cell {
    if a.timestamp != b.timestamp {
        return if a.timestamp > b.timestamp { a } else { b };
    }
    let ends = |c: &Cell| c.local_deletion_time_s != i64::MAX;
    if ends(a) != ends(b) {
        return if ends(a) { a } else { b };
    }
    if a.is_tombstone() != b.is_tombstone() {
        return if a.is_tombstone() { a } else { b };
    }
    if a.local_deletion_time_s != b.local_deletion_time_s {
        return if a.local_deletion_time_s > b.local_deletion_time_s { a } else { b };
    }
    if a.ttl_s != b.ttl_s {
        return if a.ttl_s < b.ttl_s { a } else { b };
    }
    if a.value >= b.value { a } else { b }
}

fn covers(table: &Table, slice: &Slice, clustering: &Clustering) -> bool {
    table.compare_bound(&slice.start, clustering) == Ordering::Less
        && table.compare_bound(&slice.end, clustering) == Ordering::Greater
}

/// The live rows of a partition, in order, worked out from all updates it ever got.
fn expected_rows(table: &Table, updates: &[&PartitionUpdate]) -> (Option<Row>, Vec<Row>) {
    let mut clusterings: Vec<&Clustering> =
        updates.iter().flat_map(|u| &u.rows).map(|r| &r.clustering).collect();
    clusterings.sort_by(|a, b| table.compare_clusterings(a, b));
    clusterings.dedup();
    let strongest =
        |deletions: Vec<Deletion>| deletions.into_iter().map(|d| d.timestamp).max().unwrap_or(i64::MIN);
    let of_partition = strongest(updates.iter().map(|u| u.deletion).collect());

    let live = |clustering: &Clustering, versions: Vec<&Row>, covering: i64| {
        let deletion = covering.max(strongest(versions.iter().map(|v| v.deletion).collect()));
        let mut row = Row::new(clustering.clone());
        let mut cells: BTreeMap<(ColumnId, Option<Bytes>), &Cell> = BTreeMap::new();
        for version in &versions {
            let (new, old) = (version.liveness, row.liveness);
            let rank = |l: Liveness| (l.timestamp, l.is_expiring(), l.expires_at_s, -l.ttl_s);
            if rank(new) > rank(old) {
                row.liveness = new;
            }
            for cell in &version.cells {
                let place = (cell.column, cell.path.clone());
                let winner = cells.get(&place).map_or(cell, |other| stays(other, cell));
                cells.insert(place, winner);
            }
        }
        if row.liveness.timestamp <= deletion || !row.liveness.is_live(NOW_S) {
            row.liveness = Liveness::NONE;
        }
        for ((column, _), cell) in cells {
            let complex = versions.iter().flat_map(|v| &v.complex_deletions).filter(|(id, _)| *id == column);
            let deletion = deletion.max(strongest(complex.map(|(_, d)| *d).collect()));
            if cell.timestamp > deletion && cell.is_live(NOW_S) {
                row.cells.push(cell.clone());
            }
        }
        row.is_live(NOW_S).then_some(row)
    };

    let rows = clusterings
        .into_iter()
        .filter_map(|clustering| {
            let tombstones = updates.iter().flat_map(|u| &u.range_tombstones);
            let covering = tombstones.filter(|t| covers(table, &t.slice, clustering)).map(|t| t.deletion);
            let covering = of_partition.max(strongest(covering.collect()));
            let versions = updates.iter().flat_map(|u| &u.rows).filter(|r| r.clustering == *clustering);
            live(clustering, versions.collect(), covering)
        })
        .collect();
    let statics = updates.iter().filter_map(|u| u.static_row.as_ref()).collect();
    (live(&Clustering::empty(), statics, of_partition), rows)
}

struct World {
    table: Arc<Table>,
    engine: Arc<MemEngine>,
    writer: Writer,
    updates: Vec<PartitionUpdate>,
}

impl World {
    fn new(has_map: bool) -> World {
        let engine = Arc::new(MemEngine::new());
        let table = test_table(has_map);
        engine.create_table(table.id).unwrap();
        World { table, writer: Writer::new(engine.clone(), 1 << 20), engine, updates: Vec::new() }
    }

    fn write(&mut self, update: PartitionUpdate) {
        self.updates.push(update.clone());
        let key = update.key.clone();
        let mutations = [Mutation { keyspace: "ks".into(), key, updates: vec![update] }];
        let mut set = WriteSet::new();
        let options = WriteOptions { sync: Sync::None, may_block: true };
        if Writer::reads_before_writing(&mutations) {
            let guards = self.writer.lock_and_encode(&mutations, &mut set).unwrap();
            self.engine.write(&[&set], options).unwrap();
            drop(guards);
        } else {
            self.writer.encode(&mutations, &mut set).unwrap();
            self.engine.write(&[&set], options).unwrap();
        }
    }

    /// What every partition shows, in ring order.
    fn expected(&self) -> Vec<(DecoratedKey, Option<Row>, Vec<Row>)> {
        let mut by_key: BTreeMap<DecoratedKey, Vec<&PartitionUpdate>> = BTreeMap::new();
        for update in &self.updates {
            by_key.entry(update.key.clone()).or_default().push(update);
        }
        let partitions = by_key.into_iter().map(|(key, updates)| {
            let (static_row, rows) = expected_rows(&self.table, &updates);
            (key, static_row, rows)
        });
        partitions.filter(|(_, s, rows)| s.is_some() || !rows.is_empty()).collect()
    }

    fn read(&self, target: ReadTarget, limits: DataLimits) -> basalt_model::command::ReadPage {
        let command = ReadCommand {
            table: self.table.clone(),
            now_s: NOW_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits,
            target,
        };
        read(&*self.engine, &command, &ReadOptions::new(ReadTier::All)).unwrap().page
    }
}

#[test]
fn random_histories_read_back_as_the_model_says() {
    for seed in 0..400 {
        let mut numbers = Numbers(seed);
        let mut world = World::new(numbers.chance(6));
        let has_ranges = numbers.chance(7);
        for _ in 0..5 + numbers.below(60) {
            let update = numbers.update(&world.table, has_ranges);
            world.write(update);
        }
        let expected = world.expected();

        // The whole table, then the same in pages.
        let all = || ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() };
        let page = world.read(all(), DataLimits::NONE);
        let found: Vec<_> = page.partitions.into_iter().map(|p| (p.key, p.static_row, p.rows)).collect();
        assert_eq!(found, expected, "seed {seed}");
        assert!(!page.stopped_early, "seed {seed}");
        check_pages(&world, &expected, 1 + numbers.below(4) as u32, seed);

        for (key, static_row, rows) in &expected {
            check_slices(&world, &mut numbers, key, static_row, rows, seed);
        }
    }
}

/// Pages of a table scan, each resumed behind the last row of the one before.
fn check_pages(world: &World, expected: &[(DecoratedKey, Option<Row>, Vec<Row>)], page_rows: u32, seed: u64) {
    let mut start = KeyBound::Unbounded;
    let mut resume_after: Option<Clustering> = None;
    let mut returned = 0;
    let mut found: Vec<(DecoratedKey, Option<Row>, Vec<Row>)> = Vec::new();
    loop {
        let filter = ClusteringFilter { resume_after: resume_after.clone(), ..ClusteringFilter::all() };
        let range = KeyRange { start: start.clone(), end: KeyBound::Unbounded };
        let limits =
            DataLimits { rows: page_rows, returned_of_first_partition: returned, ..DataLimits::NONE };
        let page = world.read(ReadTarget::Range { range, filter }, limits);
        let rows: usize = page.partitions.iter().map(|p| p.rows.len().max(1)).sum();
        assert!(rows <= page_rows as usize, "seed {seed}: {rows} rows in a page of {page_rows}");
        for partition in page.partitions {
            let count = partition.rows.len().max(1) as u32;
            let last = partition.rows.last().map(|row| row.clustering.clone());
            match found.last_mut() {
                Some((key, _, rows)) if *key == partition.key => {
                    returned += count;
                    rows.extend(partition.rows);
                }
                _ => {
                    returned = count;
                    found.push((partition.key.clone(), partition.static_row, partition.rows));
                }
            }
            let is_static_only = last.is_none();
            start = KeyBound::Key { key: partition.key, inclusive: !is_static_only };
            resume_after = last;
        }
        if !page.stopped_early {
            break;
        }
    }
    assert_eq!(found, expected, "seed {seed}, pages of {page_rows}");
}

fn check_slices(
    world: &World,
    numbers: &mut Numbers,
    key: &DecoratedKey,
    static_row: &Option<Row>,
    rows: &[Row],
    seed: u64,
) {
    let table = &world.table;
    for round in 0..6 {
        let slice = numbers.slice();
        let names = {
            let mut names = vec![numbers.clustering(), numbers.clustering()];
            names.sort_by(|a, b| table.compare_clusterings(a, b));
            names.dedup();
            names
        };
        let by_name = numbers.chance(3);
        let reversed = numbers.chance(5);
        let limit = if numbers.chance(5) { 1 + numbers.below(3) as u32 } else { u32::MAX };
        let resume_after = numbers.chance(3).then(|| numbers.clustering());

        let mut expected: Vec<Row> = rows
            .iter()
            .filter(|row| match by_name {
                true => names.contains(&row.clustering),
                false => covers(table, &slice, &row.clustering),
            })
            .filter(|row| {
                resume_after.as_ref().is_none_or(|last| {
                    let order = table.compare_clusterings(&row.clustering, last);
                    if reversed { order.is_lt() } else { order.is_gt() }
                })
            })
            .cloned()
            .collect();
        if reversed {
            expected.reverse();
        }
        expected.truncate(limit as usize);

        let selection = if by_name { RowSelection::Names(names) } else { RowSelection::Slices(vec![slice]) };
        let filter = ClusteringFilter { rows: selection, reversed, resume_after };
        let shows_static = filter.rows_are_all();
        let target = ReadTarget::Partition { key: key.clone(), filter };
        let page = world.read(target.clone(), DataLimits { rows: limit, ..DataLimits::NONE });
        let context = format!("seed {seed}, round {round}, {target:?}");
        match page.partitions.as_slice() {
            [] => assert!(expected.is_empty() && !(shows_static && static_row.is_some()), "{context}"),
            [partition] => {
                assert_eq!(partition.rows, expected, "{context}");
                assert_eq!(&partition.static_row, static_row, "{context}");
            }
            _ => panic!("two partitions: {context}"),
        }
    }
}

trait RowsAreAll {
    fn rows_are_all(&self) -> bool;
}

impl RowsAreAll for ClusteringFilter {
    fn rows_are_all(&self) -> bool {
        matches!(&self.rows, RowSelection::Slices(slices) if slices.as_slice() == [Slice::all()])
    }
}
