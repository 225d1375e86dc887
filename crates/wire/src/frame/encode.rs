//! Packs envelopes into frames: as many as fit one frame, one too long over several
//! (`net/FrameEncoderCrc`, `net/FrameEncoderLZ4`, `transport/Flusher`).

use bytes::{BufMut, BytesMut};

use super::{FrameFormat, TRAILER_LEN, crc24, crc32};
use crate::compression::append_lz4;
use crate::limits::MAX_FRAME_PAYLOAD;

/// Appends one frame with this payload, at most [`MAX_FRAME_PAYLOAD`] bytes of it.
pub fn append_frame(format: FrameFormat, is_self_contained: bool, payload: &[u8], out: &mut BytesMut) {
    debug_assert!(payload.len() <= MAX_FRAME_PAYLOAD);
    let start = out.len();
    out.put_bytes(0, format.header_len());
    match format {
        FrameFormat::Plain => {
            out.put_slice(payload);
            close(out, start, FrameFormat::Plain, is_self_contained, 0);
        }
        FrameFormat::Lz4 => {
            let body_start = out.len();
            let uncompressed_len = match append_lz4(payload, out) {
                Some(len) if len < payload.len() => payload.len(),
                _ => {
                    out.truncate(body_start);
                    out.put_slice(payload);
                    0
                }
            };
            close(out, start, FrameFormat::Lz4, is_self_contained, uncompressed_len);
        }
    }
}

/// Fills in the header of the frame that begins at `start`, and appends its trailer.
fn close(
    out: &mut BytesMut,
    start: usize,
    format: FrameFormat,
    is_self_contained: bool,
    uncompressed_len: usize,
) {
    let header_len = format.header_len();
    let payload = out.get(start + header_len..).unwrap_or_default();
    let payload_len = payload.len() as u64;
    let payload_crc = crc32(payload);
    let flag = u64::from(is_self_contained);
    let bits = match format {
        FrameFormat::Plain => payload_len | flag << 17,
        FrameFormat::Lz4 => payload_len | (uncompressed_len as u64) << 17 | flag << 34,
    };
    let checked_len = header_len - 3;
    let header = bits | u64::from(crc24(bits, checked_len as u32)) << (8 * checked_len);
    if let Some(place) = out.get_mut(start..start + header_len) {
        for (to, from) in place.iter_mut().zip(header.to_le_bytes()) {
            *to = from;
        }
    }
    out.put_u32_le(payload_crc);
}

/// Collects whole envelopes and turns them into frames.
///
/// Plain frames are built where they will be sent from: envelopes are written straight after the
/// place of a header that is filled in when the frame closes. LZ4 frames are staged, then
/// compressed into the output.
#[derive(Debug)]
pub struct FrameWriter {
    format: FrameFormat,
    /// Start of the open plain frame in the output.
    open: Option<usize>,
    /// Envelopes of the open LZ4 frame.
    staged: BytesMut,
}

impl FrameWriter {
    /// A writer of frames in `format`.
    pub fn new(format: FrameFormat) -> FrameWriter {
        FrameWriter { format, open: None, staged: BytesMut::new() }
    }

    /// Bytes of envelopes that are not in the output yet.
    pub fn staged_len(&self) -> usize {
        self.staged.len()
    }

    /// Lets `write` append exactly one whole envelope.
    pub fn envelope(&mut self, out: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
        match self.format {
            FrameFormat::Plain => self.envelope_plain(out, write),
            FrameFormat::Lz4 => self.envelope_lz4(out, write),
        }
    }

    fn envelope_plain(&mut self, out: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
        let header_len = self.format.header_len();
        let frame = *self.open.get_or_insert_with(|| {
            let start = out.len();
            out.put_bytes(0, header_len);
            start
        });
        let envelope = out.len();
        write(out);
        if out.len() - frame - header_len <= MAX_FRAME_PAYLOAD {
            return;
        }
        // It does not fit: what came before closes its frame, the envelope begins anew after it.
        let late = out.split_off(envelope);
        if envelope == frame + header_len {
            out.truncate(frame);
        } else {
            close(out, frame, self.format, true, 0);
        }
        self.open = None;
        if late.len() > MAX_FRAME_PAYLOAD {
            append_large(self.format, &late, out);
        } else {
            self.open = Some(out.len());
            out.put_bytes(0, header_len);
            out.put_slice(&late);
        }
    }

    fn envelope_lz4(&mut self, out: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
        let envelope = self.staged.len();
        write(&mut self.staged);
        if self.staged.len() <= MAX_FRAME_PAYLOAD {
            return;
        }
        let late = self.staged.split_off(envelope);
        self.flush(out);
        if late.len() > MAX_FRAME_PAYLOAD {
            append_large(self.format, &late, out);
        } else {
            self.staged = late;
        }
    }

    /// Closes the open frame, so that all of the output can be sent.
    pub fn flush(&mut self, out: &mut BytesMut) {
        if let Some(start) = self.open.take() {
            close(out, start, self.format, true, 0);
        }
        if !self.staged.is_empty() {
            append_frame(self.format, true, &self.staged, out);
            self.staged.clear();
        }
    }
}

/// One envelope too long for a frame, as a run of frames that are not self-contained (v5 §1).
fn append_large(format: FrameFormat, envelope: &[u8], out: &mut BytesMut) {
    out.reserve(envelope.len() + envelope.len() / 4096 + format.header_len() + TRAILER_LEN);
    for part in envelope.chunks(MAX_FRAME_PAYLOAD) {
        append_frame(format, false, part, out);
    }
}
