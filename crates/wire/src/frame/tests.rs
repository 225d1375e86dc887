//! Frames by hand, the packing of envelopes, and corruption. Recorded frames are in `tests/recorded.rs`.

use bytes::{BufMut, BytesMut};
use proptest::prelude::*;

use super::*;
use crate::limits::MAX_FRAME_PAYLOAD;

const FORMATS: [FrameFormat; 2] = [FrameFormat::Plain, FrameFormat::Lz4];

fn decode_all(format: FrameFormat, bytes: &[u8]) -> Vec<Frame> {
    let mut buffer = BytesMut::from(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = decode_frame(format, &mut buffer).unwrap() {
        frames.push(frame);
    }
    assert!(buffer.is_empty());
    frames
}

/// Each envelope is `len` bytes of its index.
fn pack(format: FrameFormat, lens: &[usize]) -> BytesMut {
    let mut out = BytesMut::from(&b"sent before"[..]);
    let mut writer = FrameWriter::new(format);
    for (index, len) in lens.iter().enumerate() {
        writer.envelope(&mut out, |out| out.put_bytes(index as u8, *len));
    }
    writer.flush(&mut out);
    out.split_off("sent before".len())
}

#[test]
fn checksums_are_cassandras() {
    // From a stock node's frame: 0x60 bytes, self-contained.
    assert_eq!(crc24(0x02_0060, 3), 0xa7_6a9f);
    // CRC32 of the four seed bytes alone.
    assert_eq!(crc32(b""), crc32fast::hash(&[0xfa, 0x2d, 0x55, 0xca]));
}

#[test]
fn a_plain_frame_byte_by_byte() {
    let mut out = BytesMut::new();
    append_frame(FrameFormat::Plain, true, b"abc", &mut out);
    assert_eq!(out[..3], [3, 0, 0b10]);
    assert_eq!(out[3..6], crc24(0x02_0003, 3).to_le_bytes()[..3]);
    assert_eq!(out[6..9], *b"abc");
    assert_eq!(out[9..], crc32(b"abc").to_le_bytes());
}

#[test]
fn what_does_not_compress_travels_as_it_is() {
    let mut out = BytesMut::new();
    append_frame(FrameFormat::Lz4, false, b"abc", &mut out);
    assert_eq!(out[..5], [3, 0, 0, 0, 0], "uncompressed length 0, not self-contained");
    assert_eq!(out[8..11], *b"abc");
}

#[test]
fn envelopes_share_a_frame() {
    for format in FORMATS {
        let frames = decode_all(format, &pack(format, &[10, 0, 20, MAX_FRAME_PAYLOAD - 30]));
        assert_eq!(frames.len(), 1);
        assert!(frames[0].is_self_contained);
        assert_eq!(frames[0].payload.len(), MAX_FRAME_PAYLOAD);
    }
}

#[test]
fn an_envelope_that_does_not_fit_begins_the_next_frame() {
    for format in FORMATS {
        let frames = decode_all(format, &pack(format, &[10, MAX_FRAME_PAYLOAD - 9, 5]));
        let lens: Vec<usize> = frames.iter().map(|frame| frame.payload.len()).collect();
        assert_eq!(lens, [10, MAX_FRAME_PAYLOAD - 9 + 5]);
        assert!(frames.iter().all(|frame| frame.is_self_contained));
    }
}

#[test]
fn a_large_envelope_has_frames_of_its_own() {
    for format in FORMATS {
        for before in [&[][..], &[7]] {
            let lens: Vec<usize> = [before, &[2 * MAX_FRAME_PAYLOAD + 1, 5]].concat();
            let frames = decode_all(format, &pack(format, &lens));
            let kinds: Vec<(bool, usize)> =
                frames.iter().map(|frame| (frame.is_self_contained, frame.payload.len())).collect();
            let large = [(false, MAX_FRAME_PAYLOAD), (false, MAX_FRAME_PAYLOAD), (false, 1), (true, 5)];
            let before: Vec<(bool, usize)> = before.iter().map(|len| (true, *len)).collect();
            assert_eq!(kinds, [&before[..], &large[..]].concat());
        }
    }
}

#[test]
fn nothing_written_is_no_frame() {
    for format in FORMATS {
        assert!(pack(format, &[]).is_empty());
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for format in FORMATS {
        let mut bytes = BytesMut::new();
        append_frame(format, true, &b"abc".repeat(80), &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let error = decode_frame(format, &mut broken).unwrap_err();
            let part = if bit / 8 < format.header_len() { "header" } else { "body" };
            assert!(matches!(error, FrameError::Checksum { part: found, .. } if found == part), "{error}");
        }
    }
}

#[test]
fn an_incomplete_frame_is_waited_for() {
    for format in FORMATS {
        let mut bytes = BytesMut::new();
        append_frame(format, true, b"abcdef", &mut bytes);
        for len in 0..bytes.len() {
            let mut part = BytesMut::from(&bytes[..len]);
            assert_eq!(decode_frame(format, &mut part), Ok(None));
            assert_eq!(part.len(), len, "nothing is taken");
        }
    }
}

#[test]
fn lies_about_lz4_are_noticed() {
    let frame = |block: &[u8], uncompressed_len: u64| {
        let bits = block.len() as u64 | uncompressed_len << 17 | 1 << 34;
        let mut out = BytesMut::new();
        out.put_slice(&bits.to_le_bytes()[..5]);
        out.put_slice(&crc24(bits, 5).to_le_bytes()[..3]);
        out.put_slice(block);
        out.put_u32_le(crc32(block));
        out
    };
    let block = lz4_flex::block::compress(&[b'x'; 500]);
    assert!(decode_frame(FrameFormat::Lz4, &mut frame(&block, 500)).is_ok());
    for (block, len) in [(&block[..], 499), (&block[..], 501), (&block[..], 0x1ffff), (&b""[..], 5)] {
        assert_eq!(
            decode_frame(FrameFormat::Lz4, &mut frame(block, len)),
            Err(FrameError::Compression { compressed: block.len(), uncompressed: len as usize })
        );
    }
}

proptest! {
    #[test]
    fn what_is_packed_comes_out(lens in prop::collection::vec(0usize..70_000, 0..8), lz4: bool) {
        let format = if lz4 { FrameFormat::Lz4 } else { FrameFormat::Plain };
        let payload: Vec<u8> =
            decode_all(format, &pack(format, &lens)).iter().flat_map(|frame| frame.payload.to_vec()).collect();
        let expected: Vec<u8> =
            lens.iter().enumerate().flat_map(|(index, len)| vec![index as u8; *len]).collect();
        prop_assert!(payload == expected);
    }
}
