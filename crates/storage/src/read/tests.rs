//! What reads show, count and refuse.

use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, ColumnPart, DataLimits, Expression, KeyBound, KeyRange, Operator,
    ReadPage, RowFilter, RowSelection, SelectedColumns,
};
use basalt_model::schema::{ColumnKind, DroppedColumn};
use basalt_model::{
    Cell, Clustering, ColumnId, DataType, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, Row,
    Slice, Table,
};
use bytes::Bytes;

use super::*;
use crate::engine::failing::{Call, FailingEngine};
use crate::engine::mem::MemEngine;
use crate::engine::{Sync, WriteOptions, WriteSet};
use crate::testing::{column, table, unhex};
use crate::write::Writer;

const NOW_S: i64 = 1_000;
/// Indexes in `Table::columns`, in the order of [`test_table`].
const K: usize = 0;
const C: usize = 1;
const ST: usize = 2;
const L: usize = 3;
const M: usize = 4;
const S: usize = 5;
const V: usize = 6;
const W: usize = 7;

fn test_table() -> Table {
    let text = || Arc::new(DataType::Text);
    table(vec![
        column("k", DataType::Int, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        column("st", DataType::Int, ColumnKind::Static, 0, 3),
        column("l", DataType::List { element: text(), frozen: true }, ColumnKind::Regular, 0, 4),
        column("m", DataType::Map { key: text(), value: text(), frozen: false }, ColumnKind::Regular, 0, 5),
        column("s", DataType::Set { element: text(), frozen: false }, ColumnKind::Regular, 0, 6),
        column("v", DataType::Int, ColumnKind::Regular, 0, 7),
        column("w", DataType::Int, ColumnKind::Regular, 0, 8),
    ])
}

fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

fn text(value: &'static str) -> Bytes {
    Bytes::from_static(value.as_bytes())
}

fn key(value: i32) -> DecoratedKey {
    DecoratedKey::new(int(value))
}

struct World {
    table: Arc<Table>,
    engine: Arc<FailingEngine<MemEngine>>,
}

fn world() -> World {
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    let table = Arc::new(test_table());
    engine.create_table(table.id).unwrap();
    World { table, engine }
}

impl World {
    fn write(&self, key: DecoratedKey, change: impl FnOnce(&mut PartitionUpdate)) {
        let mut update = PartitionUpdate::new(self.table.clone(), key.clone());
        change(&mut update);
        let writer = Writer::new(self.engine.clone(), 1 << 20);
        let mut set = WriteSet::new();
        let mutation = Mutation { keyspace: "ks".into(), key, updates: vec![update] };
        let guards = writer.lock_and_encode(&[mutation], &mut set).unwrap();
        self.engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }

    fn id(&self, index: usize) -> ColumnId {
        self.table.columns[index].id
    }

    /// `INSERT` of a row with `v`, at time 10.
    fn insert(&self, k: i32, c: i32, v: i32) {
        self.write(key(k), |update| {
            let mut row = Row::new(Clustering::from_values([int(c)]));
            row.liveness = Liveness::at(10);
            row.cells.push(Cell::live(self.id(V), None, 10, int(v)));
            update.rows.push(row);
        });
    }

    /// `UPDATE` of cells of a row, which do not make it live by itself.
    fn update(&self, k: i32, c: i32, cells: Vec<Cell>) {
        self.write(key(k), |update| {
            let mut row = Row::new(Clustering::from_values([int(c)]));
            row.cells = cells;
            update.rows.push(row);
        });
    }

    fn set_static(&self, k: i32, value: i32) {
        self.write(key(k), |update| {
            let mut row = Row::new(Clustering::empty());
            row.cells.push(Cell::live(self.id(ST), None, 10, int(value)));
            update.static_row = Some(row);
        });
    }

    fn command(&self, target: ReadTarget) -> ReadCommand {
        ReadCommand {
            table: self.table.clone(),
            now_s: NOW_S,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target,
            layout: None,
        }
    }

    fn all(&self) -> ReadCommand {
        self.command(ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() })
    }

    fn read(&self, command: &ReadCommand) -> ReadOutcome {
        read(&*self.engine, command, &ReadOptions::new(ReadTier::All)).unwrap()
    }

    /// The `v`s of the rows that meet a condition.
    fn filtered(&self, column: usize, operator: Operator, value: Bytes) -> Vec<i32> {
        self.filtered_by(Expression { column, operator, value, map_key: None, values: Vec::new() })
    }

    fn filtered_by(&self, expression: Expression) -> Vec<i32> {
        let command = ReadCommand { row_filter: RowFilter(vec![expression]), ..self.all() };
        let mut values: Vec<i32> =
            clusterings(&self.read(&command).page).into_iter().map(|(_, c)| c).collect();
        values.sort_unstable();
        values
    }
}

