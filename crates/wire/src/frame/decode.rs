//! Takes frames off the front of a growing buffer (`net/FrameDecoderCrc`, `net/FrameDecoderLZ4`).

use bytes::{Buf, Bytes, BytesMut};

use super::{FrameFormat, TRAILER_LEN, crc24, crc32};
use crate::compression::{decompress_lz4, lz4_length_is_plausible};

const LENGTH_MASK: u64 = 0x1_ffff;

/// A frame whose checksums hold, stripped of header and trailer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Whether the payload is one or more whole envelopes; else a part of a single large one.
    pub is_self_contained: bool,
    /// The payload, decompressed.
    pub payload: Bytes,
}

/// A frame that cannot be trusted. Nothing after it can be, either: the connection closes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A checksum does not match (`CQLMessageHandler.processCorruptFrame` has the text, but for
    /// the connection id in front).
    #[error("invalid, unrecoverable CRC mismatch detected in frame {part}. Read {read}, Computed {computed}")]
    Checksum {
        /// `header` or `body`.
        part: &'static str,
        /// The checksum that was sent, as Java's signed int.
        read: i32,
        /// The checksum of what was received.
        computed: i32,
    },
    /// The checksum holds, but the payload is not the LZ4 block its header describes.
    #[error(
        "invalid LZ4 payload in frame. Compressed length {compressed}, uncompressed length {uncompressed}"
    )]
    Compression {
        /// Length of the block, bytes.
        compressed: usize,
        /// Length it was to have, bytes.
        uncompressed: usize,
    },
}

struct FrameHeader {
    payload_len: usize,
    uncompressed_len: usize,
    is_self_contained: bool,
}

fn parse_header(format: FrameFormat, bytes: &[u8]) -> Option<Result<FrameHeader, FrameError>> {
    let len = format.header_len();
    let mut register = [0; 8];
    register.get_mut(..len)?.copy_from_slice(bytes.get(..len)?);
    let register = u64::from_le_bytes(register);
    let checked_len = len - 3;
    let read = (register >> (8 * checked_len)) as u32 & 0x00ff_ffff;
    let computed = crc24(register, checked_len as u32);
    if read != computed {
        let (read, computed) = (read.cast_signed(), computed.cast_signed());
        return Some(Err(FrameError::Checksum { part: "header", read, computed }));
    }
    let payload_len = (register & LENGTH_MASK) as usize;
    Some(Ok(match format {
        FrameFormat::Plain => {
            FrameHeader { payload_len, uncompressed_len: 0, is_self_contained: register & (1 << 17) != 0 }
        }
        FrameFormat::Lz4 => FrameHeader {
            payload_len,
            uncompressed_len: (register >> 17 & LENGTH_MASK) as usize,
            is_self_contained: register & (1 << 34) != 0,
        },
    }))
}

/// The next frame of `buffer`, removed from it, or `None` while its bytes are incomplete.
///
/// The payload of a plain frame is a slice of `buffer`'s memory, not a copy.
pub fn decode_frame(format: FrameFormat, buffer: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
    let Some(header) = parse_header(format, buffer) else { return Ok(None) };
    let header = header?;
    let total = format.header_len() + header.payload_len + TRAILER_LEN;
    if buffer.len() < total {
        return Ok(None);
    }
    let mut frame = buffer.split_to(total);
    frame.advance(format.header_len());
    let payload = frame.split_to(header.payload_len).freeze();
    let read = frame.get_u32_le();
    let computed = crc32(&payload);
    if read != computed {
        let (read, computed) = (read.cast_signed(), computed.cast_signed());
        return Err(FrameError::Checksum { part: "body", read, computed });
    }
    let payload = if header.uncompressed_len == 0 {
        payload
    } else {
        let corrupt =
            FrameError::Compression { compressed: payload.len(), uncompressed: header.uncompressed_len };
        if !lz4_length_is_plausible(header.uncompressed_len, payload.len()) {
            return Err(corrupt);
        }
        decompress_lz4(&payload, header.uncompressed_len).ok_or(corrupt)?
    };
    Ok(Some(Frame { is_self_contained: header.is_self_contained, payload }))
}
