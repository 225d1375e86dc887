//! A run: one thread sends each request when it is due, one thread a connection receives.
//!
//! The sender never waits for answers. When it falls behind (the server does not read, or this
//! machine was busy) it sends what is overdue at once; the delay is in the response times.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::{Env, SharedEnv};
use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use crate::record::Record;
use crate::schedule::ConstantRate;
use crate::session::{Receiver, Sender, Session, SessionError, Statements};
use crate::workload::{Operation, apm};

/// How long after the last request answers are waited for, nanoseconds.
const DRAIN_NANOS: u64 = 10_000_000_000;

/// Requests handed to a connection before they are written out.
const BURST_MAX: usize = 64;

/// How often a sender that may not have more in flight looks again.
const CAP_WAIT: Duration = Duration::from_micros(100);

/// What became of a run.
#[derive(Debug)]
pub struct Summary {
    /// Requests of the plan.
    pub planned: u64,
    /// Requests a second of the plan.
    pub rate: u64,
    /// Requests never sent, because a connection was lost. Not in the histograms.
    pub unsent: u64,
    /// Requests sent and not answered when the run ended. In the histograms at their age.
    pub unanswered: u64,
    /// Whether a request had to wait because too many were in flight.
    pub cap_reached: bool,
    /// From the first due moment to the last answer, nanoseconds.
    pub elapsed_nanos: u64,
    /// Latencies.
    pub record: Record,
}

/// Where and how to connect.
#[derive(Clone, Debug)]
pub struct Target {
    /// The node.
    pub address: SocketAddr,
    /// Connections to it, at least 1.
    pub connections: usize,
}

struct Connections {
    senders: Vec<Sender>,
    receivers: Vec<JoinHandle<()>>,
    progress: Arc<Progress>,
    statements: Statements,
}

/// What receiving threads share with the sender.
#[derive(Default)]
struct Progress {
    answered: AtomicU64,
    last_answer_nanos: AtomicU64,
    record: Mutex<Record>,
    failure: Mutex<Option<SessionError>>,
}

/// Creates the APM table.
///
/// # Errors
/// When the node refuses.
pub fn create_apm(target: &Target) -> Result<(), SessionError> {
    let mut session = Session::connect(target.address)?;
    session.execute(apm::CREATE_KEYSPACE)?;
    session.execute(apm::CREATE_TABLE)
}

/// Loads records `0..count` as fast as the node takes them.
///
/// # Errors
/// When the node refuses, or an insert fails.
pub fn load_apm(env: &SharedEnv, target: &Target, count: u64, seed: u64) -> Result<Summary, SessionError> {
    let mut random = apm::Random(seed);
    let plan = ConstantRate { per_second: u64::MAX, count };
    run(env, target, plan, "loading", |index| apm::insert(index, &mut random))
}

/// Runs the APM RW mix over `loaded` records.
///
/// # Errors
/// When a connection fails before the first request.
pub fn run_apm(
    env: &SharedEnv,
    target: &Target,
    plan: ConstantRate,
    loaded: u64,
    seed: u64,
) -> Result<Summary, SessionError> {
    let mut mix = apm::ReadWrite::new(loaded, seed);
    run(env, target, plan, "running", |_| mix.next_operation())
}

fn run(
    env: &SharedEnv,
    target: &Target,
    plan: ConstantRate,
    title: &'static str,
    mut next: impl FnMut(u64) -> Operation,
) -> Result<Summary, SessionError> {
    let mut connections = connect(env, target)?;
    let bar = progress_bar(plan.count, title);
    let start = env.monotonic_nanos();
    let mut sent = 0;
    let mut cap_reached = false;
    // An unpaced load is meant to fill the connections; a paced run is not.
    let paced = plan.per_second != u64::MAX;
    while sent < plan.count && connections.progress.failure.lock().is_none() {
        let due = start + plan.due_nanos(sent);
        wait_until(env.as_ref(), due);
        let now = env.monotonic_nanos();
        let at = (sent as usize / BURST_MAX) % connections.senders.len();
        let sender =
            &mut connections.senders[if paced { sent as usize % target.connections.max(1) } else { at }];
        let due = if paced { due } else { now };
        let operation = next(sent);
        while !sender.enqueue(&operation, &connections.statements, due, env.monotonic_nanos())? {
            cap_reached |= paced;
            flush(sender, &connections.progress);
            if connections.progress.failure.lock().is_some() {
                break;
            }
            std::thread::sleep(CAP_WAIT);
        }
        sent += 1;
        let behind = sent < plan.count && start + plan.due_nanos(sent) <= now;
        if !behind || (sent as usize).is_multiple_of(BURST_MAX) {
            connections.senders.iter_mut().for_each(|sender| flush(sender, &connections.progress));
            bar.set_position(connections.progress.answered.load(Ordering::Relaxed));
        }
    }
    connections.senders.iter_mut().for_each(|sender| flush(sender, &connections.progress));
    finish(env, connections, plan, start, sent, cap_reached, &bar)
}

