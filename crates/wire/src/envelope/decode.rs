//! Takes envelopes off the front of a growing buffer (`transport/Envelope.Decoder`).

use bytes::{Buf, Bytes, BytesMut};

use super::{Direction, Envelope, Flags, Header, Opcode};
use crate::limits::{ENVELOPE_HEADER_LEN, Limits};
use crate::negotiation::Refusal;
use crate::{ProtocolVersion, WireError};

/// An envelope that is refused. The bytes it stood for are gone from the buffer (or will be
/// skipped as they arrive), so that reading can go on unless the connection closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeError {
    /// What the client is told.
    pub error: WireError,
    /// The stream to answer on; `None` when too little arrived to know one: Cassandra then closes
    /// the connection without an answer.
    pub stream: Option<i16>,
    /// Version number the answer carries, when not the connection's own.
    pub answer_version: Option<u8>,
    /// A driver's usual probe: not worth a log line.
    pub is_expected: bool,
    /// Length of the body, if the header states one; negative in a frame is possible.
    pub body_len: i64,
}

impl EnvelopeError {
    pub(crate) fn new(error: WireError, stream: i16, body_len: i64) -> EnvelopeError {
        EnvelopeError { error, stream: Some(stream), answer_version: None, is_expected: false, body_len }
    }

    fn refused(refusal: Refusal, stream: Option<i16>, body_len: i64) -> EnvelopeError {
        EnvelopeError {
            error: refusal.error,
            stream,
            answer_version: refusal.answer_version,
            is_expected: refusal.is_expected,
            body_len,
        }
    }
}

/// The parts of a header, unchecked.
#[derive(Clone, Copy)]
struct RawHeader {
    first: u8,
    flags: u8,
    stream: i16,
    opcode: u8,
    body_len: u32,
}

impl RawHeader {
    fn read(bytes: &[u8]) -> Option<RawHeader> {
        let [first, flags, s0, s1, opcode, l0, l1, l2, l3] = *bytes.first_chunk::<ENVELOPE_HEADER_LEN>()?;
        Some(RawHeader {
            first,
            flags,
            stream: i16::from_be_bytes([s0, s1]),
            opcode,
            body_len: u32::from_be_bytes([l0, l1, l2, l3]),
        })
    }

    fn total_len(self) -> u64 {
        u64::from(self.body_len) + ENVELOPE_HEADER_LEN as u64
    }

    fn check(self, version: ProtocolVersion, direction: Direction) -> Result<Header, EnvelopeError> {
        let refuse = |error| EnvelopeError::new(error, self.stream, i64::from(self.body_len));
        let flags = Flags(self.flags);
        version
            .check_beta(flags.contains(Flags::USE_BETA))
            .map_err(|error| EnvelopeError { answer_version: Some(version.number()), ..refuse(error) })?;
        let opcode = Opcode::decode(self.opcode, Direction::of(self.first)).map_err(refuse)?;
        if opcode.direction() != direction {
            // Well-formed, but sent by the wrong side (`Message.RequestDecoder`).
            let text = format!("Unexpected {} message {opcode}, expecting {direction}", opcode.direction());
            return Err(refuse(WireError::protocol(text)));
        }
        Ok(Header { version, flags, stream: self.stream, opcode, body_len: self.body_len })
    }
}

/// Checks the header at the front of `bytes`; `None` if fewer than nine bytes are there.
///
/// In frames the length is a signed `[int]`: a negative one cannot be skipped
/// (`Envelope.Decoder.extractHeader`).
pub fn parse_header(
    bytes: &[u8],
    direction: Direction,
    allow_older: bool,
) -> Option<Result<Header, EnvelopeError>> {
    let raw = RawHeader::read(bytes)?;
    let body_len = i64::from(raw.body_len.cast_signed());
    if body_len < 0 {
        let text = format!("Invalid value for envelope header body length field: {body_len}");
        return Some(Err(EnvelopeError::new(WireError::protocol(text), raw.stream, body_len)));
    }
    Some(match ProtocolVersion::negotiate(raw.first, allow_older) {
        Ok(version) => raw.check(version, direction),
        Err(refusal) => Err(EnvelopeError::refused(refusal, Some(raw.stream), body_len)),
    })
}

