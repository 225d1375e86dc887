//! Round trips in every version and the older forms of newer errors. What Cassandra sends is in
//! `tests/recorded.rs`; a single node cannot be made to time out or fail, so those errors stand
//! here byte by byte, from v5 §8 and `ErrorMessage`.

use basalt_model::Consistency;
use basalt_model::error::{FunctionFailure, WriteType};

use super::*;

const V3: ProtocolVersion = ProtocolVersion::V3;
const V4: ProtocolVersion = ProtocolVersion::V4;
const V5: ProtocolVersion = ProtocolVersion::V5;

fn encode(response: &Response, version: ProtocolVersion) -> Bytes {
    let mut out = BytesMut::new();
    response.append(version, &mut out);
    out.freeze()
}

/// Code, text, and what follows them.
fn parts(error: &CqlError, version: ProtocolVersion) -> (i32, String, Vec<u8>) {
    let mut body = Reader::new(encode(&Response::Error(error.clone()), version));
    (body.i32().unwrap(), body.string().unwrap(), body.into_rest().to_vec())
}

#[test]
fn read_failure() {
    let error = CqlError::ReadFailure {
        consistency: Consistency::Quorum,
        received: 1,
        block_for: 2,
        failures: [("127.0.0.1:7000".parse().unwrap(), 1)].into(),
        data_present: true,
    };
    let text = "Operation failed - received 1 responses and 1 failures: READ_TOO_MANY_TOMBSTONES from /127.0.0.1:7000";
    let cl_received_block_for = [0, 4, 0, 0, 0, 1, 0, 0, 0, 2];
    let (code, message, rest) = parts(&error, V5);
    assert_eq!((code, message.as_str()), (0x1300, text));
    assert_eq!(rest, [&cl_received_block_for[..], &[0, 0, 0, 1, 4, 127, 0, 0, 1, 0, 1, 1]].concat());
    let (code, message, rest) = parts(&error, V4);
    assert_eq!((code, message.as_str()), (0x1300, text));
    assert_eq!(rest, [&cl_received_block_for[..], &[0, 0, 0, 1, 1]].concat());
    let (code, message, rest) = parts(&error, V3);
    assert_eq!((code, message.as_str()), (0x1200, "Operation timed out - received only 1 responses."));
    assert_eq!(rest, [&cl_received_block_for[..], &[1]].concat());
}

#[test]
fn write_failure() {
    let error = CqlError::WriteFailure {
        consistency: Consistency::All,
        received: 0,
        block_for: 3,
        failures: [("[::1]:7000".parse().unwrap(), 2), ("10.0.0.1:7000".parse().unwrap(), 0)].into(),
        write_type: WriteType::Simple,
    };
    let head = [0, 5, 0, 0, 0, 0, 0, 0, 0, 3];
    let simple = b"\0\x06SIMPLE";
    let (code, _, rest) = parts(&error, V5);
    let v6_address = [16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2];
    let reasons = [&[0, 0, 0, 2][..], &v6_address, &[4, 10, 0, 0, 1, 0, 0]].concat();
    assert_eq!((code, rest), (0x1500, [&head[..], &reasons, simple].concat()));
    let (code, _, rest) = parts(&error, V4);
    assert_eq!((code, rest), (0x1500, [&head[..], &[0, 0, 0, 2], simple].concat()));
    let (code, _, rest) = parts(&error, V3);
    assert_eq!((code, rest), (0x1100, [&head[..], simple].concat()));
}

#[test]
fn compare_and_set() {
    let timeout = CqlError::WriteTimeout {
        consistency: Consistency::Serial,
        received: 1,
        block_for: 2,
        write_type: WriteType::Cas,
        contentions: 7,
    };
    let rest = [&[0, 8, 0, 0, 0, 1, 0, 0, 0, 2][..], b"\0\x03CAS"].concat();
    let text = "CAS operation timed out: received 1 of 2 required responses after 7 contention retries";
    assert_eq!(parts(&timeout, V5), (0x1100, text.into(), [&rest[..], &[0, 7]].concat()));
    let older = (0x1100, "Operation timed out - received only 1 responses.".to_owned(), rest.clone());
    assert_eq!(parts(&timeout, V4), older);
    let unknown = CqlError::CasWriteUnknown { consistency: Consistency::Serial, received: 1, block_for: 2 };
    let text = "CAS operation result is unknown - proposal accepted by 1 but not a quorum.";
    assert_eq!(parts(&unknown, V5), (0x1700, text.into(), rest[..10].to_vec()));
    assert_eq!(parts(&unknown, V4), older);
}

