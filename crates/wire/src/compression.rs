//! Compression of envelope bodies in v3 and v4 (v4 §5). In v5 the frame compresses instead
//! ([`crate::frame`]).
//!
//! An LZ4 body is its uncompressed length, a big-endian `[int]`, then one LZ4 block; a Snappy body
//! is one Snappy block (`transport/Compressor`).

use bytes::{BufMut, Bytes, BytesMut};

/// A compression algorithm a client can ask for in STARTUP (v5 §4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// `lz4`: all versions.
    Lz4,
    /// `snappy`: v3 and v4.
    Snappy,
}

impl Compression {
    /// The option's value in STARTUP and SUPPORTED.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "lz4",
            Compression::Snappy => "snappy",
        }
    }
}

/// Why a body could not be decompressed. Clients do not see it: Cassandra closes such a connection
/// without a word, for the stream an error should go to is not trusted any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// Not a block of the agreed algorithm.
    #[error("Provided frame does not appear to be {} compressed", .0.name())]
    Malformed(Compression),
    /// Would decompress to more than is allowed, or to more than its bytes can describe.
    #[error("Decompressed length {declared} exceeds what is allowed ({allowed})")]
    TooLong {
        /// Length the sender declares, bytes.
        declared: u64,
        /// Longest length accepted here, bytes.
        allowed: u64,
    },
}

/// One input byte of an LZ4 block describes at most 255 output bytes.
const LZ4_MAX_RATIO: u64 = 255;
/// Three input bytes of a Snappy block describe at most 64 output bytes.
const SNAPPY_MAX_RATIO: u64 = 22;
/// Slack for the first literal, so that tiny honest blocks never fail the ratio test.
const RATIO_SLACK: u64 = 64;

/// Appends `body`, compressed, to `out`.
///
/// Returns false and leaves `out` as it was when the result would not be shorter than `body`: the
/// sender then clears the compression flag.
pub fn compress(algorithm: Compression, body: &[u8], out: &mut BytesMut) -> bool {
    let start = out.len();
    let written = match algorithm {
        Compression::Lz4 => {
            let Ok(len) = u32::try_from(body.len()) else { return false };
            out.put_u32(len);
            append_lz4(body, out).map(|len| len + 4)
        }
        Compression::Snappy => append_snappy(body, out),
    };
    match written {
        Some(len) if len < body.len() => true,
        _ => {
            out.truncate(start);
            false
        }
    }
}

/// Appends one LZ4 block; its length.
pub(crate) fn append_lz4(input: &[u8], out: &mut BytesMut) -> Option<usize> {
    let start = out.len();
    out.resize(start + lz4_flex::block::get_maximum_output_size(input.len()), 0);
    let written = lz4_flex::block::compress_into(input, out.get_mut(start..)?).ok()?;
    out.truncate(start + written);
    Some(written)
}

fn append_snappy(input: &[u8], out: &mut BytesMut) -> Option<usize> {
    let start = out.len();
    // 0 means "too long for Snappy", and nothing fits zero bytes.
    out.resize(start + snap::raw::max_compress_len(input.len()), 0);
    let written = snap::raw::Encoder::new().compress(input, out.get_mut(start..)?).ok()?;
    out.truncate(start + written);
    Some(written)
}

/// Decompresses a body whose compression flag is set. `limit` is the longest result accepted,
/// bytes; nothing is allocated before the declared length has passed it.
pub fn decompress(algorithm: Compression, body: &[u8], limit: u32) -> Result<Bytes, DecompressError> {
    let malformed = DecompressError::Malformed(algorithm);
    match algorithm {
        Compression::Lz4 => {
            let (declared, block) = body.split_first_chunk::<4>().ok_or(malformed)?;
            let declared = u32::from_be_bytes(*declared);
            check_length(declared, block.len(), LZ4_MAX_RATIO, limit)?;
            decompress_lz4(block, declared as usize).ok_or(DecompressError::Malformed(algorithm))
        }
        Compression::Snappy => {
            let declared = snap::raw::decompress_len(body).map_err(|_| malformed.clone())?;
            let declared = u32::try_from(declared).map_err(|_| malformed.clone())?;
            check_length(declared, body.len(), SNAPPY_MAX_RATIO, limit)?;
            let mut out = vec![0; declared as usize];
            match snap::raw::Decoder::new().decompress(body, &mut out) {
                Ok(len) if len == out.len() => Ok(Bytes::from(out)),
                _ => Err(malformed),
            }
        }
    }
}

/// One LZ4 block that must decompress to exactly `len` bytes.
pub(crate) fn decompress_lz4(block: &[u8], len: usize) -> Option<Bytes> {
    let mut out = vec![0; len];
    match lz4_flex::block::decompress_into(block, &mut out) {
        Ok(written) if written == len => Some(Bytes::from(out)),
        _ => None,
    }
}

/// Whether `block_len` bytes of LZ4 can possibly describe `declared` bytes.
pub(crate) fn lz4_length_is_plausible(declared: usize, block_len: usize) -> bool {
    declared as u64 <= block_len as u64 * LZ4_MAX_RATIO + RATIO_SLACK
}

fn check_length(declared: u32, block_len: usize, ratio: u64, limit: u32) -> Result<(), DecompressError> {
    let allowed = u64::from(limit).min(block_len as u64 * ratio + RATIO_SLACK);
    if u64::from(declared) > allowed {
        return Err(DecompressError::TooLong { declared: u64::from(declared), allowed });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
