//! Bodies written by the Python driver's own libraries, round trips, and lies about lengths.

use super::*;

/// `lz4.block.compress(b'a' * 40, store_size=False)` behind a big-endian length, as
/// `cassandra.connection.lz4_compress` sends it.
const LZ4_FORTY_A: &[u8] = &[0, 0, 0, 40, 0x1f, 0x61, 1, 0, 0x0f, 0x50, 0x61, 0x61, 0x61, 0x61, 0x61];

#[test]
fn lz4_body_is_a_big_endian_length_and_a_block() {
    assert_eq!(decompress(Compression::Lz4, LZ4_FORTY_A, 1000).unwrap(), vec![b'a'; 40]);
}

#[test]
fn round_trips() {
    let body: Vec<u8> = (0..5000u32).flat_map(|i| (i / 7).to_be_bytes()).collect();
    for algorithm in [Compression::Lz4, Compression::Snappy] {
        let mut out = BytesMut::from(&b"before"[..]);
        assert!(compress(algorithm, &body, &mut out));
        assert!(out.starts_with(b"before") && out.len() < body.len());
        assert_eq!(decompress(algorithm, &out[6..], 1 << 20).unwrap(), body);
    }
}

#[test]
fn what_does_not_shrink_is_left_alone() {
    for algorithm in [Compression::Lz4, Compression::Snappy] {
        let mut out = BytesMut::from(&b"x"[..]);
        assert!(!compress(algorithm, b"", &mut out));
        assert!(!compress(algorithm, b"no repetition", &mut out));
        assert_eq!(&out[..], b"x");
    }
}

#[test]
fn declared_length_is_checked_before_allocation() {
    let mut bomb = LZ4_FORTY_A.to_vec();
    bomb[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(
        decompress(Compression::Lz4, &bomb, u32::MAX),
        Err(DecompressError::TooLong { declared: 0xffff_ffff, .. })
    ));
    assert!(matches!(
        decompress(Compression::Lz4, LZ4_FORTY_A, 39),
        Err(DecompressError::TooLong { declared: 40, allowed: 39 })
    ));
    // Snappy: a varint length of 2^31 - 1 and nothing else.
    assert!(decompress(Compression::Snappy, &[0xff, 0xff, 0xff, 0xff, 0x07], u32::MAX).is_err());
}

#[test]
fn wrong_length_and_garbage_are_malformed() {
    let mut longer = LZ4_FORTY_A.to_vec();
    longer[3] = 41;
    for body in [&longer[..], &[][..], &[0, 0], &[0, 0, 0, 9, 0xf0]] {
        assert_eq!(
            decompress(Compression::Lz4, body, 1000),
            Err(DecompressError::Malformed(Compression::Lz4))
        );
    }
    let error = decompress(Compression::Snappy, &[5, 0xff, 0xff], 1000).unwrap_err();
    assert_eq!(error.to_string(), "Provided frame does not appear to be snappy compressed");
}
