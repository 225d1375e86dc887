//! Packed rows are the rows that come otherwise, whatever was written and whatever is asked.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, KeyRange, PartitionRows, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::packed::{Layout, unpack};
use basalt_model::schema::ColumnKind;
use basalt_model::{Cell, ColumnId, Liveness, Mutation, ReadCommand, Row, Table};
use bytes::Bytes;

use crate::checker::{Numbers, test_table};
use crate::engine::mem::MemEngine;
use crate::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use crate::read::{ReadOptions, ReadOutcome, read};
use crate::write::Writer;

const NOW_S: i64 = 992;
const STATIC: ColumnId = ColumnId(20);

/// The checker's table without its static column.
fn plain_table() -> Arc<Table> {
    let mut table = Table::clone(&test_table(false));
    table.columns.retain(|column| column.id != STATIC);
    table.static_count = 0;
    Arc::new(table)
}

fn filled(table: &Arc<Table>, numbers: &mut Numbers, has_ranges: bool) -> Arc<dyn Engine> {
    let engine: Arc<dyn Engine> = Arc::new(MemEngine::new());
    engine.create_table(table.id).unwrap();
    let writer = Writer::new(Arc::clone(&engine), 1 << 20);
    for _ in 0..5 + numbers.below(60) {
        let mut update = numbers.update(table, has_ranges);
        update.static_row = None;
        for row in &mut update.rows {
            if numbers.chance(4) {
                make_plain(row, i64::try_from(numbers.below(12)).unwrap(), numbers.chance(5));
            }
        }
        let mutations = [Mutation { keyspace: "ks".into(), key: update.key.clone(), updates: vec![update] }];
        let mut set = WriteSet::new();
        let guards = writer.lock_and_encode(&mutations, &mut set).unwrap();
        engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }
    engine
}

/// As an INSERT or an UPDATE writes it: everything at one time, and for ever.
fn make_plain(row: &mut Row, timestamp: i64, is_inserted: bool) {
    let clustering = row.clustering.clone();
    let mut cells = std::mem::take(&mut row.cells);
    cells.retain(|cell| !cell.is_tombstone());
    for cell in &mut cells {
        *cell = Cell::live(cell.column, cell.path.take(), timestamp, cell.value.clone());
    }
    let liveness = if is_inserted { Liveness::at(timestamp) } else { Liveness::NONE };
    *row = Row { liveness, cells, ..Row::new(clustering) };
}

/// The values of rows that did not come packed.
fn values(table: &Table, shown: &[usize], partition: &PartitionRows) -> Vec<Option<Bytes>> {
    let of_row = |row: &Row| -> Vec<Option<Bytes>> {
        let value = |index: &usize| {
            let column = &table.columns[*index];
            match column.kind {
                ColumnKind::PartitionKey => Some(partition.key.key.clone()),
                ColumnKind::Clustering => row.clustering.0[usize::from(column.position)].clone(),
                _ => row.cell(column.id).map(|cell| cell.value.clone()),
            }
        };
        shown.iter().map(value).collect()
    };
    partition.rows.iter().flat_map(of_row).collect()
}

fn compare(table: &Table, shown: &[usize], packed: &ReadOutcome, plain: &ReadOutcome, context: &str) {
    let counts = |outcome: &ReadOutcome| {
        (outcome.live_rows, outcome.tombstones, outcome.page.stopped_early, outcome.page.partitions.len())
    };
    assert_eq!(counts(packed), counts(plain), "{context}");
    for (packed, plain) in packed.page.partitions.iter().zip(&plain.page.partitions) {
        assert_eq!(packed.key, plain.key, "{context}");
        let rows = packed.packed.as_ref().unwrap();
        assert!(packed.rows.is_empty(), "{context}");
        let mut rest = rows.bytes.clone();
        let found: Vec<_> = std::iter::from_fn(|| unpack(&mut rest)).collect();
        assert_eq!(found, values(table, shown, plain), "{context}");
        assert!(rest.is_empty(), "{context}");
        assert_eq!(packed.count(), plain.count(), "{context}");
        assert_eq!(packed.last_clustering(), plain.last_clustering(), "{context}");
    }
}

fn target(numbers: &mut Numbers, table: &Table) -> ReadTarget {
    let rows = if numbers.chance(4) {
        let mut names = vec![numbers.clustering(), numbers.clustering(), numbers.clustering()];
        names.sort_by(|a, b| table.compare_clusterings(a, b));
        names.dedup();
        RowSelection::Names(names)
    } else {
        RowSelection::Slices(vec![numbers.slice()])
    };
    let reversed = numbers.chance(5);
    let resume_after = numbers.chance(3).then(|| numbers.clustering());
    let key = numbers.key();
    ReadTarget::Partition { key, filter: ClusteringFilter { rows, reversed, resume_after } }
}

#[test]
fn packed_rows_are_the_rows() {
    let table = plain_table();
    for seed in 0..300 {
        let mut numbers = Numbers::new(seed);
        let has_ranges = numbers.chance(5);
        let engine = filled(&table, &mut numbers, has_ranges);
        for round in 0..20 {
            let mut shown: Vec<usize> = (0..table.columns.len()).filter(|_| numbers.chance(6)).collect();
            if numbers.chance(5) {
                shown.reverse();
            }
            let ids = |shown: &[usize]| {
                let mut ids: Vec<ColumnId> = shown.iter().map(|index| table.columns[*index].id).collect();
                ids.retain(|id| table.regulars().iter().any(|column| column.id == *id));
                ids.sort_unstable();
                ids
            };
            let columns = if numbers.chance(5) { ColumnFilter::All } else { ColumnFilter::some(ids(&shown)) };
            let layout = Layout::of(&table, &columns, &shown).unwrap();
            let all = ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() };
            let limit = |numbers: &mut Numbers| {
                if numbers.chance(4) { 1 + numbers.below(5) as u32 } else { u32::MAX }
            };
            let plain = ReadCommand {
                table: table.clone(),
                now_s: NOW_S,
                columns,
                row_filter: RowFilter::default(),
                layout: None,
                limits: DataLimits {
                    rows: limit(&mut numbers),
                    rows_per_partition: limit(&mut numbers),
                    ..DataLimits::NONE
                },
                target: if round == 0 { all } else { target(&mut numbers, &table) },
            };
            let packed = ReadCommand { layout: Some(Arc::new(layout)), ..plain.clone() };
            let read = |command| read(&*engine, command, &ReadOptions::new(ReadTier::All)).unwrap();
            let context = format!("seed {seed}, round {round}, {shown:?}, {:?}", plain.target);
            compare(&table, &shown, &read(&packed), &read(&plain), &context);
        }
    }
}

#[test]
fn rows_of_several_entries_and_values_that_are_shown_otherwise_have_no_layout() {
    assert_eq!(Layout::of(&test_table(true), &ColumnFilter::All, &[0]), None, "a map");
    assert_eq!(Layout::of(&test_table(false), &ColumnFilter::All, &[0]), None, "a static column");
    let mut table = Table::clone(&plain_table());
    assert!(Layout::of(&table, &ColumnFilter::All, &[0]).is_some());
    assert_eq!(Layout::of(&table, &ColumnFilter::Only(Vec::new()), &[0]), None);
    table.columns.last_mut().unwrap().data_type = basalt_model::DataType::Counter;
    assert_eq!(Layout::of(&table, &ColumnFilter::All, &[0]), None, "a counter");
}
