//! Random mutations with random timestamps over the engine in memory, against a model that keeps
//! every mutation and works out each read from scratch.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyBound, KeyRange, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::{Clustering, DecoratedKey, Mutation, PartitionUpdate, ReadCommand, Row, Slice, Table};

use crate::checker::{Numbers, Shown, covers, expected, test_table};
use crate::engine::mem::MemEngine;
use crate::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use crate::read::{ReadOptions, read};
use crate::write::Writer;

const NOW_S: i64 = 1_000;

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
        if self.writer.waits(&mutations) {
            let guards = self.writer.lock_and_encode(&mutations, &mut set).unwrap();
            self.engine.write(&[&set], options).unwrap();
            drop(guards);
        } else {
            self.writer.encode(&mutations, &mut set).unwrap();
            self.engine.write(&[&set], options).unwrap();
        }
    }

    fn read(&self, target: ReadTarget, limits: DataLimits) -> basalt_model::command::ReadPage {
        let command = ReadCommand {
            table: self.table.clone(),
            now_s: NOW_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits,
            target,
            layout: None,
        };
        read(&*self.engine, &command, &ReadOptions::new(ReadTier::All)).unwrap().page
    }
}

#[test]
fn random_histories_read_back_as_the_model_says() {
    for seed in 0..400 {
        let mut numbers = Numbers::new(seed);
        let mut world = World::new(numbers.chance(6));
        let has_ranges = numbers.chance(7);
        for _ in 0..5 + numbers.below(60) {
            let update = numbers.update(&world.table, has_ranges);
            world.write(update);
        }
        let expected = expected(&world.table, &world.updates, NOW_S);

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
fn check_pages(world: &World, expected: &[Shown], page_rows: u32, seed: u64) {
    let mut start = KeyBound::Unbounded;
    let mut resume_after: Option<Clustering> = None;
    let mut returned = 0;
    let mut found: Vec<Shown> = Vec::new();
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
