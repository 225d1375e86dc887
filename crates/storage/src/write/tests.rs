//! What mutations become, and which are refused.

use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, DataType, DecoratedKey, Deletion, Liveness, Row, Slice, Table,
};
use bytes::Bytes;

use super::*;
use crate::engine::failing::{Call, FailingEngine};
use crate::engine::mem::MemEngine;
use crate::engine::{CursorOptions, ReadTier, Reads, Sync, WriteOptions};
use crate::testing::{column, table};

const NOW: Deletion = Deletion { timestamp: 10, local_time_s: 100 };

fn test_table() -> Arc<Table> {
    let set = DataType::Set { element: DataType::Int.into(), frozen: false };
    Arc::new(table(vec![
        column("k", DataType::Text, ColumnKind::PartitionKey, 0, 1),
        column("c", DataType::Int, ColumnKind::Clustering, 0, 2),
        column("s", set, ColumnKind::Regular, 0, 3),
        column("v", DataType::Text, ColumnKind::Regular, 0, 4),
    ]))
}

struct World {
    table: Arc<Table>,
    engine: Arc<FailingEngine<MemEngine>>,
    writer: Writer,
}

fn world() -> World {
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    let table = test_table();
    engine.create_table(table.id).unwrap();
    World { table, writer: Writer::new(engine.clone(), 1_000), engine }
}

fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

impl World {
    fn mutation(&self, change: impl FnOnce(&mut PartitionUpdate)) -> [Mutation; 1] {
        let key = DecoratedKey::new(Bytes::from_static(b"k"));
        let mut update = PartitionUpdate::new(self.table.clone(), key.clone());
        change(&mut update);
        [Mutation { keyspace: "ks".into(), key, updates: vec![update] }]
    }

    fn set(&self, mutations: &[Mutation]) -> WriteSet {
        let mut set = WriteSet::new();
        self.writer.encode(mutations, &mut set).unwrap();
        set
    }

    fn entries(&self) -> usize {
        let options = CursorOptions { tier: ReadTier::All, lower: &[], upper: None, fills_cache: true };
        let mut cursor = self.engine.inner().cursor(self.table.id, options).unwrap();
        let mut count = 0;
        let mut is_at = cursor.seek(&[]).unwrap();
        while is_at {
            count += 1;
            is_at = cursor.next().unwrap();
        }
        count
    }

    fn delete_range(&self, from: i32, to: i32, timestamp: i64) {
        let mutations = self.mutation(|update| {
            update.range_tombstones.push(RangeTombstone {
                slice: Slice {
                    start: Bound {
                        kind: BoundKind::InclusiveStart,
                        prefix: Clustering::from_values([int(from)]),
                    },
                    end: Bound { kind: BoundKind::ExclusiveEnd, prefix: Clustering::from_values([int(to)]) },
                },
                deletion: Deletion { timestamp, local_time_s: 1 },
            });
        });
        let mut set = WriteSet::new();
        let guards = self.writer.lock_and_encode(&mutations, &mut set).unwrap();
        self.engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).unwrap();
        drop(guards);
    }
}

fn row() -> Row {
    Row::new(Clustering::from_values([int(1)]))
}

#[test]
fn plain_writes_read_nothing_and_are_merges() {
    let world = world();
    world.engine.fail(Call::Read, 0, EngineError::WouldBlock, true);
    let set = world.set(&world.mutation(|update| {
        update.deletion = NOW;
        let mut row = row();
        row.liveness = Liveness::at(11);
        row.deletion = NOW;
        row.cells.push(Cell::live(ColumnId(3), Some(int(7)), 11, Bytes::new()));
        row.cells.push(Cell::live(ColumnId(4), None, 11, Bytes::from_static(b"v")));
        update.rows.push(row);
    }));
    assert_eq!(set.len(), 3, "head, row, cell");
    assert!(set.ops().all(|op| op.kind == OpKind::Merge));
    assert_eq!(world.engine.made(Call::Read), 0);
}

