//! A node from start to drain. Joins the parts; knows none from inside.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use basalt_coordinator::{Coordinator, Counters, Replica, TableStorage};
use basalt_model::env::SharedEnv;
use basalt_model::{CounterId, Table};
use basalt_query::schema::{SchemaError, SchemaStoreParts, Scratch};
use basalt_query::system_tables::NodeFacts;
use basalt_query::{QueryProcessor, SchemaAccess, SchemaStore};
use basalt_storage::commit::{CommitError, Committer, SyncMode};
use basalt_storage::engine::{Engine, EngineError};
use basalt_storage::purge::Purger;
use basalt_storage::write::Writer;
use parking_lot::Mutex;
use tokio::runtime;
use tokio::sync::watch;

use crate::admin::{Admin, AdminServer};
use crate::alike::Alike;
use crate::auth::{AllowAll, Authenticator};
use crate::clients::{Clients, End};
use crate::config::settings::{CommitlogSync, Settings};
use crate::context::Context;
use crate::disk::{self, Disk};
use crate::exposition::Exposition;
use crate::flushing;
use crate::limits::NodeLimits;
use crate::listener::{self, Bound};
use crate::local_replica::{LocalReplica, TombstoneThresholds};
use crate::metrics::{Recorders, recorders};
use crate::pool::Pool;
use crate::purging::Purging;
use crate::reactor::Reactor;
use crate::scratch::MemoryScratch;
use crate::snapshots::{Expiry, Snapshots};
use crate::table_metrics::TableMetrics;
use crate::table_storage::EngineTables;
use crate::views::Views;
use crate::watching::Watching;

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The operating system refused a thread, a socket or a runtime.
    #[error("{what}: {error}")]
    System {
        /// What was asked of it.
        what: &'static str,
        /// What it said.
        error: std::io::Error,
    },
    /// The stored schema cannot be read.
    #[error("{0}")]
    Schema(#[from] SchemaError),
}

/// Why a node could not bring everything to disk.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// The commit log.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> StartError {
    move |error| StartError::System { what, error }
}

/// What serves statements; replaced in tests.
pub struct Service {
    /// Runs statements.
    pub processor: Arc<QueryProcessor>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// Who may enter.
    pub authenticator: Arc<dyn Authenticator>,
    /// Where reactors record times of requests, one for each.
    pub recorders: Recorders,
}

/// Clients being served: the listener and the reactors.
pub struct Server {
    /// Where clients connect.
    pub address: SocketAddr,
    context: Arc<Context>,
    reactors: Arc<Vec<Reactor>>,
    listener: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Starts reactors and listens.
    ///
    /// # Errors
    /// No thread, no runtime, or the port went to somebody else meanwhile.
    pub fn start(
        settings: &Settings,
        env: &SharedEnv,
        service: Service,
        bound: Bound,
    ) -> Result<Server, StartError> {
        let address = bound.address;
        let context = Arc::new(Context {
            env: Arc::clone(env),
            processor: service.processor,
            clients: service.clients,
            limits: Arc::new(NodeLimits::new(&settings.transport)),
            transport: settings.transport.clone(),
            authenticator: service.authenticator,
            slow_query_nanos: settings.slow_query_log_ms.map(|millis| millis * 1_000_000),
            address: SocketAddr::new(settings.broadcast_rpc_address, address.port()),
            next_connection: AtomicU64::new(0),
        });
        let mut reactors = Vec::new();
        for (index, recorder) in service.recorders.iter().enumerate() {
            let reactor = Reactor::start(index, Arc::clone(&context), Arc::clone(recorder));
            reactors.push(reactor.map_err(system("starting a reactor"))?);
        }
        let reactors = Arc::new(reactors);
        let (stop, stopping) = watch::channel(false);
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(system("starting the listener"))?;
        let listener = {
            let _entered = runtime.enter();
            bound.listen().map_err(system("listening for clients"))?
        };
        let accept = listener::accept(listener, Arc::clone(&context.limits), Arc::clone(&reactors), stopping);
        let listener = env
            .spawn_thread("listener", Box::new(move || runtime.block_on(accept)))
            .map_err(system("starting the listener"))?;
        Ok(Server { address, context, reactors, listener, stop })
    }

    /// Who is connected.
    pub fn clients(&self) -> &Clients {
        &self.context.clients
    }

