//! Headers by hand, arrival in pieces, and limits. Recorded envelopes are in `tests/recorded.rs`.

use bytes::{BufMut, Bytes, BytesMut};

use super::*;
use crate::WireError;
use crate::limits::Limits;

const QUERY: &[u8] = &[4, 2, 0x12, 0x34, 7, 0, 0, 0, 3, b'a', b'b', b'c'];

fn decoder(max_frame_size: u32) -> EnvelopeDecoder {
    EnvelopeDecoder::new(Direction::Request, &Limits { max_frame_size, ..Limits::default() })
}

#[test]
fn a_header_byte_by_byte() {
    let mut out = BytesMut::new();
    append_envelope(&mut out, 4, Opcode::Query, 0x1234, |out| {
        out.put_slice(b"abc");
        Flags::TRACING
    });
    assert_eq!(out, QUERY);
    let mut out = BytesMut::new();
    append_envelope(&mut out, 5, Opcode::Event, EVENT_STREAM, |_| Flags::default());
    assert_eq!(out[..], [0x85, 0, 0xff, 0xff, 0x0c, 0, 0, 0, 0]);
    let mut out = BytesMut::new();
    append_envelope(&mut out, 2, Opcode::Error, 9, |_| Flags::default());
    assert_eq!(out[..], [0x82, 0, 9, 0, 0, 0, 0, 0], "one byte of stream");
}

#[test]
fn envelopes_arrive_in_pieces() {
    let stream = [QUERY, QUERY].concat();
    for chunk in 1..stream.len() {
        let (mut decoder, mut buffer, mut count) = (decoder(100), BytesMut::new(), 0);
        for part in stream.chunks(chunk) {
            buffer.extend_from_slice(part);
            while let Some(envelope) = decoder.decode(&mut buffer).unwrap() {
                assert_eq!((envelope.header.stream, &envelope.body[..]), (0x1234, &b"abc"[..]));
                assert_eq!(envelope.len(), QUERY.len());
                count += 1;
            }
        }
        assert_eq!(count, 2);
    }
}

#[test]
fn an_oversized_envelope_is_skipped_and_then_reported() {
    let mut decoder = decoder(11);
    let mut buffer = BytesMut::from(QUERY);
    buffer.truncate(10);
    assert_eq!(decoder.decode(&mut buffer), Ok(None));
    assert!(buffer.is_empty(), "not kept");
    buffer.extend_from_slice(b"bc");
    buffer.extend_from_slice(&[4, 0, 0, 1, 5, 0, 0, 0, 0]);
    let error = decoder.decode(&mut buffer).unwrap_err();
    assert_eq!(error.stream, Some(0x1234));
    assert_eq!(
        error.error,
        WireError::invalid("Request is too big: length 12 exceeds maximum allowed length 11.")
    );
    let next = decoder.decode(&mut buffer).unwrap().unwrap();
    assert_eq!(next.header.opcode, Opcode::Options, "what follows is read");
}

#[test]
fn a_length_of_four_gigabytes_keeps_nothing() {
    let mut decoder = decoder(1 << 24);
    let mut buffer = BytesMut::from(&[4, 0, 0, 1, 7, 0xff, 0xff, 0xff, 0xff][..]);
    for _ in 0..100 {
        assert_eq!(decoder.decode(&mut buffer), Ok(None));
        assert!(buffer.is_empty());
        buffer.extend_from_slice(&[0; 1000]);
    }
}

#[test]
fn a_refused_envelope_leaves_the_next_alone() {
    let mut decoder = decoder(100);
    let mut buffer = BytesMut::from(&[4, 0, 0, 1, 0x20, 0, 0, 0, 2, b'x'][..]);
    let error = decoder.decode(&mut buffer).unwrap_err();
    assert_eq!(error.error, WireError::protocol("Unknown opcode 32"));
    assert_eq!(decoder.decode(&mut buffer), Ok(None));
    buffer.extend_from_slice(b"x");
    buffer.extend_from_slice(QUERY);
    assert!(decoder.decode(&mut buffer).unwrap().is_some());
}

#[test]
fn opcodes_have_one_direction() {
    for opcode in Opcode::ALL {
        assert_eq!(Opcode::decode(opcode.code(), opcode.direction()), Ok(*opcode));
        assert_eq!(Opcode::from_code(opcode.code()), Some(*opcode));
    }
    assert_eq!(Opcode::decode(0xff, Direction::Request), Err(WireError::protocol("Unknown opcode -1")));
}

#[test]
fn in_frames_a_length_can_be_negative() {
    let bytes = [5, 0, 0, 9, 7, 0xff, 0xff, 0xff, 0xfe];
    let error = parse_header(&bytes, Direction::Request, true).unwrap().unwrap_err();
    assert_eq!((error.stream, error.body_len), (Some(9), -2));
    assert!(parse_header(&bytes[..8], Direction::Request, true).is_none());
    let mut payload = Bytes::from_static(&[5, 0, 0, 9, 5, 0, 0, 0, 1]);
    assert_eq!(take_framed(&mut payload, Direction::Request, true), Err(None));
    assert_eq!(payload.len(), 9, "left as it was");
}
