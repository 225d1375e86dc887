//! A run: workers with their connections send what is due and take what comes, and one [`Outcome`]
//! says what became of it.
//!
//! [`lane`] is what a worker has to do, without sockets and clocks; [`worker`] does it; [`collect`]
//! puts together what the workers recorded. Threads are started here and end with the run.

mod collect;
mod in_flight;
mod lane;
mod link;
mod nodes;
mod outcome;
mod routing;
mod usage;
mod worker;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_wire::ProtocolVersion;
use hdrhistogram::serialization::V2DeflateSerializer;

pub use collect::Seen;
pub use in_flight::STREAMS;

use crate::client;
use crate::hiccup::Meters;
use crate::hlog::{Log, Sink};
use crate::outcome::Outcome;
use crate::plan::{Arrivals, Plan};
use crate::record::Record;
use crate::report::words::plural;
use crate::verify::Acknowledged;
use crate::workload::Workload;
use collect::{Collected, Collector};
use lane::{Lane, Pace, Work};
use link::{Clock, Link, Target};
use nodes::{AGREEMENT_NANOS, Nodes};
use routing::Routing;
use worker::{Limits, Message, Reports, Worker};

/// Records that a worker fills while others are collected.
const SPARES: usize = 2;

/// From the last preparation to the first due moment, so that every worker is at its post.
const HEAD_START_NANOS: u64 = 5_000_000;

/// How long a load goes on without any connection, nanoseconds.
const LOAD_ALONE_NANOS: u64 = 30_000_000_000;

/// What is asked for, and when.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Requests by a plan that does not depend on the server.
    Open {
        /// When each is due.
        plan: Plan,
        /// What kind of plan that is.
        arrivals: Arrivals,
    },
    /// Requests of users who each wait for an answer before they ask again.
    Closed {
        /// The users.
        threads: u32,
        /// For how long, nanoseconds.
        nanos: u64,
    },
    /// The workload's records, written once each.
    Load {
        /// Writers who each wait for an answer before they write again.
        threads: u32,
    },
}

/// A run as it is asked for.
pub struct Settings {
    /// Clocks and threads.
    pub env: SharedEnv,
    /// The nodes that were named; connections are dealt out to them and to those found in turn, and requests by the tokens
    /// that they own.
    pub targets: Vec<SocketAddr>,
    /// Whether the other nodes that the first of them lists are left alone.
    pub only_targets: bool,
    /// How to connect.
    pub client: client::Options,
    /// What is asked.
    pub workload: Arc<dyn Workload>,
    /// When it is asked.
    pub asked: Asked,
    /// Makes the requests the same each time.
    pub seed: u64,
    /// Connections in all.
    pub connections: usize,
    /// Threads that send and receive; at most one for each connection is used.
    pub workers: usize,
    /// Most requests in flight in all; reaching it makes an open run invalid.
    pub in_flight: usize,
    /// A request without an answer for this long is given up, nanoseconds.
    pub timeout_nanos: u64,
    /// How long after the last due moment answers are waited for, nanoseconds.
    pub drain_nanos: u64,
    /// The length of an interval, nanoseconds.
    pub interval_nanos: u64,
    /// Where histograms go, interval by interval.
    pub log: Option<Sink>,
    /// The whole command line.
    pub command: Vec<String>,
    /// Set it to end the run early: what was measured by then is its outcome, which is invalid.
    pub stop: Arc<AtomicBool>,
}