fn as_int(bytes: &Bytes) -> i32 {
    i32::from_be_bytes(bytes.as_ref().try_into().unwrap())
}

/// Key and clustering of each row; a partition with nothing but its static row has clustering -1.
fn clusterings(page: &ReadPage) -> Vec<(i32, i32)> {
    let of_partition = |p: &basalt_model::command::PartitionRows| {
        let k = as_int(&p.key.key);
        let rows = p.rows.iter().map(|row| (k, as_int(row.clustering.0[0].as_ref().unwrap())));
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() { vec![(k, -1)] } else { rows }
    };
    page.partitions.iter().flat_map(of_partition).collect()
}

#[test]
fn conditions_decide_which_rows_show() {
    let world = world();
    for (c, v) in [(1, 10), (2, 20), (3, 30)] {
        world.insert(1, c, v);
    }
    world.insert(2, 4, 40);
    world.set_static(2, 7);
    world.update(1, 5, vec![Cell::live(world.id(W), None, 10, int(1))]);
    use Operator::{Contains, ContainsKey, Eq, Gt, Gte, Lt, Lte, Neq};
    assert_eq!(world.filtered(V, Eq, int(20)), [2]);
    assert_eq!(world.filtered(V, Neq, int(20)), [1, 3, 4], "a row without v meets nothing");
    assert_eq!(world.filtered(V, Lt, int(20)), [1]);
    assert_eq!(world.filtered(V, Lte, int(20)), [1, 2]);
    assert_eq!(world.filtered(V, Gt, int(20)), [3, 4]);
    assert_eq!(world.filtered(V, Gte, int(20)), [2, 3, 4]);
    assert_eq!(world.filtered(C, Gt, int(2)), [3, 4, 5]);
    assert_eq!(world.filtered(K, Eq, int(2)), [4]);
    assert_eq!(world.filtered(ST, Eq, int(7)), [4]);
    assert_eq!(world.filtered(ST, Eq, int(8)), [0; 0]);
    let values = vec![int(10), int(40)];
    let one_of = Expression { column: V, operator: Operator::In, value: Bytes::new(), map_key: None, values };
    assert_eq!(world.filtered_by(one_of), [1, 4]);

    let path =
        |c: usize, path: &'static str, value: Bytes| Cell::live(world.id(c), Some(text(path)), 10, value);
    world.update(1, 1, vec![path(M, "a", text("x")), path(M, "b", text("y")), path(S, "e", Bytes::new())]);
    world.update(1, 2, vec![path(M, "a", text("y"))]);
    let list = unhex("00000002000000017000000001 71".replace(' ', "").as_str());
    world.update(1, 3, vec![Cell::live(world.id(L), None, 10, list)]);
    assert_eq!(world.filtered(M, Contains, text("y")), [1, 2]);
    assert_eq!(world.filtered(M, ContainsKey, text("b")), [1]);
    assert_eq!(world.filtered(S, Contains, text("e")), [1]);
    assert_eq!(world.filtered(L, Contains, text("q")), [3]);
    assert_eq!(world.filtered(L, Contains, text("r")), [0; 0]);
    let map_key = Some(text("a"));
    let entry = Expression { column: M, operator: Eq, value: text("y"), map_key, values: Vec::new() };
    assert_eq!(world.filtered_by(entry), [2]);
}

