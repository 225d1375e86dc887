//! What goes out on a connection: envelopes, packed into frames in v5, compressed one by one in
//! v3 and v4.

use bytes::BytesMut;

use crate::ProtocolVersion;
use crate::compression::{Compression, compress};
use crate::envelope::{Flags, Opcode, append_envelope};
use crate::frame::{FrameFormat, FrameWriter};
use crate::limits::MIN_COMPRESSED_BODY;

/// Where a response belongs: the version and stream of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplyTo {
    /// The request's version: the connection's, once that has one.
    pub version: ProtocolVersion,
    /// The request's stream.
    pub stream: i16,
}

/// Encoded envelopes on their way to the socket.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    bytes: BytesMut,
    frames: Option<FrameWriter>,
    body_compression: Option<Compression>,
}

impl Outbound {
    /// From now on: frames (v5) or compressed bodies (v3, v4).
    pub(super) fn activate(&mut self, version: ProtocolVersion, compression: Option<Compression>) {
        if version.is_framed() {
            self.frames = Some(FrameWriter::new(frame_format(compression)));
        } else {
            self.body_compression = compression;
        }
    }

    /// Appends one envelope. `version` is a number, for versions 1 and 2 are answered, too.
    pub(super) fn envelope(
        &mut self,
        version: u8,
        opcode: Opcode,
        stream: i16,
        body: impl FnOnce(&mut BytesMut) -> Flags,
    ) {
        let compression = self.body_compression;
        let write = |out: &mut BytesMut| {
            append_envelope(out, version, opcode, stream, |out| {
                let start = out.len();
                let mut flags = body(out);
                if let Some(algorithm) = compression
                    && out.len() - start >= MIN_COMPRESSED_BODY
                {
                    let plain = out.split_off(start);
                    if compress(algorithm, &plain, out) {
                        flags.insert(Flags::COMPRESSED);
                    } else {
                        out.unsplit(plain);
                    }
                }
                flags
            });
        };
        match &mut self.frames {
            Some(frames) => frames.envelope(&mut self.bytes, write),
            None => write(&mut self.bytes),
        }
    }

    /// Bytes waiting to be taken, frames not yet closed included; an estimate while LZ4 is on.
    pub(super) fn pending_len(&self) -> usize {
        self.bytes.len() + self.frames.as_ref().map_or(0, FrameWriter::staged_len)
    }

    /// Everything appended so far, ready to be sent.
    pub(super) fn take(&mut self) -> BytesMut {
        if let Some(frames) = &mut self.frames {
            frames.flush(&mut self.bytes);
        }
        std::mem::take(&mut self.bytes)
    }

    /// Writes into `buffer` from now on, if nothing has been written since the last [`Outbound::take`].
    pub(super) fn lend(&mut self, buffer: impl FnOnce() -> BytesMut) {
        if self.bytes.capacity() == 0 {
            self.bytes = buffer();
        }
    }
}

/// The frames that go with a negotiated compression (v5 §2.3.2).
pub(super) fn frame_format(compression: Option<Compression>) -> FrameFormat {
    match compression {
        Some(Compression::Lz4) => FrameFormat::Lz4,
        // Snappy is refused in v5 before it gets here.
        Some(Compression::Snappy) | None => FrameFormat::Plain,
    }
}