/// The first deletion of a partition waits for the engine to know that there are heads now, and fails with it.
#[test]
fn heads_are_expected_before_they_are_written() {
    let world = world();
    let (table, deletion) = (world.table.id, world.mutation(|update| update.deletion = NOW));
    let insertion = world.mutation(|update| {
        let mut row = row();
        row.liveness = Liveness::at(11);
        update.rows.push(row);
    });
    assert!(world.writer.waits(&deletion) && !world.writer.waits(&insertion));
    world.set(&insertion);
    world.engine.fail(Call::Catalogue, 0, EngineError::WouldBlock, true);
    let failed = world.writer.encode(&deletion, &mut WriteSet::new());
    assert_eq!(failed, Err(WriteError::Engine(EngineError::WouldBlock)));
    assert!(!world.engine.may_have_heads(table));
    world.engine.heal();
    assert_eq!(world.set(&deletion).len(), 1);
    assert!(world.engine.may_have_heads(table) && !world.writer.waits(&deletion));
    world.engine.truncate_table(table).unwrap();
    world.delete_range(0, 1, 1);
    assert_eq!(world.engine.made(Call::Catalogue), 2, "once, and the truncation");
}

#[test]
fn what_says_nothing_is_not_written() {
    let world = world();
    assert!(world.set(&world.mutation(|update| update.rows.push(row()))).is_empty());
    // A cell that its own row deletion takes away, in either place.
    let set = world.set(&world.mutation(|update| {
        let mut row = row();
        row.deletion = NOW;
        row.cells.push(Cell::live(ColumnId(3), Some(int(7)), 10, Bytes::new()));
        row.cells.push(Cell::live(ColumnId(4), None, 10, Bytes::from_static(b"v")));
        update.rows.push(row);
    }));
    let ops: Vec<_> = set.ops().collect();
    assert_eq!(ops.len(), 1);
    let entry = crate::cells::RowEntry::parse(ops[0].value).unwrap();
    assert_eq!((entry.parts.deletion, entry.cells().count()), (NOW, 0));
}

#[test]
fn mutations_have_a_size() {
    let world = world();
    let with_value = |bytes: usize| {
        world.mutation(|update| {
            let mut row = row();
            row.cells.push(Cell::live(ColumnId(4), None, 1, Bytes::from(vec![b'a'; bytes])));
            update.rows.push(row);
        })
    };
    let mut set = WriteSet::new();
    world.writer.encode(&with_value(900), &mut set).unwrap();
    let error = world.writer.encode(&with_value(1_000), &mut set).unwrap_err();
    assert!(matches!(error, WriteError::TooLarge { limit_bytes: 1_000, bytes } if bytes > 1_000), "{error}");
    // Each mutation for itself: two that fit may fill a set together.
    let two = [with_value(900), with_value(900)].concat();
    world.writer.encode(&two, &mut set).unwrap();
}

#[test]
fn what_does_not_fit_its_table_is_refused() {
    let world = world();
    let refuse = |change: &dyn Fn(&mut Row)| {
        let mut row = row();
        change(&mut row);
        let mutations = world.mutation(|update| update.rows.push(row));
        world.writer.encode(&mutations, &mut WriteSet::new()).unwrap_err()
    };
    let cell = |id: u32, path: Option<Bytes>| Cell::live(ColumnId(id), path, 1, Bytes::new());
    assert_eq!(refuse(&|row| row.cells.push(cell(9, None))), WriteError::UnknownColumn(ColumnId(9)));
    assert!(matches!(refuse(&|row| row.cells.push(cell(3, None))), WriteError::Key(_)), "a set without path");
    assert!(matches!(refuse(&|row| row.cells.push(cell(4, Some(int(1))))), WriteError::Key(_)));
    assert!(matches!(
        refuse(&|row| row.cells.push(cell(3, Some(Bytes::from_static(b"abc"))))),
        WriteError::Key(_)
    ));
    assert!(matches!(refuse(&|row| row.clustering = Clustering::empty()), WriteError::Key(_)));
    let long = Bytes::from(vec![b'k'; PARTITION_KEY_MAX_BYTES + 1]);
    let mut mutations = world.mutation(|update| update.deletion = NOW);
    mutations[0].updates[0].key = DecoratedKey::new(long);
    assert!(matches!(world.writer.encode(&mutations, &mut WriteSet::new()), Err(WriteError::Key(_))));
}

#[test]
fn covered_range_tombstones_go_and_touching_ones_join() {
    let world = world();
    for n in 0..5 {
        world.delete_range(2 * n, 2 * n + 1, 1);
    }
    assert_eq!(world.entries(), 6, "five and the head");
    world.delete_range(0, 10, 2);
    assert_eq!(world.entries(), 2, "one that covers them all");
    world.delete_range(10, 20, 2);
    assert_eq!(world.entries(), 2, "neighbours that delete the same are one");
    world.delete_range(5, 6, 3);
    assert_eq!(world.entries(), 4, "cut in three");
    world.delete_range(5, 6, 1);
    assert_eq!(world.entries(), 4, "an older one changes nothing");
}
