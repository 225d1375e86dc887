//! An envelope that spans several v5 frames, while its parts arrive (v5 §1;
//! `CQLMessageHandler.LargeMessage`).

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::envelope::{Envelope, Header};
use crate::limits::ENVELOPE_HEADER_LEN;

/// The parts received so far. Memory grows with what arrives, never on the header's word.
#[derive(Debug)]
pub(super) struct LargeMessage {
    header: Header,
    parts: BytesMut,
    received: usize,
    is_too_big: bool,
}

/// What a further part makes of the message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More parts are to come.
    Incomplete,
    /// All is here.
    Complete(Envelope),
    /// All went by, but it was too long to keep; its body's length.
    TooBig(Header),
    /// A part goes beyond the message's end.
    Overrun,
}

impl LargeMessage {
    /// A message with this header, of which nothing has arrived. A body over `max_body` is
    /// dropped as it arrives.
    pub(super) fn new(header: Header, max_body: u32) -> LargeMessage {
        let is_too_big = header.body_len > max_body;
        LargeMessage { header, parts: BytesMut::new(), received: 0, is_too_big }
    }

    /// Adds the payload of the next frame.
    pub(super) fn supply(&mut self, payload: &Bytes) -> Progress {
        let total = ENVELOPE_HEADER_LEN + self.header.body_len as usize;
        self.received += payload.len();
        if self.received > total {
            return Progress::Overrun;
        }
        if !self.is_too_big {
            self.parts.put_slice(payload);
        }
        if self.received < total {
            return Progress::Incomplete;
        }
        if self.is_too_big {
            return Progress::TooBig(self.header);
        }
        let mut body = self.parts.split();
        body.advance(ENVELOPE_HEADER_LEN);
        Progress::Complete(Envelope { header: self.header, body: body.freeze() })
    }
}
