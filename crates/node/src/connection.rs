//! A connection: moves envelopes between its socket and the requests they carry, on one task. Reads
//! what is there, begins every request in it, and writes the answers of one wake-up with one write.
//! What a request means is not known here.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};

use basalt_model::CqlError;
use basalt_query::request::ClientState;
use basalt_wire::connection::{ClientRequest, Rejection, ServerConnection, ServerEvent, Stage};
use basalt_wire::limits::Limits;
use basalt_wire::prelude::Prelude;
use basalt_wire::response::Event;
use basalt_wire::response::result::{RowsHead, RowsWriter};
use basalt_wire::{Opcode, Response};
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;

use crate::clients::{Client, End};
use crate::context::{Local, encode};
use crate::handshake::Handshake;
use crate::in_flight::InFlight;
use crate::limits::{
    CONNECTION_IN_FLIGHT_REQUESTS, CONNECTION_OUTPUT_BYTES, ConnectionLimits, HANDSHAKE_INPUT_BYTES, Over,
    READ_BYTES_MAX, READ_BYTES_MIN,
};
use crate::metrics::RequestKind;
use crate::push;
use crate::requests::{self, Answer, Begun, Reply};
use crate::turn;

/// A request that waits for room within the limits.
struct Held {
    request: ClientRequest,
    arrived_nanos: u64,
    over: Over,
}

struct Connection {
    stream: TcpStream,
    machine: ServerConnection,
    local: Rc<Local>,
    client: Arc<Client>,
    limits: ConnectionLimits,
    handshake: Handshake,
    keyspace: Option<Arc<str>>,
    warned_of_use: Arc<AtomicBool>,
    /// Bytes on their way to the socket.
    output: BytesMut,
    /// Which requests the bytes in `machine` and `output` answer, and when those had arrived.
    answered: VecDeque<(RequestKind, u64)>,
    held: Option<Held>,
    freed: Option<Pin<Box<dyn Future<Output = ()>>>>,
    read_bytes: usize,
    arrived_nanos: u64,
}

/// Serves a connection until it ends.
pub async fn serve(stream: TcpStream, local: Rc<Local>, client: Arc<Client>, limits: ConnectionLimits) {
    let transport = &local.node.transport;
    let machine = ServerConnection::new(
        local.connection_number(),
        Limits {
            max_frame_size: transport.frame_max_bytes,
            max_message_size: transport.message_max_bytes,
            consecutive_message_errors_threshold: transport.consecutive_message_errors,
            allow_older_protocols: transport.allow_older_protocols,
        },
    );
    let mut connection = Connection {
        stream,
        machine,
        handshake: Handshake::new(Arc::clone(&client), Arc::clone(&local.node.authenticator)),
        local: Rc::clone(&local),
        client: Arc::clone(&client),
        limits,
        keyspace: None,
        warned_of_use: Arc::default(),
        output: BytesMut::new(),
        answered: VecDeque::new(),
        held: None,
        freed: None,
        read_bytes: READ_BYTES_MIN,
        arrived_nanos: 0,
    };
    let mut in_flight = InFlight::default();
    let begin = |begun| requests::run(Rc::clone(&local), begun);
    let ended = poll_fn(|context| connection.turn(context, &mut in_flight, &begin)).await;
    if let Err(error) = ended
        && !is_usual(&error)
    {
        tracing::debug!(client = %client.address, %error, "a connection broke");
    }
    // A schema change, say, must not be left half-way because who asked for it is gone.
    poll_fn(|context| finish(context, &local, &client, &mut in_flight)).await;
}

/// Works on what was begun, for nobody.
fn finish<F: Future<Output = Answer>>(
    context: &mut Context<'_>,
    local: &Local,
    client: &Client,
    in_flight: &mut InFlight<F>,
) -> Poll<()> {
    while client.next_event(context).is_some() {}
    while !in_flight.is_empty() && client.asked_to_end() != End::Abandon {
        let is_pending = in_flight.poll_ended(context).is_pending();
        let has_written = local.node.processor.end_turn();
        if is_pending && !has_written {
            return Poll::Pending;
        }
    }
    Poll::Ready(())
}

fn is_usual(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | TimedOut)
}

impl Connection {
    /// All that can be done now. Ready when the connection is over.
    fn turn<F: Future<Output = Answer>>(
        &mut self,
        context: &mut Context<'_>,
        in_flight: &mut InFlight<F>,
        begin: &impl Fn(Begun) -> F,
    ) -> Poll<io::Result<()>> {
        loop {
            let asked_to_end = self.client.asked_to_end();
            if asked_to_end >= End::Now {
                return Poll::Ready(Ok(()));
            }
            let mut progress = false;
            if self.client.take_look() {
                in_flight.look_again();
            }
            while let Poll::Ready(answer) = in_flight.poll_ended(context) {
                self.answer(answer);
                progress = true;
            }
            while let Some(change) = self.client.next_event(context) {
                self.machine.push_event(&Event::SchemaChange(push::schema_change(&change)));
                progress = true;
            }
            progress |= self.begin_read(context, in_flight, begin);
            while self.local.node.processor.end_turn() {
                while let Poll::Ready(answer) = in_flight.poll_ended(context) {
                    self.answer(answer);
                    progress = true;
                }
            }
            self.write(context)?;
            let all_written = self.output.is_empty() && self.machine.output_len() == 0;
            let is_over = self.machine.is_closing() || asked_to_end == End::Drain && in_flight.is_empty();
            if is_over && all_written {
                return Poll::Ready(Ok(()));
            }
            match self.read(context, in_flight.len())? {
                Read::Some => progress = true,
                Read::End => return Poll::Ready(Ok(())),
                Read::Nothing => {}
            }
            if !progress {
                self.client.set_waits(!in_flight.is_empty());
                return Poll::Pending;
            }
        }
    }