#[test]
fn function_and_cdc_failures_are_invalid_requests_to_version_3() {
    let failure = FunctionFailure {
        keyspace: "ks".into(),
        function: "f".into(),
        argument_types: vec!["int".into()],
        message: "execution of 'ks.f[int]' failed: no".into(),
    };
    let error = CqlError::FunctionFailure(Box::new(failure));
    assert_eq!(parts(&error, V4).2, b"\0\x02ks\0\x01f\0\x01\0\x03int");
    let text = "ERROR FUNCTION_FAILURE: execution of 'ks.f[int]' failed: no";
    assert_eq!(parts(&error, V3), (0x2200, text.into(), vec![]));
    let cdc = CqlError::CdcWriteFailure("full".into());
    assert_eq!(parts(&cdc, V4), (0x1600, "full".into(), vec![]));
    assert_eq!(parts(&cdc, V3), (0x2200, "ERROR CDC_WRITE_FAILURE: full".into(), vec![]));
}

#[test]
fn errors_come_back_in_v5() {
    let text = || "text".into();
    let errors = [
        CqlError::Server(text()),
        CqlError::BadCredentials(text()),
        CqlError::Unavailable { consistency: Consistency::Two, required: 2, alive: 1, datacenter: None },
        CqlError::Overloaded(text()),
        CqlError::IsBootstrapping(text()),
        CqlError::Truncate(text()),
        CqlError::ReadTimeout {
            consistency: Consistency::One,
            received: 0,
            block_for: 1,
            data_present: false,
        },
        CqlError::WriteTimeout {
            consistency: Consistency::One,
            received: 0,
            block_for: 1,
            write_type: WriteType::BatchLog,
            contentions: 0,
        },
        CqlError::CdcWriteFailure(text()),
        CqlError::CasWriteUnknown { consistency: Consistency::LocalSerial, received: 1, block_for: 2 },
        CqlError::Syntax(text()),
        CqlError::Unauthorized(text()),
        CqlError::Config(text()),
        CqlError::AlreadyExists { keyspace: "k".into(), table: "".into() },
        CqlError::Unprepared([7; 16]),
    ];
    for error in errors {
        let response = Response::Error(error);
        assert_eq!(Response::decode(Opcode::Error, V5, encode(&response, V5)), Ok(response));
    }
    assert!(Response::decode(Opcode::Error, V5, Bytes::from_static(&[0, 0, 0x99, 0, 0, 0])).is_err());
}

#[test]
fn events_by_hand() {
    let event = Event::StatusChange { change: StatusChange::Up, node: "1.2.3.4:9042".parse().unwrap() };
    let bytes = encode(&Response::Event(event), V4);
    assert_eq!(bytes, &b"\0\x0dSTATUS_CHANGE\0\x02UP\x04\x01\x02\x03\x04\0\0\x23\x52"[..]);
    let moved = Event::TopologyChange { change: TopologyChange::MovedNode, node: "[::1]:1".parse().unwrap() };
    let response = Response::Event(moved);
    assert_eq!(Response::decode(Opcode::Event, V3, encode(&response, V3)), Ok(response));
}

#[test]
fn functions_are_keyspace_updates_to_version_3() {
    let target =
        SchemaTarget::Function { name: "f".into(), argument_types: vec!["int".into(), "text".into()] };
    let change = SchemaChange { kind: SchemaChangeKind::Created, keyspace: "ks".into(), target };
    let response = Response::Event(Event::SchemaChange(change));
    let v4 = encode(&response, V4);
    assert_eq!(
        v4,
        &b"\0\x0dSCHEMA_CHANGE\0\x07CREATED\0\x08FUNCTION\0\x02ks\0\x01f\0\x02\0\x03int\0\x04text"[..]
    );
    assert_eq!(Response::decode(Opcode::Event, V4, v4), Ok(response.clone()));
    let v3 = encode(&response, V3);
    assert_eq!(v3, &b"\0\x0dSCHEMA_CHANGE\0\x07UPDATED\0\x08KEYSPACE\0\x02ks\0\0"[..]);
}

#[test]
fn authentication_round_trips() {
    let responses = [
        Response::Authenticate(Authenticate {
            authenticator: "org.apache.cassandra.auth.PasswordAuthenticator".into(),
        }),
        Response::AuthChallenge(AuthChallenge { token: Bytes::from_static(b"more") }),
        Response::AuthSuccess(AuthSuccess { token: None }),
        Response::AuthSuccess(AuthSuccess { token: Some(Bytes::new()) }),
    ];
    for response in responses {
        for version in ProtocolVersion::SUPPORTED {
            let body = encode(&response, version);
            assert_eq!(Response::decode(response.opcode(), version, body), Ok(response.clone()));
        }
    }
}
