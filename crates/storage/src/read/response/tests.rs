//! What clients read is a filter over what replicas answer; neither purging nor the order of writes is seen in it.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, ColumnPart, DataLimits, Expression, KeyRange, Operator, PartitionRows,
    RowFilter, RowSelection, SelectedColumns,
};
use basalt_model::{Bound, ColumnId, DecoratedKey, Mutation, PartitionUpdate, Slice, Table};

use super::*;
use crate::checker::{Numbers, test_table};
use crate::engine::mem::MemEngine;
use crate::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use crate::read::digest::of_response;
use crate::read::read;
use crate::write::Writer;

const NOW_S: i64 = 1_000;

fn written<'u>(table: &Table, updates: impl IntoIterator<Item = &'u PartitionUpdate>) -> Arc<MemEngine> {
    let engine = Arc::new(MemEngine::new());
    engine.create_table(table.id).unwrap();
    let writer = Writer::new(engine.clone(), 1 << 20);
    for update in updates {
        let (key, updates) = (update.key.clone(), vec![update.clone()]);
        let mut set = WriteSet::new();
        let mutations = [Mutation { keyspace: "ks".into(), key, updates }];
        let guards = writer.lock_and_encode(&mutations, &mut set).unwrap();
        engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }
    engine
}

fn updates(numbers: &mut Numbers, table: &Arc<Table>) -> Vec<PartitionUpdate> {
    let has_ranges = numbers.chance(7);
    (0..5 + numbers.below(40)).map(|_| numbers.update(table, has_ranges)).collect()
}

fn columns(numbers: &mut Numbers, table: &Table) -> ColumnFilter {
    let chosen = |numbers: &mut Numbers| {
        let mut ids: Vec<ColumnId> = table.statics().iter().chain(table.regulars()).map(|c| c.id).collect();
        ids.retain(|_| numbers.chance(5));
        ids.sort_unstable();
        ids
    };
    match numbers.below(4) {
        0 => ColumnFilter::Only(chosen(numbers)),
        1 => {
            let ids = chosen(numbers);
            let map = ids.iter().find(|id| **id == crate::checker::M && numbers.chance(5));
            let path = Some(Bytes::from_static(b"x"));
            let parts = map.map(|map| ColumnPart { column: *map, from: path.clone(), to: path });
            let queried = (!ids.is_empty()).then(|| ids.clone());
            let parts = parts.into_iter().collect();
            ColumnFilter::Some(Arc::new(SelectedColumns { fetched: ids, queried, parts }))
        }
        _ => ColumnFilter::All,
    }
}

fn filter(numbers: &mut Numbers, table: &Table) -> ClusteringFilter {
    let mut rows = RowSelection::Slices(vec![Slice::all()]);
    if numbers.chance(3) {
        let mut names: Vec<_> = (0..1 + numbers.below(3)).map(|_| numbers.clustering()).collect();
        names.sort_by(|a, b| table.compare_clusterings(a, b));
        names.dedup();
        rows = RowSelection::Names(names);
    } else if numbers.chance(5) {
        let is_some = |slice: &Slice| table.compare_bounds(&slice.start, &slice.end).is_lt();
        let mut slices: Vec<Slice> = (0..3).map(|_| numbers.slice()).filter(is_some).collect();
        slices.sort_by(|a, b| table.compare_bounds(&a.start, &b.start));
        let mut end = Bound::bottom();
        slices.retain(|slice| {
            let is_behind = table.compare_bounds(&end, &slice.start).is_le();
            if is_behind {
                end = slice.end.clone();
            }
            is_behind
        });
        rows = RowSelection::Slices(slices);
    }
    let resume_after = numbers.chance(3).then(|| numbers.clustering());
    ClusteringFilter { rows, reversed: numbers.chance(5), resume_after }
}

fn row_filter(numbers: &mut Numbers, table: &Table) -> RowFilter {
    let id = [crate::checker::S, crate::checker::V, crate::checker::W][numbers.below(3) as usize];
    let column = table.columns.iter().position(|column| column.id == id).unwrap();
    let value = if id == crate::checker::W { &[0, 0, 0, 1][..] } else { b"a" };
    let operator = [Operator::Eq, Operator::Gt, Operator::Lte][numbers.below(3) as usize];
    let (value, values) = (Bytes::from_static(value), Vec::new());
    let expression = Expression { column, operator, value, map_key: None, values };
    RowFilter(if numbers.chance(3) { vec![expression] } else { Vec::new() })
}

