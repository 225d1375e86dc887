//! Connections from outside: handshakes, versions, broken bytes, limits, events, drain.

mod common;

use std::io::Write;
use std::sync::Arc;
use std::thread;

use basalt_model::CqlError;
use basalt_node::auth::{Authenticator, Negotiation, Step};
use basalt_query::result::{Change, ChangeTarget, SchemaChange};
use basalt_wire::compression::Compression;
use basalt_wire::request::{AuthResponse, EventType, Register, Startup};
use basalt_wire::response::{Event, QueryResult, SchemaChangeKind, SchemaTarget};
use basalt_wire::{ProtocolVersion, Request, Response};
use bytes::Bytes;
use common::{Client, error_of, query, start, start_with};

const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5];

fn void() -> Response {
    Response::Result(QueryResult::Void)
}

#[test]
fn every_version_and_compression_gets_through() {
    let running = start("");
    for version in VERSIONS {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
            if version == ProtocolVersion::V5 && compression == Some(Compression::Snappy) {
                continue;
            }
            let mut client = Client::raw(running.address, version);
            let Ok(Response::Supported(supported)) = client.call(Request::Options).decode() else {
                panic!("OPTIONS is answered")
            };
            let names: Vec<&str> = supported.options.iter().map(|(name, _)| name.as_str()).collect();
            assert!(names.contains(&"CQL_VERSION") && names.contains(&"PROTOCOL_VERSIONS"), "{names:?}");
            let ready = client.call(Request::Startup(Startup::new(compression)));
            assert_eq!(ready.decode(), Ok(Response::Ready), "{version} {compression:?}");
            let answer = client.call(query("DROP KEYSPACE a"));
            assert_eq!(answer.decode(), Ok(void()), "{version} {compression:?}");
            let warnings: &[String] = &answer.prelude.warnings;
            assert_eq!(warnings.len(), usize::from(version >= ProtocolVersion::V4));
            // Heartbeats of drivers.
            assert!(matches!(client.call(Request::Options).decode(), Ok(Response::Supported(_))));
        }
    }
    running.drain();
}

#[test]
fn drivers_step_down_from_versions_that_are_not_spoken() {
    let running = start("");
    let mut client = Client::raw(running.address, ProtocolVersion::V5);
    // OPTIONS in version 66, which the Python driver tries first.
    client.stream.write_all(&[66, 0, 0, 0, 5, 0, 0, 0, 0]).expect("sent");
    let answer = client.receive().expect("an answer");
    let CqlError::Protocol(text) = error_of(&answer) else { panic!("a protocol error") };
    assert!(
        text.starts_with("Invalid or unsupported protocol version (66); supported versions are ("),
        "{text}"
    );
    running.drain();
}

#[test]
fn statements_before_startup_are_refused_and_the_connection_closes() {
    let running = start("");
    for version in VERSIONS {
        let mut client = Client::raw(running.address, version);
        let answer = client.call(query("DROP KEYSPACE a"));
        let expected = "Unexpected message QUERY, expecting STARTUP or OPTIONS";
        assert_eq!(error_of(&answer), CqlError::protocol(expected));
        assert!(client.is_closed());
    }
    running.drain();
}

#[test]
fn broken_bytes_end_that_connection_and_no_other() {
    let running = start("");
    let mut bystander = Client::ready(running.address, ProtocolVersion::V5, None);
    let mut broken = Client::ready(running.address, ProtocolVersion::V5, None);
    broken.stream.write_all(&[0xff; 64]).expect("sent");
    let answer = broken.receive().expect("told why");
    assert!(matches!(error_of(&answer), CqlError::Protocol(_)));
    assert!(broken.is_closed());
    assert_eq!(bystander.call(query("DROP KEYSPACE a")).decode(), Ok(void()));
    running.drain();
}

#[test]
fn more_than_a_handshake_needs_ends_a_connection_that_is_not_in() {
    let running = start("");
    let mut client = Client::raw(running.address, ProtocolVersion::V4);
    // A STARTUP that says it is 15 MiB long.
    let header = [4, 0, 0, 0, 1, 0, 0xf0, 0, 0];
    client.stream.write_all(&header).expect("sent");
    let junk = [0; 16 << 10];
    let refused = (0..64).any(|_| client.stream.write_all(&junk).is_err());
    assert!(refused || client.is_closed());
    running.drain();
}

