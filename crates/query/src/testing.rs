//! What this crate's tests stand on: a replica in memory that merges by timestamp alone, a clock
//! that stands, and golden files.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use basalt_coordinator::{OnApplied, Replica, ReplicaError, Reply, TableStorage};
use basalt_model::command::{
    ClusteringFilter, KeyBound, KeyRange, PartitionRows, ReadPage, ReadTarget, RowSelection,
};
use basalt_model::env::Env;
use basalt_model::schema::OptionsEffect;
use basalt_model::{
    Clustering, Deadline, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, ReadCommand, Row,
    Slice, Table, TableId,
};
use parking_lot::Mutex;

use crate::schema::{SchemaStore, SchemaStoreParts, Scratch};
use crate::system_tables::{NodeFacts, NodeViews, SettingView};

/// Runs a future that never waits.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a test future waits"),
    }
}

/// A golden file's text.
pub fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A clock that stands where it is put, and counted random numbers.
#[derive(Default)]
pub struct TestEnv {
    pub micros: AtomicI64,
    random: AtomicU64,
}

impl Env for TestEnv {
    fn wall_micros(&self) -> i64 {
        self.micros.load(Ordering::Relaxed)
    }

    fn monotonic_nanos(&self) -> u64 {
        0
    }

    fn random_u64(&self) -> u64 {
        let count = self.random.fetch_add(1, Ordering::Relaxed) + 1;
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn spawn_thread(
        &self,
        _name: &str,
        _work: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        Err(std::io::Error::other("tests start no threads"))
    }
}

#[derive(Clone)]
struct Stored {
    deletion: Deletion,
    rows: Vec<Row>,
}

type Tables = BTreeMap<TableId, BTreeMap<DecoratedKey, Stored>>;

/// Rows in memory. Pages hold at most `page_rows` rows.
pub struct TestReplica {
    tables: Mutex<Tables>,
    page_rows: usize,
    /// Reads fail while it is set.
    pub fail_reads: AtomicBool,
}

impl Default for TestReplica {
    fn default() -> TestReplica {
        TestReplica { tables: Mutex::default(), page_rows: 7, fail_reads: AtomicBool::new(false) }
    }
}

fn merge_row(into: &mut Row, from: &Row) {
    into.deletion = into.deletion.merge(from.deletion);
    if from.liveness.timestamp > into.liveness.timestamp {
        into.liveness = from.liveness;
    }
    for &(column, deletion) in &from.complex_deletions {
        match into.complex_deletions.iter_mut().find(|(id, _)| *id == column) {
            Some(slot) => slot.1 = slot.1.merge(deletion),
            None => into.complex_deletions.push((column, deletion)),
        }
    }
    for cell in &from.cells {
        match into.cells.iter_mut().find(|old| old.column == cell.column && old.path == cell.path) {
            Some(old) if old.timestamp <= cell.timestamp => *old = cell.clone(),
            Some(_) => {}
            None => into.cells.push(cell.clone()),
        }
    }
    into.cells.sort_by(|a, b| (a.column, &a.path).cmp(&(b.column, &b.path)));
}

fn live(row: &Row, partition: Deletion) -> Option<Row> {
    let shadow = partition.merge(row.deletion);
    let mut row = row.clone();
    let complex = std::mem::take(&mut row.complex_deletions);
    row.deletion = Deletion::LIVE;
    if shadow.deletes(row.liveness.timestamp) {
        row.liveness = Liveness::NONE;
    }
    row.cells.retain(|cell| {
        let own = complex.iter().find(|(id, _)| *id == cell.column).map_or(Deletion::LIVE, |(_, d)| *d);
        !cell.is_tombstone() && !shadow.deletes(cell.timestamp) && !own.deletes(cell.timestamp)
    });
    (!row.is_empty()).then_some(row)
}

fn selected(table: &Table, filter: &ClusteringFilter, clustering: &Clustering) -> bool {
    let inside = |slice: &Slice| {
        table.compare_bound(&slice.start, clustering).is_lt()
            && table.compare_bound(&slice.end, clustering).is_gt()
    };
    let after =
        filter.resume_after.as_ref().is_none_or(|last| table.compare_clusterings(last, clustering).is_lt());
    after
        && match &filter.rows {
            RowSelection::Names(names) => names.contains(clustering),
            RowSelection::Slices(slices) => slices.iter().any(inside),
        }
}

fn in_range(range: &KeyRange, key: &DecoratedKey) -> bool {
    let start = match &range.start {
        KeyBound::Unbounded => true,
        KeyBound::Token { token, inclusive } => key.token > *token || (*inclusive && key.token == *token),
        KeyBound::Key { key: bound, inclusive } => key > bound || (*inclusive && key == bound),
    };
    start
        && match &range.end {
            KeyBound::Unbounded => true,
            KeyBound::Token { token, inclusive } => key.token < *token || (*inclusive && key.token == *token),
            KeyBound::Key { key: bound, inclusive } => key < bound || (*inclusive && key == bound),
        }
}

impl TestReplica {
    fn apply_update(tables: &mut Tables, update: &PartitionUpdate) {
        let partitions = tables.entry(update.table.id).or_default();
        let stored = partitions
            .entry(update.key.clone())
            .or_insert_with(|| Stored { deletion: Deletion::LIVE, rows: Vec::new() });
        stored.deletion = stored.deletion.merge(update.deletion);
        for row in &update.rows {
            let place = stored
                .rows
                .binary_search_by(|old| update.table.compare_clusterings(&old.clustering, &row.clustering));
            let index = place.unwrap_or_else(|index| {
                stored.rows.insert(index, Row::new(row.clustering.clone()));
                index
            });
            merge_row(&mut stored.rows[index], row);
        }
    }

