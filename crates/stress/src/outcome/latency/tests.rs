//! Round trips, and texts made to harm.
use std::io::Write;

use super::*;

fn some() -> Latency {
    let mut latency = Latency::default();
    for nanos in [1, 999, 1_000_000, 1_000_001, 2_000_000_000, LONGEST_NANOS] {
        latency.record(nanos);
    }
    latency
}

#[test]
fn a_latency_comes_back_as_it_went() {
    let text = serde_json::to_string(&some()).unwrap();
    assert!(text.len() < 400, "{} bytes", text.len());
    assert_eq!(serde_json::from_str::<Latency>(&text).unwrap(), some());
    let packed: Packed = serde_json::from_str(&text).unwrap();
    assert_eq!(packed.unpack(), some());
    assert_eq!(packed, Packed::from(&some()));
}

#[test]
fn no_bytes_are_an_empty_histogram() {
    assert_eq!(serde_json::from_str::<Packed>("\"\"").unwrap().unpack(), Latency::default());
    assert_eq!(Packed::from(&Latency::default()).unpack(), Latency::default());
}

#[test]
fn what_lies_above_is_counted() {
    let latency = some();
    assert_eq!(latency.above(1_500_000), 2);
    assert_eq!(latency.above(LONGEST_NANOS), 0);
    assert_eq!((latency.count(), Latency::default().at(0.99)), (6, 0));
}

/// A header with these fields, compressed.
fn forged(length: u32, digits: u32, low: u64, high: u64, counts: &[u8]) -> Vec<u8> {
    let mut plain = 0x1c84_9313_u32.to_be_bytes().to_vec();
    for field in [length, 0, digits] {
        plain.extend(field.to_be_bytes());
    }
    plain.extend(low.to_be_bytes());
    plain.extend(high.to_be_bytes());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    deflated.write_all(&plain).unwrap();
    let deflated = deflated.finish().unwrap();
    let mut bytes = COMPRESSED_COOKIE.to_vec();
    bytes.extend((deflated.len() as u32).to_be_bytes());
    bytes.extend(deflated);
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    Packed::try_from(STANDARD.encode(bytes)).unwrap_err().to_string()
}

#[test]
fn texts_made_to_harm_are_refused() {
    let hour = LONGEST_NANOS;
    assert!(refusal(b"no histogram").contains("not HdrHistogram's V2"));
    assert!(refusal(&COMPRESSED_COOKIE).contains("ends early"));
    // A length of four gigabytes, a range of 64 bits at five digits, a bomb of zeros.
    assert!(refusal(&forged(u32::MAX, 3, 1, hour, &[])).contains("length is not what it says"));
    assert!(refusal(&forged(0, 5, 1, u64::MAX, &[])).contains("5 digits"));
    assert!(refusal(&forged(0, 3, 1, hour + 1, &[])).contains("up to 3 digits and an hour"));
    assert!(refusal(&forged(0, 3, 0, hour, &[])).contains("0 to"));
    assert!(refusal(&forged(1 << 26, 3, 1, hour, &vec![0; 1 << 26])).contains("longer than"));
    // More counts than the range has places; two counts that overflow together.
    assert!(refusal(&forged(4, 3, 1, 3000, &[0xff, 0xff, 0x7f, 2])).contains("damaged"));
    let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert!(refusal(&forged(27, 3, 1, hour, &most.repeat(3))).contains("too many"));
    assert!(Packed::try_from("***".to_owned()).is_err());
    assert!(matches!(Packed::try_from("A".repeat(PACKED_MAX * 2 + 4)), Err(LatencyError::TooLong)));
}
