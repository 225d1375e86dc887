//! Notations by hand and round trips.

use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ProtocolVersion;

fn reader(bytes: &[u8]) -> Reader {
    Reader::new(Bytes::copy_from_slice(bytes))
}

#[test]
fn values_by_version() {
    let value = |bytes: &[u8], version| reader(bytes).value(version).map_err(|error| error.to_string());
    let minus = |n: u8| [0xff, 0xff, 0xff, !n + 1];
    for version in ProtocolVersion::SUPPORTED {
        assert_eq!(value(&minus(1), version), Ok(Value::Null));
        assert_eq!(value(&[0, 0, 0, 0], version), Ok(Value::Bytes(Bytes::new())));
        assert_eq!(
            value(&[0, 0, 0, 5, 1, 2], version),
            Err("Cannot read value of length 5, only 2 bytes remaining in the message".into())
        );
    }
    assert_eq!(value(&minus(2), ProtocolVersion::V3), Ok(Value::Null));
    assert_eq!(value(&minus(9), ProtocolVersion::V3), Ok(Value::Null));
    assert_eq!(value(&minus(2), ProtocolVersion::V4), Ok(Value::Unset));
    assert_eq!(value(&minus(3), ProtocolVersion::V5), Err("Invalid ByteBuf length -3".into()));
}

#[test]
fn values_are_slices_of_the_body() {
    let body = Bytes::from_static(&[0, 0, 0, 2, 7, 8]);
    let Ok(Some(value)) = Reader::new(body.clone()).bytes() else { panic!() };
    assert_eq!(value.as_ptr(), body[4..].as_ptr());
}

#[test]
fn long_strings_are_cut_at_a_character() {
    let text = "é".repeat(40_000);
    let mut out = BytesMut::new();
    put_string(&mut out, &text);
    assert_eq!(out.len(), 2 + 65_534);
    assert_eq!(reader(&out).string().unwrap(), "é".repeat(32_767));
}

#[test]
fn addresses() {
    for (address, bytes) in [
        ("127.0.0.1:9042", &[4, 127, 0, 0, 1, 0, 0, 0x23, 0x52][..]),
        ("[::1]:1", &[16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
    ] {
        let address: SocketAddr = address.parse().unwrap();
        let mut out = BytesMut::new();
        put_inet(&mut out, address);
        assert_eq!(out, bytes);
        assert_eq!(reader(bytes).inet(), Ok(address));
    }
    assert!(reader(&[5, 1, 2, 3, 4, 5]).inet_addr().is_err());
    assert!(reader(&[4, 1, 2, 3, 4, 0, 1, 0, 0]).inet().is_err(), "port 65536");
}

#[test]
fn counts_do_not_allocate() {
    let many = [0xff, 0xff, 0, 0];
    assert!(reader(&many).string_list().is_err());
    assert!(reader(&many).string_map().is_err());
    assert!(reader(&many).string_multimap().is_err());
    assert!(reader(&many).bytes_map().is_err());
    assert_eq!(reader(&many).capacity(65_535, 2), 2);
}

proptest! {
    #[test]
    fn notations_round_trip(
        text: String,
        list: Vec<String>,
        bytes: Option<Vec<u8>>,
        id: u128,
        ip: IpAddr,
        map in prop::collection::vec((any::<String>(), any::<Option<Vec<u8>>>()), 0..5),
    ) {
        let map: Vec<(String, Option<Bytes>)> =
            map.into_iter().map(|(key, value)| (key, value.map(Bytes::from))).collect();
        let mut out = BytesMut::new();
        put_string(&mut out, &text);
        put_long_string(&mut out, &text);
        put_string_list(&mut out, &list);
        put_bytes(&mut out, bytes.as_deref());
        put_uuid(&mut out, Uuid::from_u128(id));
        put_inet_addr(&mut out, ip);
        put_bytes_map(&mut out, &map);
        let mut reader = Reader::new(out.freeze());
        prop_assert_eq!(&reader.string().unwrap(), &text);
        prop_assert_eq!(reader.long_string().unwrap(), text);
        prop_assert_eq!(reader.string_list().unwrap(), list);
        prop_assert_eq!(reader.bytes().unwrap(), bytes.map(Bytes::from));
        prop_assert_eq!(reader.uuid().unwrap(), Uuid::from_u128(id));
        prop_assert_eq!(reader.inet_addr().unwrap(), ip);
        prop_assert_eq!(reader.bytes_map().unwrap(), map);
        prop_assert_eq!(reader.remaining(), 0);
    }
}