fn command(numbers: &mut Numbers, table: &Arc<Table>, key: &DecoratedKey) -> ReadCommand {
    let filter = filter(numbers, table);
    let mut limits = DataLimits::NONE;
    if numbers.chance(3) {
        limits.rows = 1 + numbers.below(4) as u32;
    }
    if numbers.chance(2) {
        limits.rows_per_partition = 1 + numbers.below(3) as u32;
    }
    let target = match numbers.chance(7) {
        true => ReadTarget::Partition { key: key.clone(), filter },
        false => ReadTarget::Range { range: KeyRange::all(), filter },
    };
    let columns = columns(numbers, table);
    // Statements ask for the columns of their conditions.
    let row_filter =
        if columns == ColumnFilter::All { row_filter(numbers, table) } else { RowFilter::default() };
    ReadCommand { table: table.clone(), now_s: NOW_S, columns, row_filter, limits, target, layout: None }
}

/// Shows clients what is alive of an answer.
struct Alive<'c> {
    command: &'c ReadCommand,
    shown: Vec<PartitionRows>,
    is_reversed: bool,
    open: Deletion,
}

impl Alive<'_> {
    fn live(&self, row: &Row) -> Option<Row> {
        let mut row = live(row, NOW_S)?;
        row.cells.retain(|cell| self.command.columns.includes(cell.column));
        Some(row)
    }
}

impl Receiver for Alive<'_> {
    fn partition(&mut self, start: PartitionStart) {
        assert!(self.open.is_live(), "a range that began has ended");
        // One that is only there so that its partition is shown has no cells for others.
        let has_row_conditions = Conditions::new(self.command).has_row_conditions();
        let has_use =
            |row: &Row| !row.cells.is_empty() || shows_static_only(self.command, has_row_conditions);
        let static_row = start.static_row.and_then(|row| self.live(&row)).filter(has_use);
        self.shown.push(PartitionRows { key: start.key, static_row, rows: Vec::new(), packed: None });
    }

    fn item(&mut self, item: Unfiltered) {
        match item {
            Unfiltered::Row(row) => {
                let times = row.cells.iter().map(|cell| cell.timestamp);
                let covered = times.chain((!row.liveness.is_none()).then_some(row.liveness.timestamp)).min();
                assert!(
                    covered.is_none_or(|time| !self.open.deletes(time)),
                    "nothing dead is shown: {row:?}"
                );
                let row = self.live(&row);
                self.shown.last_mut().expect("a partition begins first").rows.extend(row);
            }
            Unfiltered::Marker(marker) => {
                assert_eq!(marker.closes(self.is_reversed), self.open, "what ends is what began");
                self.open = marker.opens(self.is_reversed);
            }
        }
    }
}

fn alive(engine: &dyn Engine, command: &ReadCommand, gc_before_s: i64) -> Vec<PartitionRows> {
    let is_reversed = command.target.filter().reversed;
    let mut alive = Alive { command, shown: Vec::new(), is_reversed, open: Deletion::LIVE };
    let purging = Purging { now_s: NOW_S, gc_before_s };
    let options = ReadOptions::new(ReadTier::All);
    respond(&*engine.view().unwrap(), command, purging, &options, &mut alive).unwrap();
    assert!(alive.open.is_live(), "a range that began has ended");
    let has_row_conditions = Conditions::new(command).has_row_conditions();
    let shows_static_only = shows_static_only(command, has_row_conditions);
    alive.shown.retain(|p| !p.rows.is_empty() || (shows_static_only && p.static_row.is_some()));
    alive.shown
}

/// Elements that are not asked for come to clients with their values; they do not look at them.
fn show(mut all: Vec<PartitionRows>, command: &ReadCommand) -> Vec<String> {
    if let ColumnFilter::Some(selected) = &command.columns {
        let rows = all.iter_mut().flat_map(|partition| &mut partition.rows);
        let cells = rows.flat_map(|row| &mut row.cells).filter(|cell| selected.is_in_part(cell.column));
        let others = cells.filter(|cell| cell.path.as_deref() != Some(b"x"));
        others.for_each(|cell| cell.value.clear());
    }
    all.iter().map(|p| format!("{:?}", (&p.key, &p.static_row, &p.rows))).collect()
}

/// Purging what is old enough changes nothing of it, whenever that is.
#[test]
fn clients_read_what_is_alive_of_an_answer() {
    let mut with_rows = 0;
    for seed in 0..200 {
        let mut numbers = Numbers::new(seed);
        let table = test_table(numbers.chance(6));
        let updates = updates(&mut numbers, &table);
        let engine = written(&table, &updates);
        for round in 0..12 {
            let key = updates[numbers.below(updates.len() as u64) as usize].key.clone();
            let command = command(&mut numbers, &table, &key);
            let page = read(&*engine, &command, &ReadOptions::new(ReadTier::All)).unwrap().page;
            let gc_before_s = 975 + numbers.below(30) as i64;
            let found = alive(&*engine, &command, gc_before_s);
            let expected = show(page.partitions, &command);
            assert_eq!(show(found.clone(), &command), expected, "seed {seed}, round {round}: {command:?}");
            with_rows += usize::from(!found.is_empty());
        }
    }
    assert!(with_rows > 700, "only {with_rows} reads show anything");
}

