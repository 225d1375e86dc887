//! Random histories of writes, purges, restarts and whatever else an engine does, against a model that keeps every
//! update and never purges. For tests of this crate and of `rocks`; panics where the two differ.
//!
//! Purges may not be seen: what a client reads is what it would read had nothing ever been taken out. The one
//! exception, data that is written after a tombstone that is younger than it was purged, is not written here. And
//! they must do their work: when everything has been dead for long enough, nothing dead is stored any more.

mod model;
mod numbers;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::JoinHandle;

use basalt_model::command::{ClusteringFilter, ColumnFilter, DataLimits, KeyRange, ReadTarget, RowFilter};
use basalt_model::env::{Env, SharedEnv};
use basalt_model::schema::{ClusteringOrder, Column, ColumnKind, TableOptions};
use basalt_model::{
    ColumnId, DataType, DecoratedKey, Mutation, PartitionUpdate, ReadCommand, Row, Table, TableId,
};

use crate::cells::{CELL_TAG, CellEntry, ROW_TAG, RowEntry};
use crate::commit::{Committer, SyncMode};
use crate::engine::{CursorOptions, Engine, ReadTier, WriteSet};
use crate::purge::{KnownWindows, Purger, Terms};
use crate::read::{ReadOptions, read};
use crate::write::Writer;

pub use model::{covers, expected_rows};
pub use numbers::{Numbers, Times};

/// Write time 0 by the wall clock, seconds.
pub const EPOCH_S: i64 = 1_000;

const GC_GRACE_S: u32 = 6;
const STEPS: u64 = 60;

pub(crate) const S: ColumnId = ColumnId(20);
pub(crate) const V: ColumnId = ColumnId(10);
pub(crate) const M: ColumnId = ColumnId(11);
pub(crate) const W: ColumnId = ColumnId(12);

/// An environment whose threads are real and whose clocks stand.
pub struct StandingClocks;

impl Env for StandingClocks {
    fn wall_micros(&self) -> i64 {
        0
    }

    fn monotonic_nanos(&self) -> u64 {
        0
    }

    fn random_u64(&self) -> u64 {
        4
    }

