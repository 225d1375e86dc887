//! A node in memory: the storage crate over its engine in memory, behind the seams of the
//! coordinator and the schema's keeper.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use basalt_coordinator::{Coordinator, Counters, OnApplied, Replica, ReplicaError, Reply, TableStorage};
use basalt_model::command::ReadPage;
use basalt_model::env::{Env, SharedEnv};
use basalt_model::schema::OptionsEffect;
use basalt_model::{CounterId, Deadline, Mutation, PartitionUpdate, ReadCommand, Table, TableId};
use basalt_query::schema::{SchemaStoreParts, Scratch};
use basalt_query::system_tables::{NodeFacts, NodeViews, SettingView};
use basalt_query::{QueryProcessor, QuerySettings, SchemaSettings, SchemaStore};
use basalt_storage::engine::mem::MemEngine;
use basalt_storage::engine::{Engine, EngineError, ReadTier, Sync, WriteOptions, WriteSet};
use basalt_storage::read::{ReadError, ReadOptions, read};
use basalt_storage::write::{WriteError, Writer};

/// Runs a future that never waits.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a test future waits"),
    }
}

/// A clock that goes on a little each time it is asked, and counted random numbers.
struct TestEnv {
    micros: AtomicI64,
    random: AtomicU64,
}

impl Env for TestEnv {
    fn wall_micros(&self) -> i64 {
        self.micros.fetch_add(1, Ordering::Relaxed)
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

struct Memory {
    engine: Arc<dyn Engine>,
    writer: Writer,
}

impl Memory {
    fn new() -> Memory {
        let engine: Arc<dyn Engine> = Arc::new(MemEngine::new());
        Memory { writer: Writer::new(engine.clone(), 16 << 20), engine }
    }
}

fn engine_error(error: EngineError) -> ReplicaError {
    match error {
        EngineError::UnknownTable(table) => ReplicaError::UnknownTable(table),
        other => ReplicaError::Storage(other.to_string()),
    }
}

impl Replica for Memory {
    fn apply(&self, mutations: Vec<Mutation>, _deadline: Deadline) -> Reply<()> {
        let mut set = WriteSet::new();
        let result = self.writer.lock_and_encode(&mutations, &mut set).map_err(|error| match error {
            WriteError::TooLarge { bytes, limit_bytes } => {
                ReplicaError::MutationTooLarge { bytes, limit_bytes }
            }
            other => ReplicaError::Storage(other.to_string()),
        });
        let options = WriteOptions { sync: Sync::None, may_block: true };
        Reply::ready(result.and_then(|_guards| self.engine.write(&[&set], options).map_err(engine_error)))
    }

    fn read(&self, command: ReadCommand, _deadline: Deadline) -> Reply<ReadPage> {
        let page = read(&*self.engine, &command, &ReadOptions::new(ReadTier::All));
        Reply::ready(page.map(|outcome| outcome.page).map_err(|error| match error {
            ReadError::TombstoneOverwhelming { scanned } => ReplicaError::TombstoneOverwhelming { scanned },
            ReadError::Engine(error) => engine_error(error),
            other => ReplicaError::Storage(other.to_string()),
        }))
    }

    fn apply_then(&self, mutations: Vec<Mutation>, deadline: Deadline, on_applied: OnApplied) -> Reply<()> {
        let applied = run(self.apply(mutations, deadline));
        Reply::ready(applied.inspect(|()| on_applied()))
    }

    fn truncate(&self, table: TableId, _deadline: Deadline, on_truncated: OnApplied) -> Reply<()> {
        let truncated = self.engine.truncate_table(table).map_err(engine_error);
        Reply::ready(truncated.inspect(|()| on_truncated()))
    }
}

impl TableStorage for Memory {
    fn create(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        let create = |table: &Arc<Table>| self.engine.create_table(table.id);
        let created = tables.iter().try_for_each(create).map_err(engine_error);
        Reply::ready(created.map(|()| vec![OptionsEffect::NewFiles; tables.len()]))
    }

    fn set_options(&self, tables: Vec<Arc<Table>>) -> Reply<Vec<OptionsEffect>> {
        Reply::ready(Ok(vec![OptionsEffect::NewFiles; tables.len()]))
    }

    fn create_small(&self, tables: Vec<TableId>) -> Reply<()> {
        let mut tables = tables.into_iter();
        Reply::ready(tables.try_for_each(|table| self.engine.create_table(table)).map_err(engine_error))
    }

    fn remove(&self, tables: Vec<TableId>) -> Reply<()> {
        let mut tables = tables.into_iter();
        Reply::ready(tables.try_for_each(|table| self.engine.drop_table(table)).map_err(engine_error))
    }

    fn existing(&self) -> Reply<Vec<TableId>> {
        let tables = self.engine.tables().map_err(engine_error);
        Reply::ready(tables.map(|tables| tables.into_iter().map(|info| info.table).collect()))
    }
}

struct MemoryScratch;

impl Scratch for MemoryScratch {
    fn read(&self, rows: Vec<PartitionUpdate>, command: ReadCommand) -> Result<ReadPage, ReplicaError> {
        let memory = Memory::new();
        memory.engine.create_table(command.table.id).map_err(engine_error)?;
        let mutations = rows.into_iter().map(|update| Mutation {
            keyspace: command.table.keyspace.clone(),
            key: update.key.clone(),
            updates: vec![update],
        });
        run(memory.apply(mutations.collect(), Deadline::NEVER))?;
        run(memory.read(command, Deadline::NEVER))
    }
}

struct Views;

impl NodeViews for Views {
    fn settings(&self) -> Vec<SettingView> {
        vec![SettingView { name: "num_tokens".into(), value: Some("16".into()) }]
    }
}

/// A node with an empty data directory.
pub fn processor(
    settings: QuerySettings,
    schema_settings: SchemaSettings,
) -> (QueryProcessor, Arc<SchemaStore>) {
    let env: SharedEnv =
        Arc::new(TestEnv { micros: AtomicI64::new(1_750_000_000_000_000), random: AtomicU64::new(0) });
    let memory = Arc::new(Memory::new());
    let address = "127.0.0.9".parse().unwrap();
    let parts = SchemaStoreParts {
        env: env.clone(),
        replica: memory.clone(),
        storage: memory.clone(),
        scratch: Arc::new(MemoryScratch),
        facts: NodeFacts {
            cluster_name: "Test Cluster".into(),
            data_center: "datacenter1".into(),
            rack: "rack1".into(),
            snitch: "SimpleSnitch".into(),
            listen_address: address,
            listen_port: 7000,
            broadcast_address: address,
            broadcast_port: 7000,
            rpc_address: address,
            rpc_port: 9042,
            num_tokens: 16,
            basalt_version: "0.1.0".into(),
        },
        views: Arc::new(Views),
        settings: schema_settings,
    };
    let schema = run(SchemaStore::open(parts)).unwrap();
    let counter_id = CounterId::of_host(schema.identity().host_id);
    let counters = Counters::new(env.clone(), counter_id, 1 << 20);
    let coordinator = Coordinator::new(memory, "datacenter1".into(), counters);
    (QueryProcessor::new(env, schema.clone(), coordinator, settings), schema)
}
