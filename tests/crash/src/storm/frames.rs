//! One piece of rubbish: what a connection sends next. Knows where lengths and checksums stand, so that some of it
//! gets past them.

use basalt_wire::ProtocolVersion;
use basalt_wire::compression::{Compression, compress};
use basalt_wire::frame::{FrameFormat, append_frame};
use bytes::BytesMut;

use super::Corpus;
use crate::random::Random;

/// Bytes of an envelope's header, and where its parts stand.
const HEADER: usize = 9;
const FLAGS_AT: usize = 1;
const OPCODE_AT: usize = 4;
const LENGTH_AT: usize = 5;
/// The flag of a compressed body.
const COMPRESSED: u8 = 0x01;

/// How a connection speaks.
#[derive(Clone, Copy, Debug)]
pub struct Speech {
    /// The version of its STARTUP.
    pub version: ProtocolVersion,
    /// The compression of its STARTUP.
    pub compression: Option<Compression>,
}

/// The bytes to send next.
pub fn rubbish(speech: Speech, corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let mut envelope = corpus.pick(speech.version, random);
    match random.below(100) {
        0..25 => wrapped(speech, envelope, random),
        25..60 => {
            mutate(&mut envelope[HEADER..].to_vec(), random).append_to(&mut envelope);
            wrapped(speech, envelope, random)
        }
        60..70 => {
            let at = random.below(HEADER);
            envelope[at] ^= random.any() as u8;
            wrapped(speech, envelope, random)
        }
        70..80 => {
            let length = random.below(300);
            Body(random.bytes(length)).append_to(&mut envelope);
            envelope[OPCODE_AT] = *random.pick(&[0x01, 0x05, 0x07, 0x09, 0x0A, 0x0B, 0x0D, 0x0F]);
            wrapped(speech, envelope, random)
        }
        80..92 => mutate(&mut wrapped(speech, envelope, random), random).0,
        92..97 => {
            let mut bytes = wrapped(speech, envelope, random);
            bytes.truncate(random.below(bytes.len()).max(1));
            bytes
        }
        _ => {
            let bound = *random.pick(&[4, 40, 400, 40_000]);
            let length = 1 + random.below(bound);
            random.bytes(length)
        }
    }
}

/// A body to be put behind a header.
struct Body(Vec<u8>);

impl Body {
    /// Replaces an envelope's body, with the length that belongs to it.
    fn append_to(self, envelope: &mut Vec<u8>) {
        envelope.truncate(HEADER);
        envelope[LENGTH_AT..HEADER].copy_from_slice(&(self.0.len() as u32).to_be_bytes());
        envelope.extend_from_slice(&self.0);
    }
}

/// Changes some bytes: bits, whole numbers, pieces put in, taken out, said twice.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) -> Body {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            bytes.extend(random.bytes(8));
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.pick(&[0, 1, 0x7F, 0x80, 0xFF]),
            2 => {
                let number = *random.pick(&[0, 1, -1, -2, i32::MAX, i32::MIN, 65_536]);
                let room = (bytes.len() - at).min(4);
                bytes[at..at + room].copy_from_slice(&number.to_be_bytes()[..room]);
            }
            3 => {
                let length = random.below(16);
                let piece = random.bytes(length);
                bytes.splice(at..at, piece);
            }
            4 => {
                let end = (at + 1 + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    Body(std::mem::take(bytes))
}

/// The frames of a v5 connection.
pub fn frame_format(speech: Speech) -> FrameFormat {
    if speech.compression.is_some() { FrameFormat::Lz4 } else { FrameFormat::Plain }
}

/// An envelope as this connection sends it: in a frame, compressed, or as it is.
fn wrapped(speech: Speech, mut envelope: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if speech.version >= ProtocolVersion::V5 {
        let mut out = BytesMut::new();
        append_frame(frame_format(speech), !random.once_in(20), &envelope, &mut out);
        return out.to_vec();
    }
    if let Some(algorithm) = speech.compression
        && envelope.len() > HEADER
        && random.once_in(2)
    {
        let mut body = BytesMut::new();
        if compress(algorithm, &envelope[HEADER..], &mut body) {
            Body(body.to_vec()).append_to(&mut envelope);
            envelope[FLAGS_AT] |= COMPRESSED;
        }
    }
    envelope
}