    /// Takes no more connections and no more requests, lets running ones end (at most
    /// `native_transport_timeout`), closes the connections.
    pub fn drain(self) {
        self.stop.send_replace(true);
        if self.listener.join().is_err() {
            tracing::error!("the listener's thread died");
        }
        let context = &self.context;
        let deadline = context.env.monotonic_nanos() + context.transport.request_timeout_ms * 1_000_000;
        while !context.clients.is_empty() || self.reactors.iter().any(|reactor| reactor.load() > 0) {
            let is_late = context.env.monotonic_nanos() > deadline;
            if is_late {
                tracing::warn!("Some connections took longer than the native transport timeout to complete");
            }
            context.clients.end_all(if is_late { End::Abandon } else { End::Drain });
            thread::park_timeout(Duration::from_millis(5));
        }
        // The listener is gone: this is the last owner.
        if let Some(reactors) = Arc::into_inner(self.reactors) {
            reactors.into_iter().for_each(Reactor::join);
        }
        tracing::info!("Stop listening for CQL clients");
    }
}

/// What a mutation may write, for each byte of `max_mutation_size`, which is measured as Cassandra sends it: every key in storage
/// holds that of its partition. The bound is one of memory; the client's is [`basalt_query`]'s matter.
const WRITTEN_PER_SENT: usize = 4;

/// What storage gives a node.
pub struct Storage {
    /// Where data is.
    pub engine: Arc<dyn Engine>,
    /// This node's own data.
    pub replica: Arc<dyn Replica>,
    /// Reads over rows that are stored nowhere.
    pub scratch: Arc<dyn Scratch>,
    /// Waits for the disk.
    pub pool: Arc<Pool>,
    /// Makes write sets of mutations.
    pub writer: Arc<Writer>,
    /// Makes writes durable.
    pub committer: Arc<Committer>,
    /// What follows when the disk fails or fills.
    pub disk: Arc<Disk>,
    /// Keeps data that is about to go.
    pub snapshots: Arc<Snapshots>,
    /// What reads and writes of each table cost.
    pub metrics: Arc<TableMetrics>,
}

impl Storage {
    /// Everything over one engine.
    ///
    /// # Errors
    /// No thread for the commit log.
    pub fn open(settings: &Settings, env: SharedEnv, engine: Arc<dyn Engine>) -> Result<Storage, StartError> {
        let mode = match settings.commitlog_sync {
            CommitlogSync::Batch => SyncMode::Batch,
            CommitlogSync::Group { window_ms } => SyncMode::Group { window_ms },
            CommitlogSync::Periodic { period_ms, lag_block_ms } => {
                SyncMode::Periodic { period_ms, lag_block_ms }
            }
        };
        let committer = Committer::start(Arc::clone(&engine), Arc::clone(&env), mode)
            .map_err(system("starting the commit log"))?;
        let committer = Arc::new(committer);
        let pool = Arc::new(Pool::new("disk", Arc::clone(&env), settings.pool_threads));
        let max_mutation_bytes = usize::try_from(settings.max_mutation_bytes).unwrap_or(usize::MAX);
        let written_max_bytes = max_mutation_bytes.saturating_mul(WRITTEN_PER_SENT);
        let writer = Arc::new(Writer::new(Arc::clone(&engine), written_max_bytes));
        let disk = Arc::new(Disk::new(settings.disk));
        let snapshots = Snapshots::open(
            Arc::clone(&env),
            Arc::clone(&engine),
            &settings.data_dir,
            settings.auto_snapshot,
        )
        .map_err(system("removing unfinished snapshots"))?;
        let snapshots = Arc::new(snapshots);
        let metrics = Arc::new(TableMetrics::new(Arc::clone(&env), settings.reactors));
        let replica = LocalReplica::new(
            env,
            Arc::clone(&engine),
            Arc::clone(&writer),
            Arc::clone(&committer),
            Arc::clone(&pool),
            Arc::clone(&disk),
            TombstoneThresholds {
                warn: settings.query.tombstone_warn_threshold,
                failure: settings.query.tombstone_failure_threshold,
            },
        );
        let replica = replica.keeping(Arc::clone(&snapshots)).recording(Arc::clone(&metrics));
        let replica = Arc::new(replica);
        let scratch = Arc::new(MemoryScratch);
        Ok(Storage { engine, replica, scratch, pool, writer, committer, disk, snapshots, metrics })
    }

    /// The same without storage, as far as clients' tables are concerned: see [`Alike`].
    pub fn answering_alike(self) -> Storage {
        Storage { replica: Arc::new(Alike::new(self.replica)), ..self }
    }
}

/// A running node.
pub struct Node {
    /// `None` with `start_native_transport: false`.
    pub server: Option<Server>,
    /// The schema's keeper.
    pub schema: Arc<SchemaStore>,
    /// Runs statements.
    pub processor: Arc<QueryProcessor>,
    clients: Arc<Clients>,
    recorders: Recorders,
    purging: Purging,
    flushing: Watching,
    watching: Watching,
    storage: Storage,
    admin: Option<AdminServer>,
    expiry: Expiry,
}