#[test]
fn columns_only_looked_at_do_not_come_back() {
    let world = world();
    world.insert(1, 1, 10);
    world.update(1, 1, vec![Cell::live(world.id(W), None, 10, int(5))]);
    world.update(1, 2, vec![Cell::live(world.id(V), None, 10, int(10))]);
    let expression =
        Expression { column: V, operator: Operator::Eq, value: int(10), map_key: None, values: Vec::new() };
    let command = ReadCommand {
        columns: ColumnFilter::some(vec![world.id(W)]),
        row_filter: RowFilter(vec![expression]),
        ..world.all()
    };
    let page = world.read(&command).page;
    let rows = &page.partitions[0].rows;
    assert_eq!(rows.len(), 2, "a row exists through cells that are not fetched");
    assert_eq!(rows[0].cells.iter().map(|cell| cell.column).collect::<Vec<_>>(), [world.id(W)]);
    assert!(rows[1].cells.is_empty() && rows[1].liveness.is_none());
}

#[test]
fn limits_count_rows_and_partitions() {
    let world = world();
    for k in 0..4 {
        for c in 0..5 {
            world.insert(k, c, c);
        }
    }
    let order: Vec<i32> =
        clusterings(&world.read(&world.all()).page).iter().step_by(5).map(|(k, _)| *k).collect();
    let page = |limits: DataLimits| world.read(&ReadCommand { limits, ..world.all() }).page;

    let limited = page(DataLimits { rows: 7, ..DataLimits::NONE });
    assert_eq!(clusterings(&limited).len(), 7);
    assert!(limited.stopped_early);
    let two = page(DataLimits { rows_per_partition: 2, ..DataLimits::NONE });
    assert_eq!(clusterings(&two), order.iter().flat_map(|k| [(*k, 0), (*k, 1)]).collect::<Vec<_>>());
    assert!(!two.stopped_early);
    let distinct = page(DataLimits { distinct: true, ..DataLimits::NONE });
    assert_eq!(clusterings(&distinct), order.iter().map(|k| (*k, 0)).collect::<Vec<_>>());

    // The second page of `PER PARTITION LIMIT 3`, the first having ended behind the second row.
    let filter =
        ClusteringFilter { resume_after: Some(Clustering::from_values([int(1)])), ..ClusteringFilter::all() };
    let start = KeyBound::Key { key: key(order[0]), inclusive: true };
    let range = KeyRange { start, end: KeyBound::Unbounded };
    let command = ReadCommand {
        limits: DataLimits {
            rows: 2,
            rows_per_partition: 3,
            returned_of_first_partition: 2,
            distinct: false,
            keeps_static: false,
        },
        ..world.command(ReadTarget::Range { range, filter })
    };
    assert_eq!(clusterings(&world.read(&command).page), [(order[0], 2), (order[1], 0)]);
}

#[test]
fn rows_without_liveness_exist_by_the_columns_that_are_asked_for_alone() {
    let world = world();
    world.insert(1, 1, 10);
    world.update(1, 2, vec![Cell::live(world.id(V), None, 10, int(10))]);
    let read = |columns| clusterings(&world.read(&ReadCommand { columns, ..world.all() }).page);
    assert_eq!(read(ColumnFilter::some(vec![world.id(W)])), [(1, 1), (1, 2)]);
    assert_eq!(read(ColumnFilter::Only(vec![world.id(W)])), [(1, 1)]);
    assert_eq!(read(ColumnFilter::Only(vec![world.id(V)])), [(1, 1), (1, 2)]);
}

#[test]
fn cells_older_than_an_expired_insertion_let_a_row_exist_only_if_they_are_asked_for() {
    let world = world();
    for c in [1, 2] {
        world.write(key(1), |update| {
            let mut row = Row::new(Clustering::from_values([int(c)]));
            row.liveness = Liveness { timestamp: 10, ttl_s: 5, expires_at_s: NOW_S };
            update.rows.push(row);
        });
    }
    world.update(1, 1, vec![Cell::live(world.id(V), None, 9, int(1))]);
    world.update(1, 2, vec![Cell::live(world.id(M), Some(text("a")), 9, text("x"))]);
    let read = |queried: Option<Vec<ColumnId>>, parts: Vec<ColumnPart>| {
        let fetched = queried.clone().unwrap_or_default();
        let columns = ColumnFilter::Some(Arc::new(SelectedColumns { fetched, queried, parts }));
        clusterings(&world.read(&ReadCommand { columns, ..world.all() }).page)
    };
    assert_eq!(read(None, Vec::new()), [(1, 1), (1, 2)]);
    assert_eq!(read(Some(vec![world.id(V)]), Vec::new()), [(1, 1)]);
    assert_eq!(read(Some(vec![world.id(W)]), Vec::new()), []);
    assert_eq!(read(Some(vec![world.id(M)]), Vec::new()), [(1, 2)]);
    let part =
        |path: &'static str| ColumnPart { column: world.id(M), from: Some(text(path)), to: Some(text(path)) };
    assert_eq!(read(Some(vec![world.id(M)]), vec![part("b"), part("a")]), [(1, 2)]);
    assert_eq!(read(Some(vec![world.id(M)]), vec![part("b")]), []);
}