/// Who watches a run.
pub trait Observer {
    /// An interval is over.
    fn interval(&mut self, seen: &Seen<'_>);
}

impl Observer for () {
    fn interval(&mut self, _: &Seen<'_>) {}
}

/// A run that is over.
#[derive(Debug)]
pub struct Finished {
    /// What became of it.
    pub outcome: Outcome,
    /// Writes to read back ([`crate::read_back`]); empty unless the workload stamps its values.
    pub acknowledged: Acknowledged,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A connection could not be made.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// A thread, a runtime, a file.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// No node was named.
    #[error("no node is named")]
    NoTarget,
}

/// Runs it.
///
/// # Errors
/// When a connection cannot be made before the first request. What goes wrong later is in the
/// outcome.
pub fn run(mut settings: Settings, observer: &mut dyn Observer) -> Result<Finished, Error> {
    if settings.targets.is_empty() {
        return Err(Error::NoTarget);
    }
    let Nodes { addresses, sessions, mut notes } = Nodes::find(&settings, AGREEMENT_NANOS)?;
    settings.targets = addresses;
    let routing = Routing::ask(sessions, settings.workload.statements())?.map(Arc::new);
    notes.extend(routing.as_ref().and_then(|_| passed_on(&settings)));
    let workers = start_workers(&settings, routing.as_ref())?;
    let mut version = None;
    for posted in &workers.posted {
        // A worker that is gone without a word has died.
        let ready = posted.recv().map_err(|_| std::io::Error::other("a worker died"))??;
        version = Some(ready);
    }
    let meters = Meters::start(&settings.env, &workers.processors)?;
    let started_micros = settings.env.wall_micros();
    let start = settings.env.monotonic_nanos() + HEAD_START_NANOS;
    for begin in workers.begin {
        // A worker that has died is noticed by the collector.
        let _ = begin.send(start);
    }
    let mut sink = settings.log.take();
    let mut serializer = V2DeflateSerializer::new();
    let kinds = settings.workload.kinds().to_vec();
    let log = sink
        .as_mut()
        .map(|sink| Log::begin(sink, &mut serializer, &kinds, started_micros, &settings.command))
        .transpose()?;
    let collector =
        Collector::new(settings.interval_nanos, kinds.len(), workers.spares, log, &meters, observer);
    let mut collected = collector.collect(&workers.messages);
    for thread in workers.threads {
        if thread.join().is_err() {
            collected.invalid.push("a worker died".to_owned());
        }
    }
    if let Some(sink) = &mut sink {
        sink.flush()?;
    }
    let acknowledged = std::mem::take(&mut collected.acknowledged);
    let mut outcome = outcome::build(&settings, collected, started_micros, version, routing.is_some());
    outcome.notes = notes;
    Ok(Finished { outcome, acknowledged })
}

/// Workers that have been started.
struct Workers {
    threads: Vec<JoinHandle<()>>,
    /// Each says here that it is connected, or why not.
    posted: Vec<Receiver<Result<ProtocolVersion, Error>>>,
    /// Each is told here when the run starts.
    begin: Vec<SyncSender<u64>>,
    spares: Vec<SyncSender<Box<Record>>>,
    processors: Vec<Arc<AtomicUsize>>,
    messages: Receiver<Message>,
}

/// What a worker's thread is given.
struct Post {
    lane: Lane,
    targets: Vec<Target>,
    routing: Option<Arc<Routing>>,
    limits: Limits,
    reports: Reports,
    env: SharedEnv,
    posted: SyncSender<Result<ProtocolVersion, Error>>,
    begin: Receiver<u64>,
}

/// The share of `whole` that falls to `number` of `of`.
fn share(whole: usize, number: usize, of: usize) -> usize {
    whole / of + usize::from(number < whole % of)
}

/// Threads that send and receive.
fn worker_count(settings: &Settings) -> usize {
    let count = settings.workers.clamp(1, settings.connections.max(1));
    match settings.asked {
        Asked::Closed { threads, .. } | Asked::Load { threads } => count.min(threads.max(1) as usize),
        Asked::Open { .. } => count,
    }
}

/// That some worker has no connection to the owner of what it asks for, where that is so.
fn passed_on(settings: &Settings) -> Option<String> {
    let (nodes, workers) = (settings.targets.len(), worker_count(settings));
    let wanted = nodes * workers;
    (settings.connections < wanted).then(|| {
        format!(
            "of {nodes} nodes some get requests for others, which they pass on: with {} it takes --connections {wanted}",
            plural(workers as u64, "worker")
        )
    })
}

fn start_workers(settings: &Settings, routing: Option<&Arc<Routing>>) -> Result<Workers, Error> {
    let count = worker_count(settings);
    let kinds = settings.workload.kinds().len();
    let (sender, messages) = sync_channel(count * (SPARES + 2));
    let mut workers = Workers {
        threads: Vec::new(),
        posted: Vec::new(),
        begin: Vec::new(),
        spares: Vec::new(),
        processors: Vec::new(),
        messages,
    };
    let next = Arc::new(AtomicU64::new(0));
    for worker in 0..count {
        let (posted, is_posted) = sync_channel(1);
        let (begin, begins) = sync_channel(1);
        let (spare, spares) = sync_channel(SPARES);
        for _ in 0..SPARES {
            // The channel has room for them.
            drop(spare.try_send(Box::new(Record::new(kinds))));
        }
        let processor = Arc::new(AtomicUsize::new(usize::MAX));
        let reports =
            Reports { worker, messages: sender.clone(), spare: spares, processor: Arc::clone(&processor) };
        let first =
            (0..worker).map(|worker| share(settings.connections.max(1), worker, count)).sum::<usize>();
        let connections = share(settings.connections.max(1), worker, count);
        let post = Post {
            lane: lane(settings, worker, count, &next),
            targets: (first..first + connections).map(|at| target(settings, at)).collect(),
            routing: routing.cloned(),
            limits: limits(settings),
            reports,
            env: Arc::clone(&settings.env),
            posted,
            begin: begins,
        };
        let thread = settings.env.spawn_thread(&format!("stress-{worker}"), Box::new(move || work(post)))?;
        workers.threads.push(thread);
        workers.posted.push(is_posted);
        workers.begin.push(begin);
        workers.spares.push(spare);
        workers.processors.push(processor);
    }
    Ok(workers)
}

fn target(settings: &Settings, connection: usize) -> Target {
    let node = connection % settings.targets.len();
    Target {
        node,
        address: settings.targets[node],
        options: settings.client.clone(),
        workload: Arc::clone(&settings.workload),
    }
}

fn lane(settings: &Settings, worker: usize, workers: usize, next: &Arc<AtomicU64>) -> Lane {
    let is_load = matches!(settings.asked, Asked::Load { .. });
    let work = Work { workload: Arc::clone(&settings.workload), seed: settings.seed, is_load };
    let closed = |threads: u32, limit, until| {
        let idle = share(threads.max(1) as usize, worker, workers);
        (Pace::Closed { next: Arc::clone(next), limit, idle, until }, idle)
    };
    let (pace, cap) = match &settings.asked {
        Asked::Open { plan, .. } => {
            let cap = share(settings.in_flight, worker, workers).max(1);
            (Pace::open(plan.times(), worker as u64, workers as u64), cap)
        }
        Asked::Closed { threads, nanos } => closed(*threads, u64::MAX, *nanos),
        Asked::Load { threads } => closed(*threads, settings.workload.records(), u64::MAX),
    };
    Lane::new(work, pace, cap)
}

fn limits(settings: &Settings) -> Limits {
    let (nanos, alone) = match &settings.asked {
        Asked::Open { plan, .. } => (plan.nanos(), u64::MAX),
        Asked::Closed { nanos, .. } => (*nanos, u64::MAX),
        Asked::Load { .. } => (u64::MAX, LOAD_ALONE_NANOS),
    };
    Limits {
        deadline: nanos.saturating_add(settings.drain_nanos),
        timeout: settings.timeout_nanos,
        interval: settings.interval_nanos.max(1),
        alone,
        stop: Arc::clone(&settings.stop),
    }
}

/// A worker's thread: connects, says so, waits for the start, works.
fn work(post: Post) {
    let Post { lane, targets, routing, limits, reports, env, posted, begin } = post;
    let mut version = ProtocolVersion::CURRENT;
    let connected: Result<Vec<Link>, client::Error> = targets
        .into_iter()
        .map(|target| {
            let prepared = target.connect()?;
            version = prepared.version();
            Ok(Link::new(target, prepared.into_connection()?))
        })
        .collect();
    let links = match connected {
        Ok(links) => links,
        // Whoever would hear it is gone only when the run is not to be.
        Err(error) => return drop(posted.send(Err(error.into()))),
    };
    drop(posted.send(Ok(version)));
    // Nobody says when: another worker could not connect.
    let Ok(start) = begin.recv() else { return };
    let head_start = start.saturating_sub(env.monotonic_nanos());
    std::thread::sleep(Duration::from_nanos(head_start));
    Worker::new(lane, links, routing, Clock { env, start }, limits, reports).run();
}

#[cfg(test)]
mod tests;