#[test]
fn a_panic_ends_its_request_only() {
    let running = start("");
    let mut client = Client::ready(running.address, ProtocolVersion::V5, None);
    let CqlError::Server(text) = error_of(&client.call(query("DROP KEYSPACE panic"))) else {
        panic!("a server error")
    };
    assert!(!text.contains("asked to panic"), "internals are not told: {text}");
    assert_eq!(client.call(query("DROP KEYSPACE a")).decode(), Ok(void()));
    running.drain();
}

#[test]
fn requests_of_one_connection_run_beside_each_other() {
    let running = start("");
    let mut client = Client::ready(running.address, ProtocolVersion::V5, None);
    let waits = client.send(&query("DROP KEYSPACE wait"));
    let quick = client.send(&query("DROP KEYSPACE a"));
    assert_eq!(client.receive().expect("the second").stream, quick);
    running.go.notify_one();
    assert_eq!(client.receive().expect("the first").stream, waits);
    running.drain();
}

#[test]
fn connections_over_the_limit_are_closed() {
    let running = start("native_transport_max_concurrent_connections: 2\n");
    let mut first = Client::ready(running.address, ProtocolVersion::V4, None);
    let _second = Client::ready(running.address, ProtocolVersion::V4, None);
    assert!(Client::raw(running.address, ProtocolVersion::V4).is_closed());
    assert_eq!(first.call(query("DROP KEYSPACE a")).decode(), Ok(void()));
    running.drain();
}

const TIGHT: &str = "native_transport_receive_queue_capacity: 10B\n\
                     native_transport_max_request_data_in_flight_per_ip: 100B\n\
                     native_transport_max_message_size: 100B\n";

fn startup(throw_on_overload: bool) -> Request {
    let mut startup = Startup::new(None);
    startup.options.push(("THROW_ON_OVERLOAD".to_owned(), u8::from(throw_on_overload).to_string()));
    Request::Startup(startup)
}

#[test]
fn over_the_limit_a_request_is_refused_if_the_client_chose_so() {
    let running = start(TIGHT);
    let mut client = Client::raw(running.address, ProtocolVersion::V5);
    client.call(startup(true));
    let text = format!("DROP KEYSPACE wait /* {} */", "x".repeat(40));
    let first = client.send(&query(&text));
    let second = client.send(&query(&text));
    let answer = client.receive().expect("refused at once");
    assert_eq!(answer.stream, second);
    let CqlError::Overloaded(text) = error_of(&answer) else { panic!("overloaded") };
    assert!(text.starts_with("Request breached limit on bytes in flight. (Endpoint: "), "{text}");
    running.go.notify_one();
    assert_eq!(client.receive().expect("the first").stream, first);
    running.drain();
}

#[test]
fn over_the_limit_a_request_waits_otherwise() {
    let running = start(TIGHT);
    let mut client = Client::raw(running.address, ProtocolVersion::V5);
    client.call(startup(false));
    let text = format!("DROP KEYSPACE wait /* {} */", "x".repeat(40));
    let streams = client.send_all(&[&query(&text), &query(&text)]);
    let (first, second) = (streams[0], streams[1]);
    running.wait_for_requests(2);
    running.go.notify_one();
    assert_eq!(client.receive().expect("the first").stream, first);
    running.go.notify_one();
    let answer = client.receive().expect("the second, later");
    assert_eq!((answer.stream, answer.decode()), (second, Ok(void())));
    assert!(
        answer.prelude.warnings[0].ends_with("and triggered backpressure."),
        "{:?}",
        answer.prelude.warnings
    );
    running.drain();
}

