//! The server's side of a connection (`transport/{InitialConnectionHandler,CQLMessageHandler,
//! PreV5Handlers,ServerConnection}`).
//!
//! Feed it bytes, take events until there are none, answer the requests, send the output. Requests
//! that break the protocol are answered here; whoever owns the socket learns of them as
//! [`ServerEvent::Rejected`] and closes where that says so, after the output is sent.

use basalt_model::CqlError;
use bytes::{Buf, Bytes, BytesMut};

use super::event::{ClientRequest, Rejection, ServerEvent, Stage};
use super::large::{LargeMessage, Progress};
use super::outbound::{Outbound, ReplyTo, frame_format};
use crate::compression::{Compression, decompress};
use crate::envelope::{
    Direction, EVENT_STREAM, Envelope, EnvelopeDecoder, EnvelopeError, Flags, Opcode, parse_header,
    take_framed,
};
use crate::frame::{FrameFormat, decode_frame};
use crate::limits::{ENVELOPE_HEADER_LEN, Limits};
use crate::prelude::Prelude;
use crate::request::StartupOptions;
use crate::response::{Event, Response};
use crate::{ProtocolVersion, Reader, Request, WireError};

/// The state of one connection.
#[derive(Debug)]
pub struct ServerConnection {
    id: u32,
    limits: Limits,
    stage: Stage,
    version: Option<ProtocolVersion>,
    startup: Option<(i16, StartupOptions)>,
    decoder: EnvelopeDecoder,
    body_compression: Option<Compression>,
    frames: Option<FrameFormat>,
    input: BytesMut,
    /// What is left of the current self-contained frame.
    payload: Bytes,
    large: Option<LargeMessage>,
    errors_in_row: u32,
    is_closing: bool,
    output: Outbound,
}

impl ServerConnection {
    /// A new connection. `id` names it in the one text that does (corrupt frames).
    pub fn new(id: u32, limits: Limits) -> ServerConnection {
        ServerConnection {
            id,
            limits,
            stage: Stage::Established,
            version: None,
            startup: None,
            decoder: EnvelopeDecoder::new(Direction::Request, &limits),
            body_compression: None,
            frames: None,
            input: BytesMut::new(),
            payload: Bytes::new(),
            large: None,
            errors_in_row: 0,
            is_closing: false,
            output: Outbound::default(),
        }
    }

    /// How far the connection is.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The version of the connection; `None` before STARTUP was answered.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// What STARTUP asked for, once one was accepted.
    pub fn startup_options(&self) -> Option<&StartupOptions> {
        self.startup.as_ref().map(|(_, options)| options)
    }

    /// Whether the connection is to be closed once its output is sent.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// The buffer to read from the socket into. Reserve what one read may bring, not more: the
    /// machine itself never asks for memory ahead of the bytes.
    pub fn input_mut(&mut self) -> &mut BytesMut {
        &mut self.input
    }

    /// Adds received bytes by copying; see [`ServerConnection::input_mut`].
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Bytes received and not yet handed out.
    pub fn buffered_len(&self) -> usize {
        self.input.len() + self.payload.len()
    }

    /// The next event, or `None` until more bytes arrive, STARTUP is answered, or for good once
    /// the connection closes.
    pub fn next_event(&mut self) -> Option<ServerEvent> {
        loop {
            if self.is_closing || self.stage == Stage::Starting {
                return None;
            }
            match self.frames {
                None => {
                    return match self.decoder.decode(&mut self.input) {
                        Ok(envelope) => envelope.map(|envelope| self.unframed(envelope)),
                        Err(error) => Some(self.reject_envelope(error)),
                    };
                }
                Some(_) if !self.payload.is_empty() => return Some(self.framed()),
                Some(format) => match decode_frame(format, &mut self.input) {
                    Ok(None) => return None,
                    Ok(Some(frame)) => {
                        self.errors_in_row = 0;
                        if frame.is_self_contained {
                            self.payload = frame.payload;
                        } else if let Some(event) = self.large_part(&frame.payload) {
                            return Some(event);
                        }
                    }
                    Err(error) => {
                        let text = format!("{:08x} {error}", self.id);
                        return Some(self.reject_frame(text));
                    }
                },
            }
        }
    }

