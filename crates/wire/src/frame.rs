//! The outer frames of v5 (v5 §2): header with CRC24, payload, CRC32 trailer.
//!
//! ```text
//! plain  3 bytes: length (17 bits), self-contained (1), padding (6) | CRC24, 3 bytes
//! LZ4    5 bytes: compressed length (17), uncompressed length (17), self-contained (1), padding (5)
//!        | CRC24, 3 bytes
//! then   payload | CRC32 of the payload as it travels, 4 bytes
//! ```
//!
//! All integers of a frame are little-endian. What the payload holds is not known here.
//! An uncompressed length of 0 means "not compressed" (v5 §2.2); §2.3.2 says "compressed length",
//! no implementation follows it.

mod crc;
mod decode;
mod encode;

pub use crc::{crc24, crc32};
pub use decode::{Frame, FrameError, decode_frame};
pub use encode::{FrameWriter, append_frame};

/// Which of the two frame forms a connection uses, settled by STARTUP (v5 §2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameFormat {
    /// v5 §2.1.
    Plain,
    /// v5 §2.2.
    Lz4,
}

/// Length of the CRC32 trailer.
pub(crate) const TRAILER_LEN: usize = 4;

impl FrameFormat {
    /// Length of the header, CRC24 included.
    pub(crate) fn header_len(self) -> usize {
        match self {
            FrameFormat::Plain => 6,
            FrameFormat::Lz4 => 8,
        }
    }
}

#[cfg(test)]
mod tests;