#[test]
fn registered_clients_hear_of_schema_changes() {
    let running = start("");
    let mut deaf = Client::ready(running.address, ProtocolVersion::V4, None);
    let mut listeners: Vec<Client> =
        VERSIONS.iter().map(|version| Client::ready(running.address, *version, None)).collect();
    for client in &mut listeners {
        let register = Register { events: vec![EventType::StatusChange, EventType::SchemaChange] };
        assert_eq!(client.call(Request::Register(register)).decode(), Ok(Response::Ready));
    }
    running.clients.tell_all(&SchemaChange {
        change: Change::Created,
        target: ChangeTarget::Table("t".into()),
        keyspace: "k".into(),
    });
    for client in &mut listeners {
        let event = client.receive().expect("an event");
        assert_eq!(event.stream, -1);
        let Ok(Response::Event(Event::SchemaChange(change))) = event.decode() else {
            panic!("a schema change")
        };
        assert_eq!(change.kind, SchemaChangeKind::Created);
        assert_eq!(change.target, SchemaTarget::Table("t".to_owned()));
    }
    // Who did not register hears nothing: the next message is the next answer.
    assert_eq!(deaf.call(query("DROP KEYSPACE a")).decode(), Ok(void()));
    running.drain();
}

#[test]
fn connections_show_in_system_views() {
    let running = start("");
    let mut client = Client::ready(running.address, ProtocolVersion::V4, None);
    client.call(query("DROP KEYSPACE a"));
    let views = running.clients.views();
    assert_eq!(views.len(), 1);
    assert_eq!(views[0].connection_stage, "ready");
    assert_eq!(views[0].protocol_version, 4);
    assert_eq!(views[0].request_count, 2);
    assert_eq!(views[0].username.as_deref(), Some("anonymous"));
    assert_eq!(views[0].client_options.get("CQL_VERSION").map(String::as_str), Some("3.0.0"));
    running.drain();
}

/// The password is "open".
struct Password;

impl Authenticator for Password {
    fn class_name(&self) -> Option<&str> {
        Some("org.apache.cassandra.auth.PasswordAuthenticator")
    }

    fn begin(&self) -> Box<dyn Negotiation> {
        Box::new(Password)
    }
}

impl Negotiation for Password {
    fn step(&mut self, token: &Bytes) -> Result<Step, CqlError> {
        if token.as_ref() == b"open" {
            Ok(Step::Done("ali".into()))
        } else {
            Err(CqlError::BadCredentials("Provided username ali and/or password are incorrect".into()))
        }
    }
}

#[test]
fn an_authenticator_decides_who_enters() {
    let running = start_with("", Arc::new(Password));
    for version in VERSIONS {
        let mut client = Client::raw(running.address, version);
        let answer = client.call(Request::Startup(Startup::new(None)));
        assert!(matches!(answer.decode(), Ok(Response::Authenticate(_))));
        let early = error_of(&client.call(query("DROP KEYSPACE a")));
        assert_eq!(early, CqlError::protocol("Unexpected message QUERY, expecting SASL_RESPONSE"));
        let wrong = Request::AuthResponse(AuthResponse { token: Bytes::from_static(b"shut") });
        assert!(matches!(error_of(&client.call(wrong)), CqlError::BadCredentials(_)));
        let right = Request::AuthResponse(AuthResponse { token: Bytes::from_static(b"open") });
        assert!(matches!(client.call(right).decode(), Ok(Response::AuthSuccess(_))));
        assert_eq!(client.call(query("DROP KEYSPACE a")).decode(), Ok(void()));
        assert!(running.clients.views().iter().any(|view| view.username.as_deref() == Some("ali")));
    }
    running.drain();
}

#[test]
fn draining_lets_running_requests_end_and_takes_no_more() {
    let mut running = start("");
    let mut busy = Client::ready(running.address, ProtocolVersion::V5, None);
    let mut idle = Client::ready(running.address, ProtocolVersion::V5, None);
    let stream = busy.send(&query("DROP KEYSPACE wait"));
    running.wait_for_requests(2);
    let server = running.server.take().expect("running");
    let drain = thread::Builder::new().spawn(move || server.drain()).expect("a thread");
    assert!(idle.is_closed());
    let late = busy.send(&query("DROP KEYSPACE a"));
    let answer = busy.receive().expect("refused");
    assert_eq!(answer.stream, late);
    assert_eq!(error_of(&answer), CqlError::Overloaded("Server is shutting down".into()));
    running.go.notify_one();
    let answer = busy.receive().expect("the running one ends");
    assert_eq!((answer.stream, answer.decode()), (stream, Ok(void())));
    assert!(busy.is_closed());
    drain.join().expect("drained");
    assert!(std::net::TcpStream::connect(running.address).is_err(), "nobody listens");
}