#[test]
fn a_lone_static_row_shows_when_whole_partitions_are_asked_for() {
    let world = world();
    world.set_static(1, 7);
    let page = world.read(&world.all()).page;
    assert_eq!(clusterings(&page), [(1, -1)]);
    assert_eq!(page.partitions[0].static_row.as_ref().unwrap().cells[0].value, int(7));

    // Also when no static column is fetched: the partition has something to show.
    let columns = ColumnFilter::some(vec![world.id(V)]);
    let page = world.read(&ReadCommand { columns, ..world.all() }).page;
    assert_eq!(clusterings(&page), [(1, -1)]);
    assert!(page.partitions[0].static_row.as_ref().unwrap().cells.is_empty());

    // It counts as a row, and is not shown again on the next page.
    let limits = DataLimits { rows: 1, ..DataLimits::NONE };
    assert!(world.read(&ReadCommand { limits, ..world.all() }).page.stopped_early);
    let filter = ClusteringFilter::all();
    let range = KeyRange { start: KeyBound::Key { key: key(1), inclusive: true }, end: KeyBound::Unbounded };
    let limits = DataLimits { returned_of_first_partition: 1, ..DataLimits::NONE };
    let again = ReadCommand { limits, ..world.command(ReadTarget::Range { range, filter }) };
    assert!(world.read(&again).page.partitions.is_empty());

    // Not when rows are asked for, by clustering or by condition.
    let some = Slice::of_prefix(Clustering::from_values([int(1)]));
    let filter = ClusteringFilter { rows: RowSelection::Slices(vec![some]), ..ClusteringFilter::all() };
    let command = world.command(ReadTarget::Partition { key: key(1), filter });
    assert!(world.read(&command).page.partitions.is_empty());
    // Unless a write wants to know it.
    let limits = DataLimits { keeps_static: true, ..DataLimits::NONE };
    let page = world.read(&ReadCommand { limits, ..command }).page;
    assert!(page.partitions[0].static_row.is_some() && page.partitions[0].rows.is_empty());
    assert_eq!(world.filtered(V, Operator::Eq, int(1)), [0; 0]);
    // By a condition on the static column it does.
    assert_eq!(world.filtered(ST, Operator::Eq, int(7)), [-1]);
}

#[test]
fn cells_of_a_dropped_column_are_gone() {
    let mut world = world();
    world.update(1, 1, vec![Cell::live(world.id(W), None, 10, int(1))]);
    world.update(1, 2, vec![Cell::live(world.id(W), None, 11, int(2))]);
    let mut table = test_table();
    let column = table.columns[W].clone();
    table.dropped_columns.insert(column.name.clone(), DroppedColumn { column, dropped_time: 10 });
    world.table = Arc::new(table.clone());
    assert_eq!(clusterings(&world.read(&world.all()).page), [(1, 2)], "added again: only newer cells");
    table.columns.truncate(W);
    world.table = Arc::new(table);
    assert!(world.read(&world.all()).page.partitions.is_empty(), "dropped: none");
}

#[test]
fn a_page_holds_so_many_bytes() {
    let world = world();
    for c in 0..10 {
        world.insert(1, c, c);
    }
    let options = ReadOptions { page_bytes: 1_000, ..ReadOptions::new(ReadTier::All) };
    let page = read(&*world.engine, &world.all(), &options).unwrap().page;
    let shown = clusterings(&page).len();
    assert!(page.stopped_early && (1..10).contains(&shown), "{shown} rows");
}

