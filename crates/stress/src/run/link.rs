//! One connection of a worker with the requests that wait on it: from bytes to what became of each
//! request, and a new connection where one was lost. Knows no plan.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use rustix::event::{PollFd, PollFlags};

use super::in_flight::InFlight;
use super::lane::{Bound, Lane};
use crate::client::{self, Arrived, Connection, Prepared, Session};
use crate::plan::Due;
use crate::workload::{Statement, Workload};

/// From losing a connection, or failing to get a new one, to the next try.
const RECONNECT_NANOS: u64 = 500_000_000;

/// How long a step of connecting again may take.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(2);

/// What requests on a lost connection are counted under.
const LOST: &str = "connection lost";

/// Moments from the start of the run.
#[derive(Clone)]
pub struct Clock {
    /// The machine's.
    pub env: SharedEnv,
    /// When the run began, by it.
    pub start: u64,
}

impl Clock {
    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.env.monotonic_nanos().saturating_sub(self.start)
    }
}

/// Whom a link connects to, and how.
#[derive(Clone)]
pub struct Target {
    /// The node's place among those of the run.
    pub node: usize,
    /// Where it is.
    pub address: SocketAddr,
    /// How.
    pub options: client::Options,
    /// Whose statements are prepared.
    pub workload: Arc<dyn Workload>,
}

impl Target {
    /// Connects and prepares; waits for it.
    ///
    /// # Errors
    /// When the node cannot be reached or refuses.
    pub fn connect(&self) -> Result<Prepared, client::Error> {
        Session::connect(self.address, &self.options)?.prepare_all(self.workload.statements())
    }
}

/// A connection being made by a thread, so that the others go on.
struct Connecting {
    result: Receiver<Result<Prepared, client::Error>>,
    thread: JoinHandle<()>,
}

/// A connection, or the place of one.
pub struct Link {
    target: Target,
    connection: Option<Connection>,
    in_flight: InFlight,
    /// Streams whose requests wait for their statements.
    forgotten: Vec<i16>,
    connecting: Option<Connecting>,
    /// When a lost connection is made again.
    retry_at: u64,
}

impl Link {
    /// A link over a connection to `target`.
    pub fn new(target: Target, connection: Connection) -> Link {
        Link {
            target,
            connection: Some(connection),
            in_flight: InFlight::default(),
            forgotten: Vec::new(),
            connecting: None,
            retry_at: 0,
        }
    }

    /// The node's place among those of the run.
    pub fn node(&self) -> usize {
        self.target.node
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether it takes a request.
    pub fn has_room(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::has_room) && self.in_flight.has_room()
    }

    /// Which bound keeps it from taking a request; `None` where it takes one, or there is no connection.
    pub fn bound(&self) -> Option<Bound> {
        let connection = self.connection.as_ref()?;
        match (connection.has_room(), self.in_flight.has_room()) {
            (false, _) => Some(Bound::Output),
            (true, false) => Some(Bound::Streams),
            (true, true) => None,
        }
    }

    /// Sends what `lane` has begun; only where there is room.
    pub fn send(&mut self, lane: &mut Lane, due: Due, now: u64) {
        let sent = lane.sent(due, now);
        match (&mut self.connection, self.in_flight.enter(sent)) {
            (Some(connection), Some(stream)) => connection.enqueue(stream, lane.operation()),
            _ => lane.failed(&sent, now, LOST),
        }
    }