    #[allow(clippy::disallowed_methods)]
    fn spawn_thread(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

/// A column, ascending if it is a clustering column.
pub fn column(name: &str, data_type: DataType, kind: ColumnKind, position: u16, id: u32) -> Column {
    Column {
        name: name.into(),
        data_type,
        kind,
        position,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    }
}

/// A table of these columns, which are in table order.
pub fn table(columns: Vec<Column>) -> Table {
    let count = |kind| columns.iter().filter(|column| column.kind == kind).count();
    Table {
        id: TableId(uuid::Uuid::from_u128(7)),
        keyspace: "ks".into(),
        name: "t".into(),
        partition_key_count: count(ColumnKind::PartitionKey),
        clustering_count: count(ColumnKind::Clustering),
        static_count: count(ColumnKind::Static),
        columns,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: vec!["compound".to_owned()],
        compact: None,
        is_virtual: false,
    }
}

/// The table of all histories. Without the map every row is one entry, and reads by name look entries up.
pub fn test_table(has_map: bool) -> Arc<Table> {
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

/// Where a history takes place.
pub trait Ground {
    /// The engine; called again after a restart, when nobody holds the last one any more.
    fn open(&mut self) -> Arc<dyn Engine>;

    /// Does with the table what may happen to it at any time: flushes, compactions.
    fn disturb(&mut self, table: TableId, numbers: &mut Numbers);

    /// Who is to be told of the writes: another committer than theirs is a planted fault.
    fn watched(&self, engine: &Arc<dyn Engine>, committer: &Arc<Committer>) -> Arc<Committer> {
        let _ = engine;
        Arc::clone(committer)
    }
}

/// A partition: key, static row, rows.
pub type Shown = (DecoratedKey, Option<Row>, Vec<Row>);

/// What every partition shows at `now_s`, in ring order.
pub fn expected(table: &Table, updates: &[PartitionUpdate], now_s: i64) -> Vec<Shown> {
    let mut by_key: BTreeMap<DecoratedKey, Vec<&PartitionUpdate>> = BTreeMap::new();
    for update in updates {
        by_key.entry(update.key.clone()).or_default().push(update);
    }
    let partitions = by_key.into_iter().map(|(key, updates)| {
        let (static_row, rows) = expected_rows(table, &updates, now_s);
        (key, static_row, rows)
    });
    partitions.filter(|(_, s, rows)| s.is_some() || !rows.is_empty()).collect()
}

/// An engine with all that writes to it.
pub struct Store {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Purges it.
    pub purger: Purger,
    writer: Arc<Writer>,
    committer: Arc<Committer>,
}

impl Store {
    /// On an engine that the ground opens.
    pub fn open(ground: &mut dyn Ground, env: &SharedEnv) -> Store {
        let engine = ground.open();
        let writer = Arc::new(Writer::new(Arc::clone(&engine), 1 << 20));
        let never = SyncMode::Periodic { period_ms: 3_600_000, lag_block_ms: u64::MAX };
        let committer = Committer::start(Arc::clone(&engine), Arc::clone(env), never).expect("a committer");
        let committer = Arc::new(committer);
        let watched = ground.watched(&engine, &committer);
        let purger = Purger::new(Arc::clone(&engine), Arc::clone(&writer), watched);
        Store { engine, purger, writer, committer }
    }

    /// Writes an update and waits for it.
    pub fn write(&self, update: PartitionUpdate) {
        let mutations = [Mutation { keyspace: "ks".into(), key: update.key.clone(), updates: vec![update] }];
        let mut set = WriteSet::new();
        let _guards = match self.writer.waits(&mutations) {
            true => Some(self.writer.lock_and_encode(&mutations, &mut set).expect("an encoding")),
            false => {
                self.writer.encode(&mutations, &mut set).expect("an encoding");
                None
            }
        };
        self.committer.commit(set).expect("a commit");
    }

    /// What clients see of a table.
    pub fn shown(&self, table: &Arc<Table>, now_s: i64) -> Vec<Shown> {
        let command = ReadCommand {
            table: Arc::clone(table),
            now_s,
            columns: ColumnFilter::All,
            row_filter: RowFilter::default(),
            limits: DataLimits::NONE,
            target: ReadTarget::Range { range: KeyRange::all(), filter: ClusteringFilter::all() },
            layout: None,
        };
        let page = read(&*self.engine, &command, &ReadOptions::new(ReadTier::All)).expect("a read").page;
        page.partitions.into_iter().map(|p| (p.key, p.static_row, p.rows)).collect()
    }
}

/// One history.
struct History<'g> {
    seed: u64,
    numbers: Numbers,
    table: Arc<Table>,
    has_ranges: bool,
    ground: &'g mut dyn Ground,
    env: SharedEnv,
    store: Option<Store>,
    updates: Vec<PartitionUpdate>,
    now_s: i64,
    /// What is known of past windows.
    known: KnownWindows,
    /// Data older than this could have been shadowed by a tombstone that was purged.
    oldest_data: i64,
}

/// Runs the history of a seed.
pub fn run(seed: u64, ground: &mut dyn Ground, env: &SharedEnv) {
    let mut numbers = Numbers::new(seed);
    let table = test_table(numbers.chance(6));
    let has_ranges = numbers.chance(6);
    let store = Some(Store::open(ground, env));
    let (env, updates) = (Arc::clone(env), Vec::new());
    let mut history = History {
        seed,
        numbers,
        table,
        has_ranges,
        ground,
        env,
        store,
        updates,
        now_s: EPOCH_S + 10,
        oldest_data: 0,
        known: KnownWindows::new(),
    };
    history.store().engine.create_table(history.table.id).expect("a table");
    for _ in 0..STEPS {
        history.step();
    }
    history.ends_clean();
}

impl History<'_> {
    fn store(&self) -> &Store {
        self.store.as_ref().expect("only a restart takes them")
    }

    fn step(&mut self) {
        match self.numbers.below(12) {
            0 => self.now_s += 1 + self.numbers.below(5) as i64,
            1 | 2 => {
                let chunk_bytes = if self.numbers.chance(5) { usize::MAX } else { 40 };
                self.purge(self.now_s, GC_GRACE_S, chunk_bytes, true);
                self.check("after a purge");
            }
            3 => {
                self.ground.disturb(self.table.id, &mut self.numbers);
                self.check("after a disturbance");
            }
            4 if self.numbers.chance(3) => {
                self.store = None;
                self.store = Some(Store::open(self.ground, &self.env));
                self.check("after a restart");
            }
            _ => {
                let update = self.update();
                self.store().write(update);
            }
        }
    }

    fn update(&mut self) -> PartitionUpdate {
        self.numbers.times = Times::Real { oldest_data: self.oldest_data, newest: self.now_s - EPOCH_S };
        let update = self.numbers.update(&self.table, self.has_ranges);
        self.updates.push(update.clone());
        update
    }

    /// Purges the whole table. Writes come in between: before the first purge is written such as purges may not
    /// forget, later only those that no purge concerns.
    fn purge(&mut self, now_s: i64, gc_grace_s: u32, chunk_bytes: usize, is_disturbed: bool) {
        let store = self.store.take().expect("only a restart takes them");
        let table = Arc::clone(&self.table);
        let terms = Terms { chunk_bytes, batch_bytes: usize::MAX, ..Terms::new(now_s, gc_grace_s) };
        if !store.engine.past_windows(table.id).expect("windows").is_empty() {
            self.drop_windows(&store, terms, is_disturbed);
            self.store = Some(store);
            return;
        }
        let mut next = Some(Vec::new());
        let mut is_first = true;
        while let Some(from) = next {
            let mut pace = |_| {
                let writes = if is_first { 3 } else { self.numbers.below(2) };
                for _ in 0..if is_disturbed { writes } else { 0 } {
                    let update = self.update();
                    store.write(update);
                }
                is_first = false;
                self.oldest_data = self.oldest_data.max(terms.gc_before_s - EPOCH_S);
                ControlFlow::Continue(())
            };
            next = store.purger.purge(&table, &from, terms, &mut pace).expect("a purge").next;
        }
        self.oldest_data = self.oldest_data.max(terms.gc_before_s - EPOCH_S);
        self.store = Some(store);
    }

    /// Drops past windows, with writes in between that may be older than what goes.
    fn drop_windows(&mut self, store: &Store, terms: Terms, is_disturbed: bool) {
        let table = Arc::clone(&self.table);
        let mut known = std::mem::take(&mut self.known);
        let mut pace = |_| {
            if is_disturbed && self.numbers.chance(3) {
                let update = self.update();
                store.write(update);
            }
            ControlFlow::Continue(())
        };
        let counts = store.purger.drop_windows(&table, &mut known, terms, &mut pace).expect("a look");
        self.known = known;
        if counts.purged > 0 {
            self.oldest_data = self.oldest_data.max(terms.gc_before_s - EPOCH_S);
        }
    }

    fn check(&mut self, when: &str) {
        let found = self.store().shown(&self.table, self.now_s);
        let expected = expected(&self.table, &self.updates, self.now_s);
        assert_eq!(found, expected, "seed {}, {when}", self.seed);
    }

    /// Long after everything that expires has expired, nothing dead is stored any more.
    fn ends_clean(&mut self) {
        self.now_s += 1_000;
        self.purge(self.now_s, 0, usize::MAX, false);
        self.check("at the end");
        let engine = Arc::clone(&self.store().engine);
        if !engine.past_windows(self.table.id).expect("windows").is_empty() {
            // Such tables give back whole windows only.
            return;
        }
        let options = CursorOptions { tier: ReadTier::All, lower: &[], upper: None, fills_cache: true };
        let mut cursor = engine.cursor(self.table.id, options).expect("a cursor");
        let mut is_at = cursor.seek(&[]).expect("a move");
        while is_at {
            let value = cursor.value();
            let is_live = match value.first() {
                Some(&ROW_TAG) => !RowEntry::parse(value).expect("a row").is_mortal(),
                Some(&CELL_TAG) => !CellEntry::parse(value).expect("a cell").data.is_tombstone(),
                _ => false,
            };
            assert!(is_live, "seed {}: {:02x?} is still there", self.seed, value);
            is_at = cursor.next().expect("a move");
        }
    }
}