impl Node {
    /// Starts a node over an engine. `bound` is where it is to listen.
    ///
    /// # Errors
    /// One line for the operator.
    pub fn start(
        settings: &Settings,
        env: SharedEnv,
        storage: Storage,
        bound: Option<Bound>,
    ) -> Result<Node, StartError> {
        let clients = Arc::new(Clients::default());
        let recorders = recorders(settings.reactors);
        let tables: Arc<dyn TableStorage> = Arc::new(EngineTables::new(
            Arc::clone(&storage.engine),
            Arc::clone(&storage.pool),
            Arc::clone(&storage.disk),
            Arc::clone(&storage.snapshots),
        ));
        let views = views(settings, &env, &storage, &clients, &recorders);
        let parts = SchemaStoreParts {
            env: Arc::clone(&env),
            replica: Arc::clone(&storage.replica),
            storage: tables,
            scratch: Arc::clone(&storage.scratch),
            facts: facts(settings, bound.as_ref().map(|bound| bound.address.port())),
            views: Arc::new(views),
            settings: settings.schema,
        };
        let runtime = runtime::Builder::new_current_thread().build().map_err(system("starting"))?;
        let schema = runtime.block_on(SchemaStore::open(parts))?;
        storage.snapshots.know(&schema);
        follow_changes(&schema, &clients, &storage.metrics);
        let counter_id = CounterId::of_host(schema.identity().host_id);
        let counters = Counters::new(Arc::clone(&env), counter_id, settings.counter_cache_bytes);
        let replica = Arc::clone(&storage.replica);
        let coordinator = Coordinator::new(replica, settings.datacenter.as_str().into(), counters)
            .at(SocketAddr::new(settings.broadcast_address, settings.storage_port))
            .with_timeouts(Arc::clone(&env), settings.timeouts)
            .observed_by(Arc::clone(&storage.metrics) as _);
        let processor = Arc::new(QueryProcessor::new(
            Arc::clone(&env),
            Arc::clone(&schema) as Arc<dyn SchemaAccess>,
            coordinator,
            settings.query.clone(),
        ));
        let purging = start_purging(settings, &env, &storage, &schema)?;
        let expiry = Expiry::start(&env, Arc::clone(&storage.snapshots))
            .map_err(system("starting to remove snapshots"))?;
        let flushing = start_flushing(&env, &storage, &schema)?;
        let watching = start_watching(&env, &storage, &schema)?;
        let service = Service {
            processor: Arc::clone(&processor),
            clients: Arc::clone(&clients),
            authenticator: Arc::new(AllowAll),
            recorders: Arc::clone(&recorders),
        };
        let server = bound.map(|bound| Server::start(settings, &env, service, bound)).transpose()?;
        Ok(Node {
            server,
            schema,
            processor,
            clients,
            recorders,
            purging,
            flushing,
            watching,
            storage,
            admin: None,
            expiry,
        })
    }

    /// Listens for `nodetool`; answers where.
    ///
    /// # Errors
    /// No thread, or the port went to somebody else meanwhile.
    pub fn start_admin(&mut self, env: SharedEnv, bound: Bound) -> std::io::Result<SocketAddr> {
        let for_pages = Arc::clone(&env);
        let admin = Admin {
            env,
            engine: Arc::clone(&self.storage.engine),
            schema: Arc::clone(&self.schema),
            purges: self.purging.purges(),
            snapshots: Arc::clone(&self.storage.snapshots),
            processor: Arc::clone(&self.processor),
        };
        let server = AdminServer::start(admin, self.exposition(for_pages), bound)?;
        Ok(self.admin.insert(server).address)
    }

    /// What Prometheus is shown.
    fn exposition(&self, env: SharedEnv) -> Exposition {
        let storage = &self.storage;
        Exposition {
            env,
            engine: Arc::clone(&storage.engine),
            schema: Arc::clone(&self.schema),
            tables: Arc::clone(&storage.metrics),
            committer: Arc::clone(&storage.committer),
            pool: Arc::clone(&storage.pool),
            clients: Arc::clone(&self.clients),
            requests: Arc::clone(&self.recorders),
            last: Mutex::default(),
        }
    }

    /// Serves clients no more; everything else stays (`StorageService.stopTransports`).
    pub fn stop_transports(&mut self) {
        if let Some(server) = self.server.take() {
            server.drain();
        }
    }

