//! What storage itself costs on the paths every request takes, over the engine in memory: encoding a
//! row, a point read, a slice of 50 rows, merging two versions.

use std::hint::black_box;
use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::schema::{ClusteringOrder, Column, ColumnId, ColumnKind, TableId, TableOptions};
use basalt_model::{
    Cell, Clustering, DataType, DecoratedKey, Liveness, Mutation, PartitionUpdate, ReadCommand, Row, Slice,
    Table,
};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Engine, ReadTier, Sync, WriteOptions, WriteSet};
use basalt_storage::read::{self, ReadOptions};
use basalt_storage::write::Writer;
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};

/// `(k text, c int, v0 text .. v4 text, PRIMARY KEY (k, c))`: an APM record with a clustering column.
fn table() -> Arc<Table> {
    let column = |name: String, data_type, kind, id| Column {
        name: name.into(),
        data_type,
        kind,
        position: 0,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    };
    let mut columns = vec![
        column("k".into(), DataType::Text, ColumnKind::PartitionKey, 0),
        column("c".into(), DataType::Int, ColumnKind::Clustering, 1),
    ];
    columns.extend((0..5).map(|i| column(format!("v{i}"), DataType::Text, ColumnKind::Regular, 2 + i)));
    Arc::new(Table {
        id: TableId(uuid::Uuid::from_u128(1)),
        keyspace: "ks".into(),
        name: "t".into(),
        columns,
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

fn clustering(c: i32) -> Clustering {
    Clustering::from_values([Bytes::copy_from_slice(&c.to_be_bytes())])
}

fn mutation(table: &Arc<Table>, c: i32) -> Mutation {
    let key = DecoratedKey::new(Bytes::from_static(b"Host0007/Ag3/Svlt12/AvRsT"));
    let mut row = Row::new(clustering(c));
    row.liveness = Liveness::at(1_700_000_000_000_000);
    row.cells = (2..7)
        .map(|id| Cell::live(ColumnId(id), None, 1_700_000_000_000_000, Bytes::from_static(b"0123456789")))
        .collect();
    let mut update = PartitionUpdate::new(table.clone(), key.clone());
    update.rows.push(row);
    Mutation { keyspace: table.keyspace.clone(), key, updates: vec![update] }
}

fn command(table: &Arc<Table>, rows: RowSelection, limit: u32) -> ReadCommand {
    ReadCommand {
        table: table.clone(),
        now_s: 1_700_000_001,
        columns: ColumnFilter::All,
        row_filter: RowFilter::default(),
        layout: None,
        limits: DataLimits { rows: limit, ..DataLimits::NONE },
        target: ReadTarget::Partition {
            key: DecoratedKey::new(Bytes::from_static(b"Host0007/Ag3/Svlt12/AvRsT")),
            filter: ClusteringFilter { rows, reversed: false, resume_after: None },
        },
    }
}

fn paths(criterion: &mut Criterion) {
    let engine: Arc<dyn Engine> = Arc::new(MemEngine::new());
    let table = table();
    engine.create_table(table.id).expect("the engine is empty");
    let writer = Writer::new(engine.clone(), 16 << 20);
    for c in 0..1000 {
        let mut set = WriteSet::new();
        writer.encode(&[mutation(&table, c)], &mut set).expect("the row fits");
        engine.write(&[&set], WriteOptions { sync: Sync::None, may_block: true }).expect("memory takes it");
    }
    let row = [mutation(&table, 500)];
    criterion.bench_function("encode a row of five cells", |bencher| {
        bencher.iter(|| {
            let mut set = WriteSet::new();
            writer.encode(black_box(&row), &mut set).expect("the row fits");
            set
        });
    });
    let options = ReadOptions::new(ReadTier::CacheOnly);
    let point = command(&table, RowSelection::Names(vec![clustering(500)]), 1);
    criterion.bench_function("read one row", |bencher| {
        bencher.iter(|| read::read(&*engine, black_box(&point), &options).expect("it is there"));
    });
    let slice = command(&table, RowSelection::Slices(vec![Slice::all()]), 50);
    criterion.bench_function("read 50 rows", |bencher| {
        bencher.iter(|| read::read(&*engine, black_box(&slice), &options).expect("they are there"));
    });
}

criterion_group!(benches, paths);
criterion_main!(benches);
