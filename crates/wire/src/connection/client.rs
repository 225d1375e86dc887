//! The client's side of a connection: what the load generator and the tests speak through.

use bytes::{Buf, Bytes, BytesMut};

use super::large::{LargeMessage, Progress};
use super::outbound::{Outbound, frame_format};
use crate::compression::{Compression, DecompressError, decompress};
use crate::envelope::{
    Direction, Envelope, EnvelopeDecoder, EnvelopeError, Flags, Opcode, parse_header, take_framed,
};
use crate::frame::{FrameError, FrameFormat, decode_frame};
use crate::limits::{ENVELOPE_HEADER_LEN, Limits};
use crate::prelude::{CustomPayload, Prelude};
use crate::{ProtocolVersion, Reader, Request, Response, Result, WireError};

/// Longest body accepted from a server, bytes (v5 §2.4.1.5).
const MAX_BODY: u32 = 256 * 1024 * 1024;

/// What may accompany a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// Ask for a trace.
    pub tracing: bool,
    /// A custom payload (v4 and later).
    pub custom_payload: Option<CustomPayload>,
}

/// A response, its message not yet decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseEnvelope {
    /// The version it came in: the client's, unless the server refuses that.
    pub version: ProtocolVersion,
    /// The request it answers, or -1.
    pub stream: i16,
    /// Which message.
    pub opcode: Opcode,
    /// Trace id, warnings, custom payload.
    pub prelude: Prelude,
    /// The message.
    pub body: Bytes,
}

/// A response of which a client in a hurry wants to know little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A RESULT; what it holds was skipped.
    Result {
        /// The request it answers.
        stream: i16,
    },
    /// Anything else, or a RESULT that was to be kept.
    Other(Box<ResponseEnvelope>),
}

impl ResponseEnvelope {
    /// Decodes the message.
    pub fn decode(&self) -> Result<Response> {
        Response::decode(self.opcode, self.version, self.body.clone())
    }
}

