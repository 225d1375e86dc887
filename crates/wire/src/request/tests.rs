//! Round trips in every version, bytes by hand, and truncation at every place. What the Python
//! driver sends is in `tests/recorded.rs`.

use basalt_model::Consistency;
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::*;
use crate::Value;
use crate::compression::Compression;

fn encode(request: &Request, version: ProtocolVersion) -> Bytes {
    let mut out = BytesMut::new();
    request.append(version, &mut out).unwrap();
    out.freeze()
}

fn consistency() -> impl Strategy<Value = Consistency> {
    prop::sample::select(&Consistency::ALL[..])
}

fn value(version: ProtocolVersion) -> impl Strategy<Value = Value> {
    let has_unset = version >= ProtocolVersion::V4;
    prop_oneof![
        Just(Value::Null),
        Just(if has_unset { Value::Unset } else { Value::Null }),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
    ]
}

fn params(version: ProtocolVersion) -> impl Strategy<Value = QueryParams> {
    let is_v5 = version >= ProtocolVersion::V5;
    let values = prop::collection::vec((any::<String>(), value(version)), 0..4);
    let optional = (
        any::<Option<i32>>(),
        prop::option::of(Just(Bytes::from_static(&[0, 0, 5, 7]))),
        prop::option::of(consistency()),
        prop::option::of(i64::MIN + 1..),
        prop::option::of(any::<String>()).prop_map(move |keyspace| keyspace.filter(|_| is_v5)),
        any::<Option<u32>>().prop_map(move |now| now.filter(|_| is_v5)),
    );
    (consistency(), values, any::<bool>(), any::<bool>(), optional).prop_map(
        |(consistency, values, is_named, skip_metadata, optional)| {
            let (page_size, paging_state, serial_consistency, default_timestamp, keyspace, now_in_seconds) =
                optional;
            let (names, values): (Vec<String>, Vec<Value>) = values.into_iter().unzip();
            // Without values there is nothing to name.
            let names = Some(names).filter(|names| is_named && !names.is_empty());
            let values = BoundValues { values, names };
            QueryParams {
                consistency,
                values,
                skip_metadata,
                page_size,
                paging_state,
                serial_consistency,
                default_timestamp,
                keyspace,
                now_in_seconds,
            }
        },
    )
}

fn id() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from)
}

fn batch(version: ProtocolVersion) -> impl Strategy<Value = Batch> {
    let values = || prop::collection::vec(value(version), 0..3);
    let statement = prop_oneof![
        (any::<String>(), values()).prop_map(|(query, values)| BatchStatement::Query { query, values }),
        (id(), values()).prop_map(|(id, values)| BatchStatement::Prepared { id, values }),
    ];
    let kind = prop::sample::select(vec![BatchKind::Logged, BatchKind::Unlogged, BatchKind::Counter]);
    (kind, prop::collection::vec(statement, 0..4), params(version))
        .prop_map(|(kind, statements, params)| Batch { kind, statements, params })
}

fn request(version: ProtocolVersion) -> impl Strategy<Value = Request> {
    let is_v5 = version >= ProtocolVersion::V5;
    prop_oneof![
        Just(Request::Options),
        id().prop_map(|token| Request::AuthResponse(AuthResponse { token })),
        (any::<String>(), params(version))
            .prop_map(|(query, params)| Request::Query(Query { query, params })),
        (any::<String>(), any::<Option<String>>()).prop_map(move |(query, keyspace)| {
            Request::Prepare(Prepare { query, keyspace: keyspace.filter(|_| is_v5) })
        }),
        (id(), id(), params(version)).prop_map(move |(id, metadata, params)| {
            let result_metadata_id = Some(metadata).filter(|_| is_v5);
            Request::Execute(Execute { id, result_metadata_id, params })
        }),
        batch(version).prop_map(Request::Batch),
    ]
}

fn versioned_request() -> impl Strategy<Value = (ProtocolVersion, Request)> {
    prop::sample::select(&ProtocolVersion::SUPPORTED[..])
        .prop_flat_map(|version| (Just(version), request(version)))
}

proptest! {
    #[test]
    fn requests_round_trip((version, request) in versioned_request()) {
        let body = encode(&request, version);
        prop_assert_eq!(Request::decode_body(request.opcode(), version, body), Ok(request));
    }

    #[test]
    fn truncated_requests_are_errors((version, request) in versioned_request()) {
        let body = encode(&request, version);
        for len in 0..body.len() {
            let decoded = Request::decode_body(request.opcode(), version, body.slice(..len));
            prop_assert!(decoded.is_err());
        }
    }
}