    /// v3, v4, and the handshake.
    fn unframed(&mut self, envelope: Envelope) -> ServerEvent {
        let header = envelope.header;
        if self.stage == Stage::Established {
            if !matches!(header.opcode, Opcode::Startup | Opcode::Options) {
                return self.reject(
                    header.version,
                    header.stream,
                    unexpected_before_startup(header.opcode),
                    true,
                );
            }
            return self.request(envelope);
        }
        if let Some(version) = self.version
            && version != header.version
        {
            let text = format!(
                "Invalid message version. Got {} but previous messages on this connection had version {version}",
                header.version
            );
            return self.reject(version, header.stream, WireError::protocol(text), false);
        }
        match self.body_compression {
            Some(algorithm) if header.flags.contains(Flags::COMPRESSED) => {
                match decompress(algorithm, &envelope.body, self.limits.max_frame_size) {
                    Ok(body) => self.request(Envelope { header, body }),
                    // The exception knows no stream, so Cassandra closes without an answer.
                    Err(error) => self.close_silently(WireError::protocol(error.to_string())),
                }
            }
            _ => self.request(envelope),
        }
    }

    /// The next envelope of a self-contained frame.
    fn framed(&mut self) -> ServerEvent {
        let version = self.version.unwrap_or(ProtocolVersion::CURRENT);
        let allow_older = self.limits.allow_older_protocols;
        match take_framed(&mut self.payload, Direction::Request, allow_older) {
            Ok(envelope) if envelope.header.version != version => {
                let header = envelope.header;
                // Cassandra's text has no space there.
                let text = format!(
                    "Invalid message version. Got {} but previousmessages on this connection had version {version}",
                    header.version
                );
                self.reject_in_frame(version.number(), header.stream, WireError::protocol(text), false)
            }
            Ok(envelope) => self.request(envelope),
            Err(None) => {
                let text = format!(
                    "A message goes beyond the end of its frame ({} bytes remaining)",
                    self.payload.len()
                );
                self.reject_frame(text)
            }
            Err(Some(error)) => {
                let skip = usize::try_from(error.body_len).unwrap_or(0).saturating_add(ENVELOPE_HEADER_LEN);
                self.payload.advance(skip.min(self.payload.len()));
                let answer_version = error.answer_version.unwrap_or(version.number());
                let stream = error.stream.unwrap_or(0);
                self.reject_in_frame(answer_version, stream, error.error, error.body_len < 0)
            }
        }
    }

    /// A part of an envelope that spans several frames.
    fn large_part(&mut self, payload: &Bytes) -> Option<ServerEvent> {
        let version = self.version.unwrap_or(ProtocolVersion::CURRENT);
        if self.large.is_none() {
            match self.begin_large(payload, version) {
                Ok(large) => self.large = Some(large),
                Err(event) => return Some(*event),
            }
        }
        match self.large.as_mut()?.supply(payload) {
            Progress::Incomplete => None,
            Progress::Complete(envelope) => {
                self.large = None;
                Some(self.request(envelope))
            }
            Progress::TooBig(header) => {
                self.large = None;
                let text = format!(
                    "CQL Message of size {} bytes exceeds allowed maximum of {} bytes",
                    header.body_len, self.limits.max_message_size
                );
                Some(self.reject(version, header.stream, WireError::invalid(text), false))
            }
            Progress::Overrun => {
                Some(self.reject_frame("A frame goes beyond the end of the message it is part of".to_owned()))
            }
        }
    }

    fn begin_large(
        &mut self,
        payload: &Bytes,
        version: ProtocolVersion,
    ) -> Result<LargeMessage, Box<ServerEvent>> {
        let header = match parse_header(payload, Direction::Request, self.limits.allow_older_protocols) {
            Some(Ok(header)) => header,
            Some(Err(error)) => {
                let stream = error.stream.unwrap_or(0);
                let answer_version = error.answer_version.unwrap_or(version.number());
                return Err(Box::new(self.answer_rejection(answer_version, stream, error.error, true)));
            }
            None => {
                let text = format!(
                    "A message's first frame does not hold its header ({} bytes remaining)",
                    payload.len()
                );
                return Err(Box::new(self.reject_frame(text)));
            }
        };
        if header.version != version {
            let text = format!(
                "Invalid message version. Got {} but previousmessages on this connection had version {version}",
                header.version
            );
            return Err(Box::new(self.reject(version, header.stream, WireError::protocol(text), true)));
        }
        if self.stage != Stage::Ready {
            // Unauthenticated clients may not make the server collect large messages.
            let text = format!(
                "The connection is not yet in a valid state to process multi frame CQL Messages, usually \
                 thismeans that authentication is still pending. type = {}, size = {}",
                header.opcode, header.body_len
            );
            return Err(Box::new(self.reject(version, header.stream, WireError::protocol(text), true)));
        }
        Ok(LargeMessage::new(header, self.limits.max_message_size))
    }