/// The server broke the protocol; the connection is of no further use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// A v5 frame is corrupt.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// An envelope's header is not a response's.
    #[error("{}", .0.error)]
    Envelope(Box<EnvelopeError>),
    /// A body does not decompress.
    #[error(transparent)]
    Compression(#[from] DecompressError),
    /// A body is not what its header says.
    #[error(transparent)]
    Body(#[from] WireError),
}

impl From<EnvelopeError> for ClientError {
    fn from(error: EnvelopeError) -> ClientError {
        ClientError::Envelope(Box::new(error))
    }
}

/// The state of one connection.
#[derive(Debug)]
pub struct ClientConnection {
    version: ProtocolVersion,
    decoder: EnvelopeDecoder,
    /// The compression of a STARTUP that is on its way.
    starting: Option<Option<Compression>>,
    body_compression: Option<Compression>,
    frames: Option<FrameFormat>,
    input: BytesMut,
    payload: Bytes,
    large: Option<LargeMessage>,
    /// A message that spanned several frames, all here.
    whole: Option<Envelope>,
    output: Outbound,
}

impl ClientConnection {
    /// A new connection that speaks `version`.
    pub fn new(version: ProtocolVersion) -> ClientConnection {
        let limits = Limits { max_frame_size: MAX_BODY, ..Limits::default() };
        ClientConnection {
            version,
            decoder: EnvelopeDecoder::new(Direction::Response, &limits),
            starting: None,
            body_compression: None,
            frames: None,
            input: BytesMut::new(),
            payload: Bytes::new(),
            large: None,
            whole: None,
            output: Outbound::default(),
        }
    }

    /// The version spoken.
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// Appends a request. After a STARTUP send nothing until it is answered: the answer puts
    /// compression and frames into effect (v5 §2.3.1).
    pub fn send(&mut self, stream: i16, request: &Request, options: &RequestOptions) -> Result<()> {
        if let Request::Startup(startup) = request {
            self.starting = Some(startup.negotiate(self.version)?.compression);
        }
        let prelude = Prelude { custom_payload: options.custom_payload.clone(), ..Prelude::EMPTY };
        let mut result = Ok(());
        // A request that cannot be encoded must not leave half an envelope behind.
        let mut body = BytesMut::new();
        let flags = prelude.append(self.version, &mut body);
        request.append(self.version, &mut body).unwrap_or_else(|error| result = Err(error));
        result?;
        self.output.envelope(self.version.number(), request.opcode(), stream, |out| {
            out.extend_from_slice(&body);
            let mut flags = flags;
            if options.tracing {
                flags.insert(Flags::TRACING);
            }
            if self.version.is_beta() {
                flags.insert(Flags::USE_BETA);
            }
            flags
        });
        Ok(())
    }

    /// Appends a request without options whose message `body` writes.
    pub fn send_with(
        &mut self,
        stream: i16,
        opcode: Opcode,
        body: impl FnOnce(ProtocolVersion, &mut BytesMut),
    ) {
        let version = self.version;
        self.output.envelope(version.number(), opcode, stream, |out| {
            body(version, out);
            if version.is_beta() { Flags::USE_BETA } else { Flags::default() }
        });
    }

    /// Bytes written and not taken, about.
    pub fn output_len(&self) -> usize {
        self.output.pending_len()
    }

    /// Takes all requests written so far.
    pub fn take_output(&mut self) -> BytesMut {
        self.output.take()
    }

    /// The buffer to read from the socket into.
    pub fn input_mut(&mut self) -> &mut BytesMut {
        &mut self.input
    }

    /// Adds received bytes by copying.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The next response, or `None` until more bytes arrive.
    pub fn next_response(&mut self) -> std::result::Result<Option<ResponseEnvelope>, ClientError> {
        let Some(envelope) = self.next_envelope()? else { return Ok(None) };
        let Envelope { header, mut body } = envelope;
        if let Some(algorithm) = self.body_compression
            && header.flags.contains(Flags::COMPRESSED)
        {
            body = decompress(algorithm, &body, MAX_BODY)?;
        }
        let mut reader = Reader::new(body);
        let prelude = Prelude::read(&header, &mut reader)?;
        if matches!(header.opcode, Opcode::Ready | Opcode::Authenticate)
            && let Some(compression) = self.starting.take()
        {
            self.output.activate(self.version, compression);
            if self.version.is_framed() {
                self.frames = Some(frame_format(compression));
            } else {
                self.body_compression = compression;
            }
        }
        Ok(Some(ResponseEnvelope {
            version: header.version,
            stream: header.stream,
            opcode: header.opcode,
            prelude,
            body: reader.into_rest(),
        }))
    }

    /// The next response, or `None` until more bytes arrive; a RESULT of a stream of which `skims`
    /// says so is skipped, neither decompressed nor decoded.
    pub fn next_answer(
        &mut self,
        skims: impl Fn(i16) -> bool,
    ) -> std::result::Result<Option<Answer>, ClientError> {
        let is_framed = self.frames.is_some();
        if is_framed && self.whole.is_none() && !self.next_payload()? {
            return Ok(None);
        }
        let bytes: &[u8] = if is_framed { &self.payload } else { &self.input };
        if let Some(Ok(header)) = parse_header(bytes, Direction::Response, true)
            && header.opcode == Opcode::Result
            && skims(header.stream)
        {
            let total = ENVELOPE_HEADER_LEN + header.body_len as usize;
            if bytes.len() >= total {
                if is_framed {
                    self.payload.advance(total);
                } else {
                    self.input.advance(total);
                }
                return Ok(Some(Answer::Result { stream: header.stream }));
            }
        }
        Ok(self.next_response()?.map(|response| Answer::Other(Box::new(response))))
    }

    /// Decodes frames until one holds whole envelopes; a large message that ends is among them.
    fn next_payload(&mut self) -> std::result::Result<bool, ClientError> {
        let Some(format) = self.frames else { return Ok(false) };
        while self.payload.is_empty() {
            let Some(frame) = decode_frame(format, &mut self.input)? else { return Ok(false) };
            if frame.is_self_contained {
                self.payload = frame.payload;
            } else if let Some(envelope) = self.large_part(&frame.payload)? {
                self.whole = Some(envelope);
                return Ok(true);
            }
        }
        Ok(true)
    }

    fn next_envelope(&mut self) -> std::result::Result<Option<Envelope>, ClientError> {
        if self.frames.is_none() {
            return Ok(self.decoder.decode(&mut self.input)?);
        }
        if self.whole.is_none() && !self.next_payload()? {
            return Ok(None);
        }
        if let Some(envelope) = self.whole.take() {
            return Ok(Some(envelope));
        }
        take_framed(&mut self.payload, Direction::Response, true)
            .map(Some)
            .map_err(|error| error.map_or_else(beyond_frame, ClientError::from))
    }

    fn large_part(&mut self, payload: &Bytes) -> std::result::Result<Option<Envelope>, ClientError> {
        if self.large.is_none() {
            let header = parse_header(payload, Direction::Response, true).ok_or_else(beyond_frame)??;
            self.large = Some(LargeMessage::new(header, MAX_BODY));
        }
        match self.large.as_mut().map(|large| large.supply(payload)) {
            None | Some(Progress::Incomplete) => Ok(None),
            Some(Progress::Complete(envelope)) => {
                self.large = None;
                Ok(Some(envelope))
            }
            Some(Progress::TooBig(_) | Progress::Overrun) => Err(beyond_frame()),
        }
    }
}

fn beyond_frame() -> ClientError {
    ClientError::Body(WireError::protocol("A message does not end with its frame"))
}