    /// What wakes whoever waits for it, where there is a connection.
    pub fn poll_fd(&self) -> Option<PollFd<'_>> {
        let (socket, is_writing) = self.connection.as_ref()?.socket();
        let writing = if is_writing { PollFlags::OUT } else { PollFlags::empty() };
        Some(PollFd::new(socket, PollFlags::IN | writing))
    }

    /// Takes some of what has arrived: whether that was all; `None` when there was nothing.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<bool>, String> {
        let Some(connection) = &mut self.connection else { return Ok(None) };
        match connection.receive(buffer) {
            Ok(Some(0)) => Err("the server hung up".to_owned()),
            Ok(received) => Ok(received.map(|received| received < buffer.len())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Gives the answers that have been taken to the lane.
    pub fn answer(&mut self, lane: &mut Lane, now: u64) -> Result<(), String> {
        let workload = Arc::clone(&self.target.workload);
        let statements: &[Statement] = workload.statements();
        while let Some(connection) = &mut self.connection {
            let Some(arrived) = connection.next_arrived(statements).map_err(|error| error.to_string())?
            else {
                break;
            };
            match arrived {
                Arrived::Answered(stream) => {
                    if let Some(sent) = self.in_flight.end(stream) {
                        lane.answered(&sent, now);
                    }
                }
                Arrived::Failed(stream, text) => self.fail(stream, lane, now, &text),
                Arrived::Forgotten(stream) => self.forgotten.push(stream),
                Arrived::Prepared(prepared) => self.send_forgotten(lane, now, prepared),
            }
        }
        Ok(())
    }

    fn fail(&mut self, stream: i16, lane: &mut Lane, now: u64, text: &str) {
        if let Some(sent) = self.in_flight.end(stream) {
            lane.failed(&sent, now, text);
        }
    }

    /// Their statements are prepared again: sends these requests once more, as old as they are.
    fn send_forgotten(&mut self, lane: &mut Lane, now: u64, prepared: Result<(), String>) {
        for stream in std::mem::take(&mut self.forgotten) {
            match (&prepared, &mut self.connection) {
                (Ok(()), Some(connection)) => match self.in_flight.get(stream) {
                    Some(sent) => connection.enqueue(stream, lane.make_again(sent.index)),
                    // Given up meanwhile; the server answered, so that its stream is free.
                    None => drop(self.in_flight.end(stream)),
                },
                (Err(text), _) => self.fail(stream, lane, now, text),
                (Ok(()), None) => self.fail(stream, lane, now, LOST),
            }
        }
    }

    /// Hands the kernel what is to be sent; what it does not take waits until it does.
    pub fn flush(&mut self) -> Result<(), String> {
        let flushed = self.connection.as_mut().map_or(Ok(()), Connection::flush);
        flushed.map_err(|error| error.to_string())
    }

    /// The connection is over: its requests have failed.
    pub fn lose(&mut self, lane: &mut Lane, now: u64) {
        self.connection = None;
        self.forgotten.clear();
        self.in_flight.clear(|sent| lane.failed(sent, now, LOST));
        self.retry_at = now + RECONNECT_NANOS;
    }

    /// Gives up requests sent before `limit`.
    pub fn give_up(&mut self, lane: &mut Lane, limit: u64, now: u64) {
        if !self.in_flight.is_empty() {
            self.in_flight.give_up(limit, |sent| lane.timed_out(sent, now));
        }
    }

    /// Makes a lost connection again, without waiting for it. `true` once it is there.
    pub fn reconnect(&mut self, env: &SharedEnv, now: u64) -> bool {
        if self.connection.is_some() {
            return false;
        }
        let Some(connecting) = &self.connecting else {
            if now >= self.retry_at {
                self.retry_at = now + RECONNECT_NANOS;
                self.connecting = start_connecting(&self.target, env);
            }
            return false;
        };
        match connecting.result.try_recv() {
            Err(TryRecvError::Empty) => return false,
            // What keeps it from being made is seen in the requests that fail.
            Err(TryRecvError::Disconnected) | Ok(Err(_)) => self.retry_at = now + RECONNECT_NANOS,
            Ok(Ok(prepared)) => {
                self.connection = prepared.into_connection().ok();
                self.retry_at = now + RECONNECT_NANOS;
            }
        }
        self.join();
        self.connection.is_some()
    }

    /// Requests that wait.
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Waits for a connection in the making.
    pub fn join(&mut self) {
        if let Some(connecting) = self.connecting.take() {
            drop(connecting.result);
            // A thread that died has no connection to give; there will be another try.
            drop(connecting.thread.join());
        }
    }
}

fn start_connecting(target: &Target, env: &SharedEnv) -> Option<Connecting> {
    let (sender, result) = sync_channel(1);
    let mut target = target.clone();
    target.options.patience = RECONNECT_PATIENCE;
    // Nobody waits for a connection any more when the run has ended.
    let work = move || drop(sender.send(target.connect()));
    let thread = env.spawn_thread("stress-connect", Box::new(work)).ok()?;
    Some(Connecting { result, thread })
}