    /// Begins the requests that were read, as far as the limits allow.
    fn begin_read<F: Future<Output = Answer>>(
        &mut self,
        context: &mut Context<'_>,
        in_flight: &mut InFlight<F>,
        begin: &impl Fn(Begun) -> F,
    ) -> bool {
        let mut progress = false;
        loop {
            if in_flight.len() >= CONNECTION_IN_FLIGHT_REQUESTS || self.output_len() > CONNECTION_OUTPUT_BYTES
            {
                return progress;
            }
            let (request, arrived_nanos, over) = match self.held.take() {
                Some(held) => (held.request, held.arrived_nanos, Some(held.over)),
                None => match self.machine.next_event() {
                    None => return progress,
                    Some(ServerEvent::Rejected(rejection)) => {
                        self.note_rejection(&rejection);
                        progress = true;
                        continue;
                    }
                    Some(ServerEvent::Request(request)) => (request, self.arrived_nanos, None),
                },
            };
            let now_nanos = self.local.node.env.monotonic_nanos();
            if self.answer_at_once(&request, arrived_nanos, now_nanos) {
                progress = true;
                continue;
            }
            let Err(now_over) = self.limits.begin(u64::from(request.body_len), now_nanos) else {
                self.freed = None;
                let begun = self.begun(request, arrived_nanos, now_nanos, over);
                turn::has_more(self.machine.buffered_len() > 0);
                if let Some(answer) = in_flight.begin(begin(begun)) {
                    self.answer(answer);
                }
                progress = true;
                continue;
            };
            if self.throws_on_overload() {
                let error = CqlError::Overloaded(now_over.text().into());
                self.refuse(&request, arrived_nanos, error);
                progress = true;
                continue;
            }
            self.held = Some(Held { request, arrived_nanos, over: now_over });
            if !self.wait_for_room(context) {
                return progress;
            }
        }
    }

    /// Whether it is worth trying again at once.
    fn wait_for_room(&mut self, context: &mut Context<'_>) -> bool {
        let is_new = self.freed.is_none();
        let node = self.limits.node();
        let freed = self.freed.get_or_insert_with(|| Box::pin(ConnectionLimits::freed(Arc::clone(node))));
        let is_freed = freed.as_mut().poll(context).is_ready();
        if is_freed {
            self.freed = None;
        }
        // What was given back before the first poll told nobody.
        is_freed || is_new
    }

    fn throws_on_overload(&self) -> bool {
        let chosen = self.machine.startup_options().and_then(|options| options.throw_on_overload);
        chosen.unwrap_or(self.local.node.transport.throw_on_overload)
    }

    fn begun(
        &self,
        request: ClientRequest,
        arrived_nanos: u64,
        began_nanos: u64,
        over: Option<Over>,
    ) -> Begun {
        self.client.count_request();
        Begun {
            request,
            arrived_nanos,
            began_nanos,
            warnings: over.map(|over| over.warning(&self.limits)).into_iter().collect(),
            client: ClientState {
                keyspace: self.keyspace.clone(),
                role: self.handshake.role.clone(),
                warned_of_use: Arc::clone(&self.warned_of_use),
                ..ClientState::default()
            },
            address: self.client.address,
        }
    }

    /// What needs no statement: the handshake, and requests that may not begin any more.
    fn answer_at_once(&mut self, request: &ClientRequest, arrived_nanos: u64, now_nanos: u64) -> bool {
        if let Some(response) = self.handshake.answer(&request.request, request.reply_to.version) {
            self.client.count_request();
            self.machine.respond(request.reply_to, &response, &Prelude::EMPTY);
            self.answered.push_back((RequestKind::Other, arrived_nanos));
            return true;
        }
        if self.client.asked_to_end() != End::No {
            self.refuse(request, arrived_nanos, CqlError::Overloaded("Server is shutting down".into()));
            return true;
        }
        let waited_nanos = now_nanos.saturating_sub(arrived_nanos);
        if waited_nanos > self.local.node.transport.request_timeout_ms * 1_000_000 {
            let error = CqlError::Overloaded("Query timed out before it could start".into());
            self.refuse(request, arrived_nanos, error);
            return true;
        }
        false
    }

