//! One connection to a node: handshake, preparing, and the bookkeeping of requests in flight.
//!
//! Knows sockets and the protocol; not when requests are due nor what becomes of latencies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use basalt_model::{Consistency, CqlError};
use basalt_wire::connection::{ClientConnection, ClientError, RequestOptions};
use basalt_wire::request::{BoundValues, Execute, Prepare, Query, QueryParams, Startup};
use basalt_wire::response::QueryResult;
use basalt_wire::{ProtocolVersion, Request, Response, Value, WireError};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::workload::{Kind, Operation};

/// Requests one connection may have in flight; the protocol allows 32,768.
pub const IN_FLIGHT_MAX: usize = 2048;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The socket failed or closed.
    #[error("connection to {0}: {1}")]
    Io(SocketAddr, std::io::Error),
    /// The server broke the protocol.
    #[error("protocol: {0}")]
    Protocol(#[from] ClientError),
    /// A message could not be written or read.
    #[error("message: {0}")]
    Message(#[from] WireError),
    /// A request that must succeed was refused.
    #[error("{0}")]
    Refused(CqlError),
    /// An answer of another kind than the request calls for.
    #[error("the server answered {0} with something else")]
    Unexpected(&'static str),
}

/// A request that has been sent.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    /// What it does.
    pub kind: Kind,
    /// When it was meant to start, nanoseconds of the run's clock.
    pub due_nanos: u64,
    /// When it was handed to the socket.
    pub sent_nanos: u64,
}

/// What both halves of a connection share.
struct Shared {
    protocol: ClientConnection,
    /// By stream id.
    in_flight: Vec<Option<InFlight>>,
    free: Vec<i16>,
}

/// Ids of the prepared statements, by [`Kind`].
#[derive(Clone, Debug, Default)]
pub struct Statements {
    ids: Vec<(Kind, Bytes)>,
}

/// A connection, ready for requests.
pub struct Session {
    address: SocketAddr,
    stream: TcpStream,
    shared: Arc<Mutex<Shared>>,
}

impl Session {
    /// Connects with protocol v4 and no compression.
    ///
    /// # Errors
    /// When the node cannot be reached or refuses.
    pub fn connect(address: SocketAddr) -> Result<Session, SessionError> {
        let stream = TcpStream::connect(address).map_err(|error| SessionError::Io(address, error))?;
        stream.set_nodelay(true).map_err(|error| SessionError::Io(address, error))?;
        let shared = Shared {
            protocol: ClientConnection::new(ProtocolVersion::V4),
            in_flight: vec![None; IN_FLIGHT_MAX],
            free: (0..IN_FLIGHT_MAX as i16).rev().collect(),
        };
        let mut session = Session { address, stream, shared: Arc::new(Mutex::new(shared)) };
        match session.call(&Request::Startup(Startup::new(None)))? {
            Response::Ready => Ok(session),
            _ => Err(SessionError::Unexpected("STARTUP")),
        }
    }

    /// Sends one request and waits for its answer; only while nothing is in flight.
    fn call(&mut self, request: &Request) -> Result<Response, SessionError> {
        let mut shared = self.shared.lock();
        shared.protocol.send(0, request, &RequestOptions::default())?;
        let bytes = shared.protocol.take_output();
        let io = |error| SessionError::Io(self.address, error);
        self.stream.write_all(&bytes).map_err(io)?;
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(envelope) = shared.protocol.next_response()? {
                return match envelope.decode()? {
                    Response::Error(error) => Err(SessionError::Refused(error)),
                    response => Ok(response),
                };
            }
            match self.stream.read(&mut buffer).map_err(io)? {
                0 => return Err(io(std::io::ErrorKind::UnexpectedEof.into())),
                received => shared.protocol.feed(&buffer[..received]),
            }
        }
    }

    /// Runs a statement that returns nothing of interest.
    ///
    /// # Errors
    /// When it is refused.
    pub fn execute(&mut self, text: &str) -> Result<(), SessionError> {
        let params = QueryParams::new(Consistency::One);
        self.call(&Request::Query(Query { query: text.to_owned(), params })).map(|_| ())
    }

    /// Prepares the statement of each kind.
    ///
    /// # Errors
    /// When one is refused.
    pub fn prepare(&mut self, statement: impl Fn(Kind) -> &'static str) -> Result<Statements, SessionError> {
        let mut ids = Vec::new();
        for kind in Kind::ALL {
            let prepare = Prepare { query: statement(kind).to_owned(), keyspace: None };
            match self.call(&Request::Prepare(prepare))? {
                Response::Result(QueryResult::Prepared(prepared)) => ids.push((kind, prepared.id)),
                _ => return Err(SessionError::Unexpected("PREPARE")),
            }
        }
        Ok(Statements { ids })
    }

    /// Splits into the half that sends and the half that receives, each for a thread of its own.
    ///
    /// # Errors
    /// When the socket cannot be shared.
    pub fn split(self) -> Result<(Sender, Receiver), SessionError> {
        let reading = self.stream.try_clone().map_err(|error| SessionError::Io(self.address, error))?;
        let sender = Sender { address: self.address, stream: self.stream, shared: self.shared.clone() };
        let receiver = Receiver { address: self.address, stream: reading, shared: self.shared };
        Ok((sender, receiver))
    }
}