#[test]
fn too_many_tombstones_end_a_read() {
    let world = world();
    world.insert(1, 100, 1);
    for c in 0..10 {
        let tombstone = Cell::tombstone(world.id(V), None, 11, 900);
        world.update(1, c, vec![tombstone, Cell::live(world.id(W), None, 11, int(1))]);
    }
    world.write(key(1), |update| {
        let mut row = Row::new(Clustering::from_values([int(50)]));
        row.deletion = Deletion { timestamp: 11, local_time_s: 900 };
        update.rows.push(row);
    });
    let outcome = world.read(&world.all());
    assert_eq!((outcome.tombstones, outcome.live_rows), (11, 11), "ten cells and a row");
    let options = ReadOptions { tombstone_failure_threshold: 10, ..ReadOptions::new(ReadTier::All) };
    let error = read(&*world.engine, &world.all(), &options).unwrap_err();
    assert_eq!(error, ReadError::TombstoneOverwhelming { scanned: 11 });
}

/// `ReadCommand.withoutPurgeableTombstones`: asked of a stock server with `gc_grace_seconds` 0, too.
#[test]
fn what_may_be_purged_is_no_tombstone_that_counts() {
    let world = world();
    let grace_s = i64::from(world.table.options.gc_grace_seconds);
    world.update(1, 1, vec![Cell::tombstone(world.id(V), None, 11, 900)]);
    world.write(key(1), |update| {
        let slice = Slice::of_prefix(Clustering::from_values([int(2)]));
        let deletion = Deletion { timestamp: 1, local_time_s: 900 };
        update.range_tombstones.push(basalt_model::mutation::RangeTombstone { slice, deletion });
    });
    world.insert(1, 3, 1);
    for (now_s, counted) in [(900 + grace_s, 3), (901 + grace_s, 0)] {
        let command = ReadCommand { now_s, ..world.all() };
        let outcome = read(&*world.engine, &command, &ReadOptions::new(ReadTier::All)).unwrap();
        assert_eq!((outcome.tombstones, outcome.live_rows), (counted, 1), "at {now_s}");
    }
}

#[test]
fn a_read_that_shows_little_ends_when_its_time_is_over() {
    let world = world();
    for c in 0..10 * ROWS_PER_LOOK {
        let c = i32::try_from(c).unwrap();
        match c % 2 {
            0 => world.insert(1, c, 1),
            _ => world.update(1, c, vec![Cell::tombstone(world.id(V), None, 11, 900)]),
        }
    }
    let none =
        Expression { column: V, operator: Operator::Eq, value: int(2), map_key: None, values: Vec::new() };
    let partition = ReadTarget::Partition { key: key(1), filter: ClusteringFilter::all() };
    for command in [world.all(), world.command(partition)] {
        let command = ReadCommand { row_filter: RowFilter(vec![none.clone()]), ..command };
        let looks = std::cell::Cell::new(0);
        // A clock that has reached the deadline at the fourth look.
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() == 4
        };
        let options = ReadOptions { is_over: Some(&is_over), ..ReadOptions::new(ReadTier::All) };
        assert_eq!(read(&*world.engine, &command, &options).unwrap_err(), ReadError::TimedOut);
        assert_eq!(looks.get(), 4, "nothing was read after that");
        looks.set(10);
        assert!(read(&*world.engine, &command, &options).unwrap().page.partitions.is_empty());
        assert_eq!(looks.get(), 10 + 11, "every {ROWS_PER_LOOK} rows, and the partition");
    }
}

#[test]
fn a_read_that_would_block_says_so_at_any_step() {
    let world = world();
    world.insert(1, 1, 1);
    world.write(key(1), |update| {
        let slice = Slice::of_prefix(Clustering::from_values([int(2)]));
        let deletion = Deletion { timestamp: 1, local_time_s: 1 };
        update.range_tombstones.push(basalt_model::mutation::RangeTombstone { slice, deletion });
    });
    let filter = ClusteringFilter::all();
    let command = world.command(ReadTarget::Partition { key: key(1), filter });
    let mut calls = 0;
    loop {
        world.engine.heal();
        world.engine.fail(Call::Read, calls, EngineError::WouldBlock, true);
        match read(&*world.engine, &command, &ReadOptions::new(ReadTier::CacheOnly)) {
            Err(error) => assert_eq!(error, ReadError::Engine(EngineError::WouldBlock)),
            Ok(outcome) => {
                assert_eq!(clusterings(&outcome.page), [(1, 1)]);
                break;
            }
        }
        calls += 1;
    }
    assert!(calls >= 6, "only {calls} steps");
}