/// Writes merge to the same answer in any order and any number of times, range tombstones included.
#[test]
fn order_and_repetition_of_writes_do_not_matter() {
    for seed in 1_000..1_150 {
        let mut numbers = Numbers::new(seed);
        let table = test_table(true);
        let updates = updates(&mut numbers, &table);
        let mut shuffled: Vec<&PartitionUpdate> = updates.iter().chain(updates.iter().take(9)).collect();
        for index in (1..shuffled.len()).rev() {
            shuffled.swap(index, numbers.below(index as u64 + 1) as usize);
        }
        let (one, other) = (written(&table, &updates), written(&table, shuffled));
        for round in 0..6 {
            let command = command(&mut numbers, &table, &updates[0].key);
            let purging = Purging { now_s: NOW_S, gc_before_s: 990 };
            let digest = |engine: &MemEngine| {
                let options = ReadOptions::new(ReadTier::All);
                of_response(&*engine.view().unwrap(), &command, purging, &options).unwrap()
            };
            assert_eq!(digest(&one), digest(&other), "seed {seed}, round {round}: {command:?}");
        }
    }
}

#[test]
fn an_answer_ends_at_the_threshold_of_tombstones_and_when_nobody_waits() {
    let table = test_table(false);
    let mut update = PartitionUpdate::new(table.clone(), DecoratedKey::new(Bytes::from_static(b"k")));
    for number in 0..5u8 {
        let values = [Bytes::copy_from_slice(&[0, 0, 0, number]), Bytes::from_static(b"a")];
        let mut row = Row::new(Clustering::from_values(values));
        row.deletion = Deletion { timestamp: 5, local_time_s: 990 };
        update.rows.push(row);
    }
    let target = ReadTarget::Partition { key: update.key.clone(), filter: ClusteringFilter::all() };
    let command = ReadCommand {
        table: table.clone(),
        now_s: NOW_S,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        limits: DataLimits::NONE,
        target,
        layout: None,
    };
    let engine = written(&table, [&update]);
    let view = engine.view().unwrap();
    let usual = ReadOptions::new(ReadTier::All);
    let digest = |gc_before_s, options: &ReadOptions<'_>| {
        of_response(&*view, &command, Purging { now_s: NOW_S, gc_before_s }, options)
    };
    let few = ReadOptions { tombstone_failure_threshold: 3, ..usual };
    assert_eq!(digest(980, &few), Err(ReadError::TombstoneOverwhelming { scanned: 4 }));
    assert!(digest(980, &ReadOptions { tombstone_failure_threshold: 5, ..usual }).is_ok());
    assert!(digest(991, &few).is_ok(), "what may be purged is not counted");
    let over = || true;
    assert_eq!(digest(980, &ReadOptions { is_over: Some(&over), ..usual }), Err(ReadError::TimedOut));
}

/// Rows and range tombstones that a deletion of the partition covers make nothing of an answer; they take time all the same.
#[test]
fn an_answer_that_shows_nothing_ends_when_nobody_waits() {
    const COVERED: u32 = 3 * crate::read::patience::KEYS_PER_LOOK as u32;
    let table = test_table(false);
    let key = DecoratedKey::new(Bytes::from_static(b"k"));
    let mut updates = Vec::new();
    for first in (0..COVERED).step_by(1_024) {
        let mut update = PartitionUpdate::new(table.clone(), key.clone());
        for number in first..first + 1_024 {
            let values = [Bytes::copy_from_slice(&number.to_be_bytes()), Bytes::from_static(b"a")];
            let liveness = Liveness::at(1);
            update.rows.push(Row { liveness, ..Row::new(Clustering::from_values(values)) });
        }
        updates.push(update);
    }
    let mut deleted = PartitionUpdate::new(table.clone(), key.clone());
    deleted.deletion = Deletion { timestamp: 5, local_time_s: 990 };
    updates.push(deleted);
    let engine = written(&table, &updates);
    let view = engine.view().unwrap();
    let filter = ClusteringFilter::all();
    let partition = ReadTarget::Partition { key, filter: filter.clone() };
    for target in [partition, ReadTarget::Range { range: KeyRange::all(), filter }] {
        let command = ReadCommand {
            table: table.clone(),
            now_s: NOW_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target,
            layout: None,
        };
        let looks = std::cell::Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        let options = ReadOptions { is_over: Some(&is_over), ..ReadOptions::new(ReadTier::All) };
        let answer = of_response(&*view, &command, Purging::of(&command), &options);
        assert_eq!(answer, Err(ReadError::TimedOut));
        assert_eq!(looks.get(), 3, "one before the first row, and others on the way");
        of_response(&*view, &command, Purging::of(&command), &options).expect("in time");
    }
}