    fn page(&self, command: &ReadCommand) -> ReadPage {
        let tables = self.tables.lock();
        let mut page = ReadPage::default();
        let mut count = 0;
        let empty = BTreeMap::new();
        let first = |partitions: &BTreeMap<DecoratedKey, Stored>, range: &KeyRange| {
            partitions.keys().find(|key| in_range(range, key)).cloned()
        };
        let partitions = tables.get(&command.table.id).unwrap_or(&empty);
        for (key, stored) in partitions {
            let filter = match &command.target {
                ReadTarget::Partition { key: wanted, filter } if wanted == key => filter.clone(),
                ReadTarget::Range { range, filter } if in_range(range, key) => {
                    let resumes = first(partitions, range).as_ref() == Some(key);
                    let resume_after = filter.resume_after.clone().filter(|_| resumes);
                    ClusteringFilter { resume_after, ..filter.clone() }
                }
                _ => continue,
            };
            let rows: Vec<Row> = stored
                .rows
                .iter()
                .filter(|row| selected(&command.table, &filter, &row.clustering))
                .filter_map(|row| live(row, stored.deletion))
                .collect();
            let room = self.page_rows - count;
            page.stopped_early = rows.len() >= room;
            let rows: Vec<Row> = rows.into_iter().take(room).collect();
            count += rows.len();
            if !rows.is_empty() {
                page.partitions.push(PartitionRows {
                    key: key.clone(),
                    static_row: None,
                    rows,
                    packed: None,
                });
            }
            if page.stopped_early {
                break;
            }
        }
        page
    }
}

impl Replica for TestReplica {
    fn apply(&self, mutations: Vec<Mutation>, _deadline: Deadline) -> Reply<()> {
        let mut tables = self.tables.lock();
        for update in mutations.iter().flat_map(|mutation| &mutation.updates) {
            TestReplica::apply_update(&mut tables, update);
        }
        Reply::ready(Ok(()))
    }