#[test]
fn damage_is_an_error_that_names_the_table() {
    let world = world();
    world.insert(1, 1, 1);
    let mut key_bytes = Vec::new();
    crate::keys::append_partition(&key(1), &mut key_bytes);
    key_bytes.push(crate::keys::EntryKind::Row as u8);
    let clustering = Clustering::from_values([int(2)]);
    crate::keys::clustering::append_clustering(&world.table, &clustering, &mut key_bytes).unwrap();
    let mut set = WriteSet::new();
    set.put(world.table.id, &key_bytes, b"\x12garbage");
    world.engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
    let error = read(&*world.engine, &world.all(), &ReadOptions::new(ReadTier::All)).unwrap_err();
    assert!(
        matches!(&error, ReadError::Engine(EngineError::Corruption { table: Some(id), .. }) if *id == world.table.id),
        "{error}"
    );
}

#[test]
fn the_spelling_that_was_written_comes_back() {
    let table = Arc::new(table(vec![
        column("k", DataType::Int, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Decimal, ColumnKind::Clustering, 0, 2),
    ]));
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    engine.create_table(table.id).unwrap();
    let world = World { table, engine };
    let (one, one_point_zero) = (unhex("0000000001"), unhex("000000010a"));
    for (k, written, asked) in [(1, &one, &one_point_zero), (2, &one_point_zero, &one)] {
        world.write(key(k), |update| {
            let mut row = Row::new(Clustering::from_values([written.clone()]));
            row.liveness = Liveness::at(10);
            update.rows.push(row);
        });
        let rows = RowSelection::Names(vec![Clustering::from_values([asked.clone()])]);
        let by_name = ClusteringFilter { rows, ..ClusteringFilter::all() };
        for filter in [by_name, ClusteringFilter::all()] {
            let command = world.command(ReadTarget::Partition { key: key(k), filter });
            let page = world.read(&command).page;
            assert_eq!(page.partitions[0].rows[0].clustering.0[0].as_ref(), Some(written));
        }
    }
}

/// The first deletion of a partition comes with a new row while rows are looked up: none of it is seen, or all.
#[test]
fn the_first_head_of_a_table_comes_meanwhile() {
    let names = [1, 2].map(|c| Clustering::from_values([int(c)])).to_vec();
    the_first_head_comes_beside(RowSelection::Names(names), false);
    the_first_head_comes_beside(RowSelection::Slices(vec![Slice::all()]), false);
    the_first_head_comes_beside(RowSelection::Slices(vec![Slice::all()]), true);
}

fn the_first_head_comes_beside(rows: RowSelection, reversed: bool) {
    let mut world = world();
    // Without collections and static columns a row is one entry, and nothing else of its partition is asked for.
    world.table = Arc::new(table(vec![
        column("k", DataType::Int, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        column("v", DataType::Int, ColumnKind::Regular, 0, 7),
    ]));
    let v = world.table.columns[2].id;
    let write = move |world: &World, deletion: Deletion, c: i32, time: i64| {
        world.write(key(1), |update| {
            update.deletion = deletion;
            let mut row = Row::new(Clustering::from_values([int(c)]));
            row.liveness = Liveness::at(time);
            row.cells.push(Cell::live(v, None, time, int(c)));
            update.rows.push(row);
        });
    };
    write(&world, Deletion::LIVE, 1, 10);
    let filter = ClusteringFilter { rows, reversed, ..ClusteringFilter::all() };
    let command = world.command(ReadTarget::Partition { key: key(1), filter });
    assert_eq!(clusterings(&world.read(&command).page), [(1, 1)]);
    let (engine, table) = (Arc::clone(&world.engine), Arc::clone(&world.table));
    world.engine.meanwhile(Call::Read, 0, move || {
        write(&World { table, engine }, Deletion { timestamp: 20, local_time_s: 1 }, 2, 21);
    });
    assert_eq!(clusterings(&world.read(&command).page), [(1, 2)]);
}