/// The half that sends.
pub struct Sender {
    address: SocketAddr,
    stream: TcpStream,
    shared: Arc<Mutex<Shared>>,
}

impl Sender {
    /// Adds an operation to what [`Sender::flush`] will send. `false` when as many as allowed are
    /// in flight.
    ///
    /// # Errors
    /// When it cannot be encoded.
    pub fn enqueue(
        &mut self,
        operation: &Operation,
        statements: &Statements,
        due_nanos: u64,
        sent_nanos: u64,
    ) -> Result<bool, SessionError> {
        let mut shared = self.shared.lock();
        let Some(stream) = shared.free.pop() else { return Ok(false) };
        let id = statements.ids.iter().find(|(kind, _)| *kind == operation.kind).map(|(_, id)| id.clone());
        let values = operation.values.iter().cloned().map(Value::Bytes).collect();
        let mut params = QueryParams::new(Consistency::One);
        params.values = BoundValues::positional(values);
        params.skip_metadata = true;
        let request =
            Request::Execute(Execute { id: id.unwrap_or_default(), result_metadata_id: None, params });
        shared.protocol.send(stream, &request, &RequestOptions::default())?;
        // The id came from the free list, whose ids are below IN_FLIGHT_MAX.
        shared.in_flight[stream as usize] = Some(InFlight { kind: operation.kind, due_nanos, sent_nanos });
        Ok(true)
    }

    /// Sends what was added. A server that does not read makes this wait: the wait is in the
    /// latencies, which count from when each request was due.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn flush(&mut self) -> Result<(), SessionError> {
        let bytes = self.shared.lock().protocol.take_output();
        self.stream.write_all(&bytes).map_err(|error| SessionError::Io(self.address, error))
    }

    /// Requests not answered yet.
    pub fn in_flight(&self) -> Vec<InFlight> {
        self.shared.lock().in_flight.iter().flatten().copied().collect()
    }

    /// Ends the connection; the receiving half sees the end.
    pub fn close(self) {
        // The other side may have closed already; either way the connection is over.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// An answer to a request.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The request.
    pub request: InFlight,
    /// Whether it was refused.
    pub is_error: bool,
}

/// The half that receives.
pub struct Receiver {
    address: SocketAddr,
    stream: TcpStream,
    shared: Arc<Mutex<Shared>>,
}

impl Receiver {
    /// Waits for answers and gives each to `on_answer`. `false` when the connection has ended.
    ///
    /// # Errors
    /// When the socket fails or the server breaks the protocol.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        mut on_answer: impl FnMut(Answer),
    ) -> Result<bool, SessionError> {
        let received = self.stream.read(buffer).map_err(|error| SessionError::Io(self.address, error))?;
        if received == 0 {
            return Ok(false);
        }
        let mut shared = self.shared.lock();
        shared.protocol.feed(&buffer[..received]);
        while let Some(envelope) = shared.protocol.next_response()? {
            let slot = usize::try_from(envelope.stream).ok().and_then(|at| shared.in_flight.get_mut(at));
            let Some(request) = slot.and_then(Option::take) else { continue };
            shared.free.push(envelope.stream);
            on_answer(Answer { request, is_error: envelope.opcode == basalt_wire::Opcode::Error });
        }
        Ok(true)
    }
}
