//! A reactor: one thread with a single-threaded runtime that serves the connections handed to it, and
//! a coarse clock that ends those that take too long. Nothing on it waits for a disk.

use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime;
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use crate::connection;
use crate::context::{Context, Local};
use crate::limits::ConnectionLimits;
use crate::metrics::Recorder;
use crate::{table_metrics, turn};

/// How often the coarse clock ticks.
const TICK_MS: u64 = 50;

/// Ticks between two looks at who takes too long.
const TICKS_PER_SWEEP: u32 = 20;

/// Ticks between two looks at requests that wait: they time out this much late at most.
const TICKS_PER_LOOK: u32 = 2;

/// Accepted sockets that may wait for a reactor's attention.
const ACCEPTED_QUEUED_MAX: usize = 1_024;

/// A socket the listener accepted.
pub struct Accepted {
    /// The socket, not blocking.
    pub stream: TcpStream,
    /// The client's end.
    pub address: SocketAddr,
    /// Its place within the limits.
    pub limits: ConnectionLimits,
}

/// A reactor, as the listener sees it. Dropping the sender lets its thread end once its last
/// connection has.
pub struct Reactor {
    sender: mpsc::Sender<Accepted>,
    load: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Reactor {
    /// Starts a reactor's thread, which records times of its requests in `recorder`.
    ///
    /// # Errors
    /// No thread, or no runtime.
    pub fn start(index: usize, context: Arc<Context>, recorder: Arc<Recorder>) -> std::io::Result<Reactor> {
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (sender, receiver) = mpsc::channel(ACCEPTED_QUEUED_MAX);
        let load = Arc::new(AtomicUsize::new(0));
        let env = Arc::clone(&context.env);
        let work = {
            let load = Arc::clone(&load);
            move || {
                table_metrics::enter_reactor(index);
                turn::enter_reactor();
                let local = Rc::new(Local::new(context, recorder));
                let connections = LocalSet::new();
                if index == 0 {
                    connections.spawn_local(tick(Rc::clone(&local)));
                }
                connections.block_on(&runtime, accept(local, receiver, load));
            }
        };
        let thread = env.spawn_thread(&format!("reactor-{index}"), Box::new(work))?;
        Ok(Reactor { sender, load, thread })
    }

    /// Connections it serves.
    pub fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Hands a connection over; gives it back when the reactor cannot take it.
    ///
    /// # Errors
    /// The reactor is ending, or too many wait for it already.
    pub fn hand_over(&self, accepted: Accepted) -> Result<(), Accepted> {
        self.load.fetch_add(1, Ordering::Relaxed);
        self.sender.try_send(accepted).map_err(|refused| {
            self.load.fetch_sub(1, Ordering::Relaxed);
            refused.into_inner()
        })
    }

    /// Takes no more connections and waits for the thread, which waits for its connections.
    pub fn join(self) {
        drop(self.sender);
        if self.thread.join().is_err() {
            tracing::error!("a reactor's thread died");
        }
    }
}

/// Serves what is handed over, until nobody can hand over any more and all connections ended.
async fn accept(local: Rc<Local>, mut receiver: mpsc::Receiver<Accepted>, load: Arc<AtomicUsize>) {
    let mut running = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = receiver.recv() => {
                let Some(accepted) = accepted else { break };
                running.spawn_local(serve(accepted, Rc::clone(&local), Arc::clone(&load)));
            }
            Some(ended) = running.join_next() => note_end(ended),
        }
    }
    while let Some(ended) = running.join_next().await {
        note_end(ended);
    }
}

fn note_end(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a defect ended a connection");
    }
}

/// Gives the reactor's load back however the connection ends.
struct Load(Arc<AtomicUsize>);

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn serve(accepted: Accepted, local: Rc<Local>, load: Arc<AtomicUsize>) {
    let _load = Load(load);
    let Accepted { stream, address, limits } = accepted;
    let now_ms = local.node.env.monotonic_nanos() / 1_000_000;
    let stream = match tokio::net::TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(%error, client = %address, "a socket could not be served");
            return;
        }
    };
    let client = local.node.clients.enter(address, now_ms);
    let _leave = Leave(&local.node, &client);
    connection::serve(stream, Rc::clone(&local), Arc::clone(&client), limits).await;
}

struct Leave<'a>(&'a Context, &'a crate::clients::Client);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.clients.leave(self.1);
    }
}

/// The node's coarse clock, kept by its first reactor: deadlines of handshakes, silent connections,
/// requests that wait for a rate or
/// have waited for too long.
async fn tick(local: Rc<Local>) {
    let mut ticks = tokio::time::interval(Duration::from_millis(TICK_MS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let node = &local.node;
    loop {
        for count in 0..TICKS_PER_SWEEP {
            ticks.tick().await;
            node.limits.tick();
            if count % TICKS_PER_LOOK == 0 {
                node.clients.look_at_waiting();
            }
        }
        let now_ms = node.env.monotonic_nanos() / 1_000_000;
        node.clients.end_overdue(now_ms, node.transport.idle_timeout_ms);
    }
}