    /// Decodes a whole message and checks it against the stage.
    fn request(&mut self, envelope: Envelope) -> ServerEvent {
        let Envelope { header, body } = envelope;
        let reply_to = ReplyTo { version: header.version, stream: header.stream };
        let mut body = Reader::new(body);
        let decoded = Prelude::read(&header, &mut body).and_then(|prelude| {
            let request = Request::decode(header.opcode, header.version, &mut body)?;
            Ok((prelude, request))
        });
        let (prelude, request) = match decoded {
            Ok(decoded) => decoded,
            Err(error) if self.frames.is_some() => {
                return self.reject_in_frame(header.version.number(), header.stream, error, false);
            }
            // A broken handshake ends the connection; Cassandra does not even answer it.
            Err(error) => {
                let close = self.stage == Stage::Established;
                return self.reject(header.version, header.stream, error, close);
            }
        };
        self.errors_in_row = 0;
        if let Err(error) = self.check_stage(&request, reply_to) {
            return self.reject(header.version, header.stream, error, false);
        }
        ServerEvent::Request(ClientRequest {
            reply_to,
            request,
            tracing: header.flags.contains(Flags::TRACING),
            custom_payload: prelude.custom_payload,
            body_len: header.body_len,
        })
    }

    /// `ServerConnection.validateNewMessage`, and STARTUP's own rules.
    fn check_stage(&mut self, request: &Request, reply_to: ReplyTo) -> crate::Result<()> {
        match (self.stage, request) {
            (Stage::Established, Request::Startup(startup)) => {
                let options = startup.negotiate(reply_to.version)?;
                self.startup = Some((reply_to.stream, options));
                self.version = Some(reply_to.version);
                self.stage = Stage::Starting;
                Ok(())
            }
            (Stage::Authenticating, Request::AuthResponse(_)) => Ok(()),
            (Stage::Authenticating, other) => Err(WireError::protocol(format!(
                "Unexpected message {}, expecting SASL_RESPONSE",
                other.opcode()
            ))),
            (Stage::Ready, Request::Startup(_)) => {
                Err(WireError::protocol("Unexpected message STARTUP, the connection is already initialized"))
            }
            _ => Ok(()),
        }
    }

    fn reject(
        &mut self,
        version: ProtocolVersion,
        stream: i16,
        error: WireError,
        close: bool,
    ) -> ServerEvent {
        self.answer_rejection(version.number(), stream, error, close)
    }

    /// Several broken messages in a row make a frame worthless: the connection closes
    /// (`consecutive_message_errors_threshold`).
    fn reject_in_frame(&mut self, version: u8, stream: i16, error: WireError, close: bool) -> ServerEvent {
        self.errors_in_row += 1;
        let close = close || self.errors_in_row > self.limits.consecutive_message_errors_threshold;
        self.answer_rejection(version, stream, error, close)
    }

    /// A frame that cannot be read: streams are unknown, so the answer goes to stream 0, and the
    /// connection closes (`ExceptionHandlers.PostV5ExceptionHandler`).
    fn reject_frame(&mut self, text: String) -> ServerEvent {
        let version = self.version.unwrap_or(ProtocolVersion::CURRENT);
        self.reject(version, 0, WireError::protocol(text), true)
    }

    fn reject_envelope(&mut self, error: EnvelopeError) -> ServerEvent {
        let Some(stream) = error.stream else {
            let event = self.close_silently(error.error);
            return mark_expected(event, error.is_expected);
        };
        let own_version = self.version.unwrap_or(ProtocolVersion::CURRENT).number();
        let version = error.answer_version.unwrap_or(own_version);
        let event = self.answer_rejection(version, stream, error.error, false);
        mark_expected(event, error.is_expected)
    }

    fn close_silently(&mut self, error: WireError) -> ServerEvent {
        self.is_closing = true;
        ServerEvent::Rejected(Rejection {
            error: error.into(),
            is_answered: false,
            close: true,
            is_expected: false,
        })
    }