    /// Ends the node: clients first, then work for the disk, then memtables and log.
    ///
    /// # Errors
    /// The engine could not bring everything to disk.
    pub fn drain(mut self) -> Result<(), DrainError> {
        self.stop_transports();
        if let Some(admin) = &mut self.admin {
            admin.stop();
        }
        self.expiry.stop();
        self.purging.stop();
        self.flushing.stop();
        self.watching.stop();
        self.storage.pool.close();
        let committed = self.storage.committer.stop();
        // Whatever the log says, memtables that can be written are.
        let closed = self.storage.engine.close();
        if let Some(admin) = self.admin {
            admin.join();
        }
        closed?;
        Ok(committed?)
    }
}

fn views(
    settings: &Settings,
    env: &SharedEnv,
    storage: &Storage,
    clients: &Arc<Clients>,
    recorders: &Recorders,
) -> Views {
    Views {
        config: settings.config.clone(),
        clients: Arc::clone(clients),
        pool: Arc::clone(&storage.pool),
        engine: Arc::clone(&storage.engine),
        snapshots: Arc::clone(&storage.snapshots),
        committer: Arc::clone(&storage.committer),
        started_micros: env.wall_micros(),
        metrics: Arc::clone(&storage.metrics),
        recorders: Arc::clone(recorders),
    }
}

/// Who hears of changes of the schema.
fn follow_changes(schema: &Arc<SchemaStore>, clients: &Arc<Clients>, metrics: &Arc<TableMetrics>) {
    let clients = Arc::clone(clients);
    schema.on_change(Box::new(move |change| clients.tell_all(change)));
    let (metrics, known) = (Arc::clone(metrics), Arc::downgrade(schema));
    schema.on_change(Box::new(move |_| {
        if let Some(schema) = known.upgrade() {
            let schema = schema.current();
            metrics.keep(|table| schema.tables_by_id.contains_key(&table));
        }
    }));
}

fn start_purging(
    settings: &Settings,
    env: &SharedEnv,
    storage: &Storage,
    schema: &Arc<SchemaStore>,
) -> Result<Purging, StartError> {
    let engine = &storage.engine;
    let purger = Purger::new(Arc::clone(engine), Arc::clone(&storage.writer), Arc::clone(&storage.committer));
    let schema = Arc::clone(schema);
    let tables = move || {
        let schema = schema.current();
        schema.tables_by_id.values().filter(|table| !table.is_virtual).cloned().collect()
    };
    let rate = settings.purge_bytes_per_second;
    Purging::start(Arc::clone(env), Arc::clone(engine), purger, Box::new(tables), rate)
        .map_err(system("starting to purge"))
}

fn start_flushing(
    env: &SharedEnv,
    storage: &Storage,
    schema: &Arc<SchemaStore>,
) -> Result<Watching, StartError> {
    let schema = Arc::clone(schema);
    let asking = move || {
        let schema = schema.current();
        let asks = |table: &&Arc<Table>| table.options.memtable_flush_period_in_ms > 0 && !table.is_virtual;
        schema.tables_by_id.values().filter(asks).cloned().collect()
    };
    flushing::start(Arc::clone(env), Arc::clone(&storage.engine), Box::new(asking))
        .map_err(system("starting to flush"))
}

fn start_watching(
    env: &SharedEnv,
    storage: &Storage,
    schema: &Arc<SchemaStore>,
) -> Result<Watching, StartError> {
    let (engine, committer) = (Arc::clone(&storage.engine), Arc::clone(&storage.committer));
    let (disk, schema) = (Arc::clone(&storage.disk), Arc::clone(schema));
    let name_of = disk::names(move || schema.current().tables_by_id.values().cloned().collect());
    // Whoever comes first finds a full disk full.
    let first = disk.look(&*engine, &committer, &name_of);
    let look = move || disk.look(&*engine, &committer, &name_of);
    Watching::start(env, "disk-watch", first, Box::new(look)).map_err(system("starting to watch the disk"))
}

fn facts(settings: &Settings, port: Option<u16>) -> NodeFacts {
    NodeFacts {
        cluster_name: settings.cluster_name.clone(),
        data_center: settings.datacenter.clone(),
        rack: settings.rack.clone(),
        // What Cassandra shows whatever `endpoint_snitch` says, unless `dynamic_snitch` is off.
        snitch: "DynamicEndpointSnitch".to_owned(),
        listen_address: settings.listen_address,
        listen_port: settings.storage_port,
        broadcast_address: settings.broadcast_address,
        broadcast_port: settings.storage_port,
        rpc_address: settings.broadcast_rpc_address,
        rpc_port: port.unwrap_or_else(|| settings.listen.port()),
        num_tokens: settings.num_tokens,
        basalt_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
