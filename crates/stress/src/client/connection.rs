//! A connection that never waits: requests go into a buffer, answers are taken as they come. Knows
//! which stream an answer is for, not which request that was.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use basalt_model::{Consistency, CqlError};
use basalt_wire::connection::{Answer, ClientConnection, ClientError};
use basalt_wire::request::{BatchKind, EncodedBatch, EncodedExecute, EncodedValues, Prepare};
use basalt_wire::response::QueryResult;
use basalt_wire::{Opcode, Request, Response};
use bytes::{Buf, BytesMut};

use super::stream::Stream;
use super::{CONTROL_STREAM, PreparedId};
use crate::workload::{self, Operation, Part, Statement};

/// Requests written and not taken by the kernel, bytes: beyond it a connection takes no more, and
/// what is due waits in the plan.
const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What has come in.
#[derive(Debug)]
pub enum Arrived {
    /// The request on this stream was answered as asked.
    Answered(i16),
    /// The request on this stream was refused.
    Failed(i16, String),
    /// The server has forgotten the statement of the request on this stream: it has to be sent
    /// again, after [`Arrived::Prepared`].
    Forgotten(i16),
    /// The statements are prepared again, or not, and why.
    Prepared(Result<(), String>),
}

/// A connection on which many requests are in flight.
pub struct Connection {
    stream: Stream,
    protocol: ClientConnection,
    consistency: Consistency,
    ids: Vec<PreparedId>,
    output: BytesMut,
    /// The statement whose preparing is waited for.
    preparing: Option<usize>,
    /// Whether the kernel has taken all that was to be sent.
    is_flushed: bool,
}

impl Connection {
    pub(super) fn new(
        stream: Stream,
        protocol: ClientConnection,
        consistency: Consistency,
        ids: Vec<PreparedId>,
    ) -> Connection {
        let output = BytesMut::new();
        Connection { stream, protocol, consistency, ids, output, preparing: None, is_flushed: true }
    }

    /// Whether it takes a further request.
    pub fn has_room(&self) -> bool {
        self.output.len() + self.protocol.output_len() < OUTPUT_BYTES_MAX
    }

    /// Appends the request that makes `operation`.
    pub fn enqueue(&mut self, stream: i16, operation: &Operation) {
        let Connection { protocol, ids, consistency, .. } = self;
        let consistency = *consistency;
        match (operation.batch, operation.parts()) {
            (None, [part]) => {
                let prepared = &ids[part.statement];
                let execute = EncodedExecute {
                    id: &prepared.id,
                    result_metadata_id: &prepared.metadata,
                    consistency,
                    page_size: operation.page_size,
                    values: values(part),
                };
                protocol.send_with(stream, Opcode::Execute, |version, out| execute.append(version, out));
            }
            (kind, parts) => {
                let batch = EncodedBatch { kind: batch_kind(kind), consistency };
                let parts = parts.iter().map(|part| (&*ids[part.statement].id, values(part)));
                protocol.send_with(stream, Opcode::Batch, |version, out| batch.append(version, parts, out));
            }
        }
    }

    /// What to wait on: for answers, and for room in the kernel where there was none.
    pub fn socket(&self) -> (&TcpStream, bool) {
        (self.stream.socket(), !self.is_flushed)
    }

    /// Hands the kernel what it takes.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.is_flushed = self.try_flush()?;
        Ok(())
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        loop {
            if self.output.is_empty() {
                if self.protocol.output_len() == 0 {
                    return Ok(at_once(self.stream.flush())?.is_some());
                }
                self.output = self.protocol.take_output();
            }
            match at_once(self.stream.write(&self.output))? {
                None => return Ok(false),
                Some(0) => return Err(io::ErrorKind::WriteZero.into()),
                Some(written) => self.output.advance(written),
            }
        }
    }

    /// Takes what has arrived, through `buffer`: its length, 0 when the server has hung up; `None` when nothing has.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let received = at_once(self.stream.read(buffer))?;
        self.protocol.feed(&buffer[..received.unwrap_or(0)]);
        Ok(received)
    }

    /// The next answer of what has been taken.
    ///
    /// # Errors
    /// When the server broke the protocol.
    pub fn next_arrived(&mut self, statements: &[Statement]) -> Result<Option<Arrived>, ClientError> {
        while let Some(answer) = self.protocol.next_answer(|stream| stream != CONTROL_STREAM)? {
            let envelope = match answer {
                Answer::Result { stream } => return Ok(Some(Arrived::Answered(stream))),
                Answer::Other(envelope) => envelope,
            };
            let (stream, response) = (envelope.stream, envelope.decode());
            if stream == CONTROL_STREAM {
                if let Some(ended) = self.prepared(response.map_err(ClientError::from)?, statements) {
                    return Ok(Some(Arrived::Prepared(ended)));
                }
            } else if stream > 0 {
                return Ok(Some(match response {
                    Ok(Response::Error(CqlError::Unprepared(_))) => {
                        self.prepare_again(statements);
                        Arrived::Forgotten(stream)
                    }
                    Ok(Response::Error(error)) => Arrived::Failed(stream, error_text(&error)),
                    Ok(_) => Arrived::Answered(stream),
                    // An error of a code that we do not know is an error all the same.
                    Err(error) => Arrived::Failed(stream, error.to_string()),
                }));
            }
        }
        Ok(None)
    }

    /// Prepares all statements once more, one after the other.
    fn prepare_again(&mut self, statements: &[Statement]) {
        if self.preparing.is_none() {
            self.prepare(0, statements);
        }
    }

    fn prepare(&mut self, at: usize, statements: &[Statement]) {
        self.preparing = statements.get(at).map(|statement| {
            let request = Request::Prepare(Prepare { query: statement.text.clone(), keyspace: None });
            self.protocol.send_with(CONTROL_STREAM, Opcode::Prepare, |version, out| {
                request.append(version, out).expect("PREPARE has nothing that cannot be written");
            });
            at
        });
    }

    /// Takes the answer to a PREPARE; what became of them after the last.
    fn prepared(&mut self, response: Response, statements: &[Statement]) -> Option<Result<(), String>> {
        let at = self.preparing.take()?;
        match response {
            Response::Result(QueryResult::Prepared(prepared)) => {
                self.ids[at] = prepared.into();
                self.prepare(at + 1, statements);
                self.preparing.is_none().then_some(Ok(()))
            }
            Response::Error(error) => Some(Err(error_text(&error))),
            _ => Some(Err("the server answered PREPARE with something else".to_owned())),
        }
    }
}

/// What was done; `None` where it would have to wait.
fn at_once<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn values(part: &Part) -> EncodedValues<'_> {
    EncodedValues { count: part.values.count(), bytes: part.values.bytes() }
}

/// An error as it is counted: Cassandra's code, then the text.
fn error_text(error: &CqlError) -> String {
    format!("0x{:04x} {error}", error.code())
}

/// A batch without a kind is an ordinary one.
fn batch_kind(kind: Option<workload::BatchKind>) -> BatchKind {
    match kind {
        None | Some(workload::BatchKind::Logged) => BatchKind::Logged,
        Some(workload::BatchKind::Unlogged) => BatchKind::Unlogged,
        Some(workload::BatchKind::Counter) => BatchKind::Counter,
    }
}