    fn read(&self, command: ReadCommand, _deadline: Deadline) -> Reply<ReadPage> {
        if self.fail_reads.load(Ordering::Relaxed) {
            return Reply::ready(Err(ReplicaError::Storage("told to fail".to_owned())));
        }
        Reply::ready(Ok(self.page(&command)))
    }

    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        on_applied();
        self.apply(mutations, deadline)
    }

    fn truncate(&self, table: TableId, _deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        self.tables.lock().remove(&table);
        on_truncated();
        Reply::ready(Ok(()))
    }
}

/// Storage that is only a list. What it says of options goes by their comment.
#[derive(Default)]
pub struct TestStorage(pub Mutex<Vec<TableId>>);

impl TableStorage for TestStorage {
    fn create(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        self.0.lock().extend(tables.iter().map(|table| table.id));
        self.set_options(tables)
    }

    fn set_options(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        let effect = |table: &Arc<Table>| match table.options.comment.as_str() {
            "shares" => OptionsEffect::Shared,
            "waits" => OptionsEffect::NextStart,
            _ => OptionsEffect::NewFiles,
        };
        Reply::ready(Ok(tables.iter().map(effect).collect()))
    }

    fn create_small(&self, tables: Vec<TableId>) -> Reply<()> {
        self.0.lock().extend(tables);
        Reply::ready(Ok(()))
    }

    fn remove(&self, tables: Vec<TableId>) -> Reply<()> {
        self.0.lock().retain(|table| !tables.contains(table));
        Reply::ready(Ok(()))
    }

    fn existing(&self) -> Reply<Vec<TableId>> {
        Reply::ready(Ok(self.0.lock().clone()))
    }
}

/// Reads virtual tables over a replica of their own.
pub struct TestScratch;

impl Scratch for TestScratch {
    fn read(&self, rows: Vec<PartitionUpdate>, command: ReadCommand) -> Result<ReadPage, ReplicaError> {
        let replica = TestReplica { page_rows: usize::MAX, ..TestReplica::default() };
        for update in &rows {
            TestReplica::apply_update(&mut replica.tables.lock(), update);
        }
        Ok(replica.page(&command))
    }
}

/// A node that has two settings.
pub struct TestViews;

impl NodeViews for TestViews {
    fn settings(&self) -> Vec<SettingView> {
        let setting = |name: &str, value: &str| SettingView { name: name.into(), value: Some(value.into()) };
        vec![setting("num_tokens", "16"), setting("cluster_name", "Test Cluster")]
    }
}

/// What outlives a restart.
#[derive(Clone)]
pub struct TestNode {
    pub env: Arc<TestEnv>,
    pub replica: Arc<TestReplica>,
    pub storage: Arc<TestStorage>,
}

impl TestNode {
    /// An empty node.
    pub fn new() -> TestNode {
        let env = TestEnv::default();
        env.micros.store(1_700_000_000_000_000, Ordering::Relaxed);
        TestNode { env: Arc::new(env), replica: Arc::default(), storage: Arc::default() }
    }

    /// What a store is made of.
    pub fn parts(&self) -> SchemaStoreParts {
        let localhost = "127.0.0.9".parse().unwrap();
        SchemaStoreParts {
            env: self.env.clone(),
            replica: self.replica.clone(),
            storage: self.storage.clone(),
            scratch: Arc::new(TestScratch),
            facts: NodeFacts {
                cluster_name: "Test Cluster".into(),
                data_center: "datacenter1".into(),
                rack: "rack1".into(),
                snitch: "DynamicEndpointSnitch".into(),
                listen_address: localhost,
                listen_port: 7000,
                broadcast_address: localhost,
                broadcast_port: 7000,
                rpc_address: localhost,
                rpc_port: 9042,
                num_tokens: 16,
                basalt_version: "0.1.0".into(),
            },
            views: Arc::new(TestViews),
            settings: Default::default(),
        }
    }

    /// Starts it.
    pub fn open(&self) -> Arc<SchemaStore> {
        run(SchemaStore::open(self.parts())).unwrap()
    }
}