/// Writes out what a sender holds; a lost connection ends the run.
fn flush(sender: &mut Sender, progress: &Progress) {
    if let Err(error) = sender.flush() {
        progress.failure.lock().get_or_insert(error);
    }
}

fn progress_bar(count: u64, title: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(count);
    let style = ProgressStyle::with_template("{msg:8} [{bar:40}] {pos}/{len} {per_sec} {elapsed_precise}")
        .expect("the template is a constant indicatif accepts");
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(title);
    bar
}

/// Sleeps until shortly before `nanos`, then spins: a sleep alone wakes some 50 microseconds late.
fn wait_until(env: &dyn Env, nanos: u64) {
    const SPIN_NANOS: u64 = 20_000;
    loop {
        let now = env.monotonic_nanos();
        if now >= nanos {
            return;
        }
        match (nanos - now).checked_sub(SPIN_NANOS) {
            Some(sleep) if sleep > 0 => std::thread::sleep(Duration::from_nanos(sleep)),
            _ => std::hint::spin_loop(),
        }
    }
}

fn connect(env: &SharedEnv, target: &Target) -> Result<Connections, SessionError> {
    let progress = Arc::new(Progress::default());
    let mut connections = Connections {
        senders: Vec::new(),
        receivers: Vec::new(),
        progress,
        statements: Statements::default(),
    };
    for index in 0..target.connections.max(1) {
        let mut session = Session::connect(target.address)?;
        connections.statements = session.prepare(apm::statement)?;
        let (sender, receiver) = session.split()?;
        let (thread_env, progress) = (env.clone(), connections.progress.clone());
        let work = move || receive(&thread_env, receiver, &progress);
        let thread = env.spawn_thread(&format!("receiver-{index}"), Box::new(work));
        connections.receivers.push(thread.map_err(|error| SessionError::Io(target.address, error))?);
        connections.senders.push(sender);
    }
    Ok(connections)
}

/// One connection's receiving thread, until the connection ends.
fn receive(env: &SharedEnv, mut receiver: Receiver, progress: &Progress) {
    let mut record = Record::default();
    let mut buffer = vec![0; 64 * 1024];
    let ended = loop {
        let mut answered = 0;
        let now = std::cell::OnceCell::new();
        let outcome = receiver.receive(&mut buffer, |answer| {
            let now: u64 = *now.get_or_init(|| env.monotonic_nanos());
            let request = answer.request;
            if answer.is_error {
                record.add_error(request.kind);
            } else {
                record.add(request.kind, now - request.due_nanos.min(now), now - request.sent_nanos.min(now));
            }
            answered += 1;
        });
        if let Some(now) = now.get() {
            progress.last_answer_nanos.fetch_max(*now, Ordering::Relaxed);
        }
        progress.answered.fetch_add(answered, Ordering::Release);
        match outcome {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    progress.record.lock().merge(&record);
    if let Err(error) = ended {
        progress.failure.lock().get_or_insert(error);
    }
}

/// Waits for the last answers, then counts what never came.
fn finish(
    env: &SharedEnv,
    connections: Connections,
    plan: ConstantRate,
    start: u64,
    sent: u64,
    cap_reached: bool,
    bar: &ProgressBar,
) -> Result<Summary, SessionError> {
    let progress = connections.progress;
    let drained_by = env.monotonic_nanos() + DRAIN_NANOS;
    while progress.answered.load(Ordering::Acquire) < sent
        && env.monotonic_nanos() < drained_by
        && progress.failure.lock().is_none()
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    bar.set_position(progress.answered.load(Ordering::Relaxed));
    bar.finish();
    let unanswered: Vec<_> = connections.senders.iter().flat_map(Sender::in_flight).collect();
    connections.senders.into_iter().for_each(Sender::close);
    for receiver in connections.receivers {
        // A panic in a receiver has been printed by its thread; its answers count as missing.
        let _ = receiver.join();
    }
    let now = env.monotonic_nanos();
    let mut record = std::mem::take(&mut *progress.record.lock());
    for request in &unanswered {
        record.add(request.kind, now - request.due_nanos.min(now), now - request.sent_nanos.min(now));
    }
    if sent == 0
        && let Some(error) = progress.failure.lock().take()
    {
        return Err(error);
    }
    Ok(Summary {
        planned: plan.count,
        rate: plan.per_second,
        unsent: plan.count - sent,
        unanswered: unanswered.len() as u64,
        cap_reached,
        elapsed_nanos: progress.last_answer_nanos.load(Ordering::Relaxed).saturating_sub(start).max(1),
        record,
    })
}