#[test]
fn named_values_and_v5_fields_by_hand() {
    // v5 §4.1.4: 0x01 values, 0x40 names, 0x80 keyspace, 0x100 now in seconds.
    let body: &[u8] = &[
        0, 0, 0, 1, b'Q', 0, 1, 0, 0, 1, 0xc1, 0, 2, 0, 1, b'a', 0, 0, 0, 1, 9, 0, 1, b'b', 0xff, 0xff, 0xff,
        0xfe, 0, 2, b'k', b's', 0xff, 0, 0, 0,
    ];
    let expected = Request::Query(Query {
        query: "Q".into(),
        params: QueryParams {
            values: BoundValues {
                values: vec![Value::Bytes(Bytes::from_static(&[9])), Value::Unset],
                names: Some(vec!["a".into(), "b".into()]),
            },
            keyspace: Some("ks".into()),
            now_in_seconds: Some(0xff00_0000),
            ..QueryParams::new(Consistency::One)
        },
    });
    let decoded = Request::decode_body(Opcode::Query, ProtocolVersion::V5, Bytes::from_static(body));
    assert_eq!(decoded.as_ref(), Ok(&expected));
    assert_eq!(encode(&expected, ProtocolVersion::V5), body);
}

#[test]
fn v5_fields_are_left_out_before_v5() {
    let params = QueryParams {
        keyspace: Some("ks".into()),
        now_in_seconds: Some(1),
        ..QueryParams::new(Consistency::Any)
    };
    let request = Request::Query(Query { query: String::new(), params });
    assert_eq!(encode(&request, ProtocolVersion::V4), [0, 0, 0, 0, 0, 0, 0][..]);
}

#[test]
fn what_follows_a_message_is_ignored() {
    let mut body =
        BytesMut::from(&encode(&Request::Register(Register { events: vec![] }), ProtocolVersion::V4)[..]);
    body.extend_from_slice(b"from the future");
    assert!(Request::decode_body(Opcode::Register, ProtocolVersion::V4, body.freeze()).is_ok());
}

#[test]
fn a_paging_state_must_be_one() {
    let mut params = QueryParams::new(Consistency::One);
    params.paging_state = Some(Bytes::from_static(b"\xff"));
    let request = Request::Query(Query { query: String::new(), params });
    let body = encode(&request, ProtocolVersion::V4);
    let error = Request::decode_body(Opcode::Query, ProtocolVersion::V4, body).unwrap_err();
    assert_eq!(error.to_string(), "Invalid value for the paging state");
}

#[test]
fn too_many_values_cannot_be_sent() {
    let mut params = QueryParams::new(Consistency::One);
    params.values = BoundValues::positional(vec![Value::Null; 65_536]);
    let request = Request::Query(Query { query: String::new(), params });
    assert!(request.append(ProtocolVersion::V5, &mut BytesMut::new()).is_err());
}

#[test]
fn startup_options() {
    let startup = |options: &[(&str, &str)]| Startup {
        options: options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
    };
    let with = |more: &[(&str, &str)]| startup(&[&[("CQL_VERSION", "3.0.0")], more].concat());
    let v4 = ProtocolVersion::V4;
    let options = with(&[("COMPRESSION", "LZ4"), ("THROW_ON_OVERLOAD", "1"), ("DRIVER_NAME", "d")]);
    let options = options.negotiate(v4).unwrap();
    assert_eq!(options.compression, Some(Compression::Lz4));
    assert_eq!(options.throw_on_overload, Some(true));
    assert_eq!((options.driver_name.as_deref(), options.driver_version), (Some("d"), None));
    assert_eq!(with(&[("DRIVER_VERSION", "1")]).negotiate(v4).unwrap().driver_version, None);
    assert_eq!(
        with(&[("COMPRESSION", "snappy")]).negotiate(v4).unwrap().compression,
        Some(Compression::Snappy)
    );
    for version in ["3.4.7", "3.0.0-beta1", "2.99.0", "10.0"] {
        assert!(startup(&[("CQL_VERSION", version)]).negotiate(v4).is_ok(), "{version}");
    }
    for version in ["", "3", "3.x", "3.0.0-", "3..0", "-3.0", "3.0.0 "] {
        let error = startup(&[("CQL_VERSION", version)]).negotiate(v4).unwrap_err();
        assert_eq!(error.to_string(), format!("Invalid version value: {version}"));
    }
}