/// Takes the envelope at the front of a self-contained frame's payload. `Err(None)` means that the
/// payload ends within the envelope. On any error the payload is left as it was.
pub fn take_framed(
    payload: &mut Bytes,
    direction: Direction,
    allow_older: bool,
) -> Result<Envelope, Option<EnvelopeError>> {
    let header = parse_header(payload, direction, allow_older).ok_or(None)?.map_err(Some)?;
    let total = ENVELOPE_HEADER_LEN + header.body_len as usize;
    if payload.len() < total {
        return Err(None);
    }
    let mut body = payload.split_to(total);
    body.advance(ENVELOPE_HEADER_LEN);
    Ok(Envelope { header, body })
}

/// Decodes unframed envelopes: v3, v4, and the handshake of v5.
#[derive(Clone, Debug)]
pub struct EnvelopeDecoder {
    direction: Direction,
    max_frame_size: u32,
    allow_older: bool,
    discarding: Option<Discarding>,
}

/// A refused envelope is skipped as its bytes arrive.
#[derive(Clone, Debug)]
struct Discarding {
    left: u64,
    /// Reported once the last byte is gone.
    error: Option<EnvelopeError>,
}

impl EnvelopeDecoder {
    /// A decoder of what the side `direction` sends.
    pub fn new(direction: Direction, limits: &Limits) -> EnvelopeDecoder {
        EnvelopeDecoder {
            direction,
            max_frame_size: limits.max_frame_size,
            allow_older: limits.allow_older_protocols,
            discarding: None,
        }
    }

    /// The next envelope of `buffer`, removed from it, or `None` while its bytes are incomplete.
    ///
    /// Bodies are slices of `buffer`'s memory. The limit on length is checked before the body is
    /// waited for, so that no buffer grows beyond it.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Envelope>, EnvelopeError> {
        if !self.discard(buffer)? {
            return Ok(None);
        }
        let Some(first) = buffer.first().copied() else { return Ok(None) };
        let raw = RawHeader::read(buffer);
        let version = match ProtocolVersion::negotiate(first, self.allow_older) {
            Ok(version) => version,
            Err(refusal) => return Err(unknown_version(refusal, raw, buffer)),
        };
        let Some(raw) = raw else { return Ok(None) };
        let header = match raw.check(version, self.direction) {
            Ok(header) => header,
            Err(error) => {
                self.discarding = Some(Discarding { left: raw.total_len(), error: None });
                self.discard(buffer)?;
                return Err(error);
            }
        };
        if raw.total_len() > u64::from(self.max_frame_size) {
            let text = format!(
                "Request is too big: length {} exceeds maximum allowed length {}.",
                raw.total_len(),
                self.max_frame_size
            );
            let error = EnvelopeError::new(WireError::invalid(text), raw.stream, i64::from(raw.body_len));
            self.discarding = Some(Discarding { left: raw.total_len(), error: Some(error) });
            self.discard(buffer)?;
            return Ok(None);
        }
        let total = ENVELOPE_HEADER_LEN + raw.body_len as usize;
        if buffer.len() < total {
            return Ok(None);
        }
        let mut body = buffer.split_to(total);
        body.advance(ENVELOPE_HEADER_LEN);
        Ok(Some(Envelope { header, body: body.freeze() }))
    }

    /// Skips what is left of a refused envelope; whether reading can go on.
    fn discard(&mut self, buffer: &mut BytesMut) -> Result<bool, EnvelopeError> {
        let Some(mut discarding) = self.discarding.take() else { return Ok(true) };
        let skip = (buffer.len() as u64).min(discarding.left);
        buffer.advance(skip as usize);
        discarding.left -= skip;
        if discarding.left > 0 {
            self.discarding = Some(discarding);
            return Ok(false);
        }
        discarding.error.map_or(Ok(true), Err)
    }
}

/// Of a version that is not spoken nothing can be skipped: all that arrived is dropped. Versions 1
/// and 2 have shorter headers with one byte of stream; with less than nine bytes at hand no stream
/// is taken from them at all.
fn unknown_version(refusal: Refusal, raw: Option<RawHeader>, buffer: &mut BytesMut) -> EnvelopeError {
    buffer.clear();
    let stream =
        raw.map(
            |raw| {
                if raw.first & 0x7f < ProtocolVersion::V3.number() { raw.stream >> 8 } else { raw.stream }
            },
        );
    EnvelopeError::refused(refusal, stream, 0)
}