    fn refuse(&mut self, request: &ClientRequest, arrived_nanos: u64, error: CqlError) {
        self.machine.respond(request.reply_to, &Response::Error(error), &Prelude::EMPTY);
        self.answered.push_back((requests::kind_of(&request.request), arrived_nanos));
    }

    fn note_rejection(&self, rejection: &Rejection) {
        if !rejection.is_expected {
            tracing::debug!(client = %self.client.address, error = %rejection.error, "not a request");
        }
    }

    /// Encodes an answer.
    fn answer(&mut self, answer: Answer) {
        let nanos = self.local.node.env.monotonic_nanos().saturating_sub(answer.began_nanos);
        let is_error = matches!(answer.reply, Reply::Message(Response::Error(_)));
        self.local.recorder.served(answer.kind, nanos, is_error);
        self.answered.push_back((answer.kind, answer.arrived_nanos));
        self.limits.end(answer.body_len);
        if let Some(keyspace) = answer.keyspace {
            self.client.set_keyspace(Some(Arc::clone(&keyspace)));
            self.keyspace = Some(keyspace);
        }
        let version = answer.reply_to.version;
        self.machine.lend_output(|| self.local.take_spare());
        match answer.reply {
            Reply::Message(response) => self.machine.respond(answer.reply_to, &response, &answer.prelude),
            Reply::Rows { set, skip_metadata, is_changed, is_prepared } => {
                let columns = match is_prepared {
                    true => self.local.columns(&set.metadata, version),
                    false => Rc::new(encode(&set.metadata, version)),
                };
                let new_metadata_id = is_changed.then_some(set.metadata.id.as_slice());
                let head = RowsHead { columns: &columns, skip_metadata, new_metadata_id };
                let width = set.metadata.columns.len();
                self.machine.respond_with(answer.reply_to, Opcode::Result, &answer.prelude, |_, out| {
                    let mut rows = RowsWriter::begin(out, head);
                    if !set.packed.is_empty() {
                        rows.packed(set.row_count, set.packed.iter().map(|part| &**part));
                    }
                    for (index, cell) in set.values.iter().enumerate() {
                        rows.cell(cell.as_deref());
                        if (index + 1) % width == 0 {
                            rows.end_row();
                        }
                    }
                    rows.finish(set.paging_state.as_deref());
                });
            }
        }
    }

    fn output_len(&self) -> usize {
        self.output.len() + self.machine.output_len()
    }

    /// Writes what there is, as far as the socket takes it.
    fn write(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.output.is_empty() {
                if self.machine.output_len() == 0 {
                    return Ok(());
                }
                self.output = self.machine.take_output();
            }
            while !self.output.is_empty() {
                match pin!(&mut self.stream).poll_write(context, &self.output) {
                    Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                    Poll::Ready(Ok(written)) => self.output.advance(written),
                    Poll::Ready(Err(error)) => return Err(error),
                    Poll::Pending => return Ok(()),
                }
            }
            self.local.keep_spare(std::mem::take(&mut self.output));
            if !self.answered.is_empty() {
                let now_nanos = self.local.node.env.monotonic_nanos();
                self.local.recorder.answered(self.answered.drain(..), now_nanos);
            }
        }
    }

    /// Reads once, unless the connection has enough to do.
    fn read(&mut self, context: &mut Context<'_>, in_flight: usize) -> io::Result<Read> {
        let is_full = self.held.is_some()
            || in_flight >= CONNECTION_IN_FLIGHT_REQUESTS
            || self.output_len() > CONNECTION_OUTPUT_BYTES
            || self.machine.is_closing();
        if is_full {
            return Ok(Read::Nothing);
        }
        if self.machine.stage() != Stage::Ready && self.machine.buffered_len() > HANDSHAKE_INPUT_BYTES {
            tracing::debug!(client = %self.client.address, "closed: too much before the handshake was over");
            return Ok(Read::End);
        }
        // Asked first, so that a connection without anything to read needs no room to read into.
        if self.stream.poll_read_ready(context)?.is_pending() {
            return Ok(Read::Nothing);
        }
        let input = self.machine.input_mut();
        input.reserve(self.read_bytes);
        // Not `try_read_buf`: this takes a short read for the end of what is there, and saves the call that would say so.
        match pin!(self.stream.read_buf(input)).poll(context)? {
            Poll::Pending => Ok(Read::Nothing),
            Poll::Ready(0) => Ok(Read::End),
            Poll::Ready(read) => {
                self.adapt_to(read);
                self.arrived_nanos = self.local.node.env.monotonic_nanos();
                self.client.heard(self.arrived_nanos / 1_000_000);
                Ok(Read::Some)
            }
        }
    }

    /// Busy connections read more at once; idle ones keep little memory.
    fn adapt_to(&mut self, read: usize) {
        if read >= self.read_bytes {
            self.read_bytes = (self.read_bytes * 2).min(READ_BYTES_MAX);
        } else if read < self.read_bytes / 4 {
            self.read_bytes = (self.read_bytes / 2).max(READ_BYTES_MIN);
        }
    }
}

enum Read {
    Some,
    Nothing,
    End,
}