    fn answer_rejection(&mut self, version: u8, stream: i16, error: WireError, close: bool) -> ServerEvent {
        let error = CqlError::from(error);
        let response = Response::Error(error.clone());
        let known = ProtocolVersion::from_number(version);
        let form = known.unwrap_or(ProtocolVersion::V3);
        self.output.envelope(version, Opcode::Error, stream, |out| {
            response.append(form, out);
            if form.is_beta() { Flags::USE_BETA } else { Flags::default() }
        });
        self.is_closing |= close;
        ServerEvent::Rejected(Rejection { error, is_answered: true, close, is_expected: false })
    }

    /// Answers a request.
    pub fn respond(&mut self, reply_to: ReplyTo, response: &Response, prelude: &Prelude) {
        self.respond_with(reply_to, response.opcode(), prelude, |version, out| {
            response.append(version, out);
        });
    }

    /// Answers a request with a body written in place, such as a
    /// [`RowsWriter`](crate::response::result::RowsWriter) writes.
    ///
    /// The answer to STARTUP settles the connection: READY and AUTHENTICATE put version,
    /// compression and frames into effect behind themselves (v5 §2.3.1); an ERROR leaves it as new.
    pub fn respond_with(
        &mut self,
        reply_to: ReplyTo,
        opcode: Opcode,
        prelude: &Prelude,
        body: impl FnOnce(ProtocolVersion, &mut BytesMut),
    ) {
        let ReplyTo { version, stream } = reply_to;
        self.output.envelope(version.number(), opcode, stream, |out| {
            let mut flags = prelude.append(version, out);
            if version.is_beta() {
                flags.insert(Flags::USE_BETA);
            }
            body(version, out);
            flags
        });
        self.after_response(opcode, stream);
    }

    fn after_response(&mut self, opcode: Opcode, stream: i16) {
        match (self.stage, opcode) {
            (Stage::Starting, Opcode::Ready | Opcode::Authenticate | Opcode::Error)
                if self.startup.as_ref().is_some_and(|(startup, _)| *startup == stream) =>
            {
                self.after_startup(opcode);
            }
            (Stage::Authenticating, Opcode::AuthSuccess) => self.stage = Stage::Ready,
            _ => {}
        }
    }

    fn after_startup(&mut self, opcode: Opcode) {
        let (Some((_, options)), Some(version)) = (&self.startup, self.version) else { return };
        let compression = options.compression;
        self.stage = match opcode {
            Opcode::Ready => Stage::Ready,
            Opcode::Authenticate => Stage::Authenticating,
            _ => {
                self.startup = None;
                self.version = None;
                self.stage = Stage::Established;
                return;
            }
        };
        self.output.activate(version, compression);
        if version.is_framed() {
            self.frames = Some(frame_format(compression));
        } else {
            self.body_compression = compression;
        }
    }

    /// Sends an event. Only a connection that has registered for it wants one; which those are is
    /// kept by whoever owns the connections.
    pub fn push_event(&mut self, event: &Event) {
        let version = self.version.unwrap_or(ProtocolVersion::CURRENT);
        self.respond(
            ReplyTo { version, stream: EVENT_STREAM },
            &Response::Event(event.clone()),
            &Prelude::EMPTY,
        );
    }

    /// Bytes of responses waiting to be taken.
    pub fn output_len(&self) -> usize {
        self.output.pending_len()
    }

    /// Lends an empty buffer for the responses that come, if there are none yet: one that has its room already.
    pub fn lend_output(&mut self, buffer: impl FnOnce() -> BytesMut) {
        self.output.lend(buffer);
    }

    /// Takes all responses written so far. In v5 they share frames: answer what has been read,
    /// then take once.
    pub fn take_output(&mut self) -> BytesMut {
        self.output.take()
    }
}

fn unexpected_before_startup(opcode: Opcode) -> WireError {
    WireError::protocol(format!("Unexpected message {opcode}, expecting STARTUP or OPTIONS"))
}

fn mark_expected(event: ServerEvent, is_expected: bool) -> ServerEvent {
    match event {
        ServerEvent::Rejected(rejection) => ServerEvent::Rejected(Rejection { is_expected, ..rejection }),
        request @ ServerEvent::Request(_) => request,
    }
}
