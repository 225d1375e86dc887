//! Envelopes: the 9-byte header and the body behind it (v5 §2.4; v3 and v4 §2), in every version.
//!
//! ```text
//! version and direction, 1 | flags, 1 | stream, 2 | opcode, 1 | body length, 4 | body
//! ```
//!
//! All big-endian. What is in the body is not known here.

mod decode;
mod opcode;

pub use decode::{EnvelopeDecoder, EnvelopeError, parse_header, take_framed};
pub use opcode::{Direction, Opcode};

use bytes::{BufMut, Bytes, BytesMut};

use crate::ProtocolVersion;
use crate::limits::ENVELOPE_HEADER_LEN;

/// Stream id of everything the server sends unasked (v5 §2.4.1.3).
pub const EVENT_STREAM: i16 = -1;

/// The flags byte of a header (v5 §2.4.1.2). Unknown bits are kept and ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// The body is compressed (v3, v4; ignored in v5).
    pub const COMPRESSED: Flags = Flags(0x01);
    /// Request: trace it. Response: a trace id comes first in the body.
    pub const TRACING: Flags = Flags(0x02);
    /// A `[bytes map]` precedes the message (v4 and later).
    pub const CUSTOM_PAYLOAD: Flags = Flags(0x04);
    /// Warnings precede the message (responses, v4 and later).
    pub const WARNING: Flags = Flags(0x08);
    /// The client agrees to a beta version.
    pub const USE_BETA: Flags = Flags(0x10);

    /// Whether all bits of `flag` are set.
    pub fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 == flag.0
    }

    /// Sets the bits of `flag`.
    pub fn insert(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }
}

/// A decoded header; the body's length is that of the body that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of this envelope.
    pub version: ProtocolVersion,
    /// Its flags.
    pub flags: Flags,
    /// Its stream: which request a response answers.
    pub stream: i16,
    /// Which message it carries.
    pub opcode: Opcode,
    /// Length of the body as sent, bytes.
    pub body_len: u32,
}

/// One message, still encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The header, as sent.
    pub header: Header,
    /// The body; decompressed if it came compressed.
    pub body: Bytes,
}

/// Appends an envelope: header, then whatever `body` appends; the length is filled in afterwards.
/// `body` may also return flags that are only known once the body is written.
///
/// `version` is a number, not a [`ProtocolVersion`], because versions 1 and 2 are answered too:
/// their header has a single byte of stream (v2 §2).
pub fn append_envelope(
    out: &mut BytesMut,
    version: u8,
    opcode: Opcode,
    stream: i16,
    body: impl FnOnce(&mut BytesMut) -> Flags,
) {
    let start = out.len();
    let direction_bit = match opcode.direction() {
        Direction::Request => 0,
        Direction::Response => 0x80,
    };
    out.put_u8(version | direction_bit);
    out.put_u8(0);
    if version < ProtocolVersion::V3.number() {
        out.put_i8(stream as i8);
    } else {
        out.put_i16(stream);
    }
    out.put_u8(opcode.code());
    let len_at = out.len();
    out.put_u32(0);
    let body_start = out.len();
    let flags = body(out);
    let body_len = u32::try_from(out.len() - body_start).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start + 1) {
        *place = flags.0;
    }
    if let Some(place) = out.get_mut(len_at..body_start) {
        place.copy_from_slice(&body_len.to_be_bytes());
    }
}

impl Envelope {
    /// Length of the whole envelope as sent, bytes.
    pub fn len(&self) -> usize {
        ENVELOPE_HEADER_LEN + self.header.body_len as usize
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.header.body_len == 0
    }
}

#[cfg(test)]
mod tests;
