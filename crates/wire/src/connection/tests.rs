//! Dialogs between the two sides of a connection, in every version and compression.

use basalt_model::{Consistency, CqlError};
use bytes::{BufMut, Bytes};

use super::*;
use crate::compression::Compression;
use crate::limits::{Limits, MAX_FRAME_PAYLOAD};
use crate::prelude::Prelude;
use crate::request::{AuthResponse, Query, QueryParams, Startup};
use crate::response::{
    AuthSuccess, Authenticate, Event, QueryResult, SchemaChange, SchemaChangeKind, SchemaTarget,
};
use crate::{Opcode, ProtocolVersion, Request, Response};

struct Dialog {
    client: ClientConnection,
    server: ServerConnection,
}

fn query(text: &str) -> Request {
    Request::Query(Query { query: text.to_owned(), params: QueryParams::new(Consistency::One) })
}

impl Dialog {
    fn new(version: ProtocolVersion, limits: Limits) -> Dialog {
        Dialog { client: ClientConnection::new(version), server: ServerConnection::new(1, limits) }
    }

    fn started(version: ProtocolVersion, compression: Option<Compression>) -> Dialog {
        let mut dialog = Dialog::new(version, Limits::default());
        let startup = dialog.request(0, &Request::Startup(Startup::new(compression)));
        assert_eq!(dialog.answer(&startup, &Response::Ready), Response::Ready);
        dialog
    }

    fn send(&mut self, stream: i16, request: &Request) {
        self.client.send(stream, request, &RequestOptions::default()).unwrap();
    }

    /// Carries the client's bytes over, a few at a time, and collects the events.
    fn events(&mut self) -> Vec<ServerEvent> {
        let bytes = self.client.take_output();
        let mut events = Vec::new();
        for part in bytes.chunks(1 + bytes.len() / 3) {
            self.server.feed(part);
            while let Some(event) = self.server.next_event() {
                events.push(event);
            }
        }
        events
    }

    fn request(&mut self, stream: i16, request: &Request) -> ClientRequest {
        self.send(stream, request);
        match &self.events()[..] {
            [ServerEvent::Request(received)] => {
                assert_eq!(&received.request, request);
                received.clone()
            }
            other => panic!("{other:?}"),
        }
    }

    fn rejection(&mut self, stream: i16, request: &Request) -> Rejection {
        self.send(stream, request);
        match &self.events()[..] {
            [ServerEvent::Rejected(rejection)] => rejection.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn receive(&mut self) -> Vec<ResponseEnvelope> {
        self.client.feed(&self.server.take_output());
        let mut responses = Vec::new();
        while let Some(response) = self.client.next_response().unwrap() {
            responses.push(response);
        }
        responses
    }

    fn answer(&mut self, request: &ClientRequest, response: &Response) -> Response {
        self.server.respond(request.reply_to, response, &Prelude::EMPTY);
        let responses = self.receive();
        assert_eq!(responses.len(), 1);
        assert_eq!(responses[0].stream, request.reply_to.stream);
        responses[0].decode().unwrap()
    }
}

fn every_kind() -> impl Iterator<Item = (ProtocolVersion, Option<Compression>)> {
    let compressions = [None, Some(Compression::Lz4), Some(Compression::Snappy)];
    ProtocolVersion::SUPPORTED
        .into_iter()
        .flat_map(move |version| compressions.map(|compression| (version, compression)))
        .filter(|(version, compression)| !version.is_framed() || *compression != Some(Compression::Snappy))
}

#[test]
fn small_and_large_messages_pass_in_both_directions() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        for len in [1, 600, MAX_FRAME_PAYLOAD - 30, 3 * MAX_FRAME_PAYLOAD] {
            let text = "SELECT ".repeat(len / 7 + 1);
            let received = dialog.request(5, &query(&text));
            assert_eq!(dialog.server.buffered_len(), 0);
            let answer = Response::Result(QueryResult::SetKeyspace(text.chars().take(60_000).collect()));
            assert_eq!(dialog.answer(&received, &answer), answer, "{version} {compression:?}");
            let body = vec![b'x'; len];
            dialog.server.respond_with(received.reply_to, Opcode::Result, &Prelude::EMPTY, |_, out| {
                out.put_slice(&body);
            });
            let responses = dialog.receive();
            assert_eq!(responses[0].body, body);
        }
    }
}

#[test]
fn pipelined_requests_are_answered_in_one_write() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        for stream in 0..500 {
            dialog.send(stream, &query("SELECT a FROM t"));
        }
        let events = dialog.events();
        assert_eq!(events.len(), 500);
        for event in events.iter().rev() {
            let ServerEvent::Request(request) = event else { panic!("{event:?}") };
            dialog.server.respond(request.reply_to, &Response::Result(QueryResult::Void), &Prelude::EMPTY);
        }
        let streams: Vec<i16> = dialog.receive().iter().map(|response| response.stream).collect();
        assert_eq!(streams, (0..500).rev().collect::<Vec<i16>>());
    }
}

#[test]
fn preludes_travel() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        let payload = vec![("key".to_owned(), Some(Bytes::from_static(b"value"))), ("none".to_owned(), None)];
        let options = RequestOptions { tracing: true, custom_payload: Some(payload.clone()) };
        dialog.client.send(3, &query("SELECT"), &options).unwrap();
        let events = dialog.events();
        let [ServerEvent::Request(request)] = &events[..] else { panic!("{events:?}") };
        assert!(request.tracing);
        let has_payload = version >= ProtocolVersion::V4;
        assert_eq!(request.custom_payload, has_payload.then(|| payload.clone()));
        let prelude = Prelude {
            tracing_id: Some(uuid::Uuid::from_u128(7)),
            warnings: vec!["careful".to_owned()],
            custom_payload: Some(payload),
        };
        dialog.server.respond(request.reply_to, &Response::Result(QueryResult::Void), &prelude);
        let received = dialog.receive().remove(0);
        let expected =
            if has_payload { prelude } else { Prelude { tracing_id: prelude.tracing_id, ..Prelude::EMPTY } };
        assert_eq!(received.prelude, expected);
        assert_eq!(received.decode(), Ok(Response::Result(QueryResult::Void)));
    }
}

#[test]
fn authentication_comes_before_everything_else() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::new(version, Limits::default());
        let startup = dialog.request(0, &Request::Startup(Startup::new(compression)));
        let authenticate = Response::Authenticate(Authenticate { authenticator: "A".to_owned() });
        dialog.answer(&startup, &authenticate);
        assert_eq!(dialog.server.stage(), Stage::Authenticating);

        let rejection = dialog.rejection(1, &query("SELECT"));
        assert_eq!(rejection.error, CqlError::protocol("Unexpected message QUERY, expecting SASL_RESPONSE"));
        assert!(rejection.is_answered && !rejection.close);
        dialog.receive();

        let token = Request::AuthResponse(AuthResponse { token: Bytes::from_static(b"\0u\0p") });
        let request = dialog.request(2, &token);
        dialog.answer(&request, &Response::AuthSuccess(AuthSuccess { token: None }));
        assert_eq!(dialog.server.stage(), Stage::Ready);
        dialog.request(3, &query("SELECT"));
    }
}

#[test]
fn unauthenticated_clients_send_no_large_messages() {
    let mut dialog = Dialog::new(ProtocolVersion::V5, Limits::default());
    let startup = dialog.request(0, &Request::Startup(Startup::new(None)));
    dialog.answer(&startup, &Response::Authenticate(Authenticate { authenticator: "A".to_owned() }));
    let token = Bytes::from(vec![0; 200_000]);
    let rejection = dialog.rejection(4, &Request::AuthResponse(AuthResponse { token }));
    assert!(rejection.close);
    assert_eq!(
        rejection.error.to_string(),
        "The connection is not yet in a valid state to process multi frame CQL Messages, usually thismeans \
         that authentication is still pending. type = AUTH_RESPONSE, size = 200004"
    );
    assert_eq!(dialog.receive()[0].stream, 4);
}

#[test]
fn nothing_is_read_past_startup_before_its_answer() {
    // A v5 client that (wrongly) does not wait sends frames that could be taken for envelopes.
    let mut dialog = Dialog::new(ProtocolVersion::V5, Limits::default());
    let startup = dialog.request(0, &Request::Startup(Startup::new(None)));
    let mut frame = bytes::BytesMut::new();
    let options = [5, 0, 0, 9, 5, 0, 0, 0, 0];
    crate::frame::append_frame(crate::frame::FrameFormat::Plain, true, &options, &mut frame);
    dialog.server.feed(&frame);
    assert_eq!(dialog.server.stage(), Stage::Starting);
    assert_eq!(dialog.server.next_event(), None);
    dialog.answer(&startup, &Response::Ready);
    let Some(ServerEvent::Request(request)) = dialog.server.next_event() else { panic!() };
    assert_eq!((request.request, request.reply_to.stream), (Request::Options, 9));
}

#[test]
fn a_refused_startup_can_be_repeated() {
    let mut dialog = Dialog::new(ProtocolVersion::V5, Limits::default());
    let startup = dialog.request(0, &Request::Startup(Startup::new(None)));
    dialog.server.respond(startup.reply_to, &Response::Error(CqlError::server("no")), &Prelude::EMPTY);
    assert_eq!(dialog.server.stage(), Stage::Established);
    assert_eq!(dialog.server.version(), None);
    dialog.server.take_output();
    let startup = dialog.request(1, &Request::Startup(Startup::new(None)));
    dialog.answer(&startup, &Response::Ready);
    assert_eq!(dialog.server.version(), Some(ProtocolVersion::V5));
}

#[test]
fn oversized_messages_are_refused_and_the_connection_lives() {
    let limits = Limits { max_frame_size: 300_000, max_message_size: 300_000, ..Limits::default() };
    for version in ProtocolVersion::SUPPORTED {
        let mut dialog = Dialog::new(version, limits);
        let startup = dialog.request(0, &Request::Startup(Startup::new(None)));
        dialog.answer(&startup, &Response::Ready);
        let long = query(&"x".repeat(400_000));
        let rejection = dialog.rejection(6, &long);
        assert!(matches!(&rejection.error, CqlError::Invalid(_)), "{rejection:?}");
        assert!(!rejection.close);
        let text = rejection.error.to_string();
        if version.is_framed() {
            assert_eq!(text, "CQL Message of size 400010 bytes exceeds allowed maximum of 300000 bytes");
        } else {
            assert_eq!(text, "Request is too big: length 400016 exceeds maximum allowed length 300000.");
        }
        assert_eq!(dialog.receive()[0].stream, 6);
        dialog.request(7, &query("SELECT"));
    }
}

#[test]
fn a_body_may_not_decompress_to_more_than_the_limit() {
    let limits = Limits { max_frame_size: 100_000, ..Limits::default() };
    let mut dialog = Dialog::new(ProtocolVersion::V4, limits);
    let startup = dialog.request(0, &Request::Startup(Startup::new(Some(Compression::Lz4))));
    dialog.answer(&startup, &Response::Ready);
    let rejection = dialog.rejection(1, &query(&"x".repeat(200_000)));
    assert!(rejection.close && !rejection.is_answered);
    assert!(dialog.server.is_closing());
    assert!(dialog.server.take_output().is_empty());
}

#[test]
fn compression_is_used_where_it_helps() {
    for version in [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5] {
        let mut dialog = Dialog::started(version, Some(Compression::Lz4));
        let request = dialog.request(1, &query("SELECT"));
        let answer = Response::Result(QueryResult::SetKeyspace("k".repeat(10_000)));
        dialog.server.respond(request.reply_to, &answer, &Prelude::EMPTY);
        let bytes = dialog.server.take_output();
        assert!(bytes.len() < 500, "{}", bytes.len());
    }
}

#[test]
fn events_go_to_stream_minus_one() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        let change = SchemaChange {
            kind: SchemaChangeKind::Created,
            keyspace: "ks".to_owned(),
            target: SchemaTarget::Table("t".to_owned()),
        };
        let event = Event::SchemaChange(change);
        dialog.server.push_event(&event);
        let received = dialog.receive().remove(0);
        assert_eq!(received.stream, -1);
        assert_eq!(received.decode(), Ok(Response::Event(event)));
    }
}

#[test]
fn a_client_learns_that_its_version_is_not_spoken() {
    let mut dialog =
        Dialog::new(ProtocolVersion::V4, Limits { allow_older_protocols: false, ..Limits::default() });
    dialog.send(0, &Request::Options);
    // In one piece: less than a header of an unknown version is hung up on.
    dialog.server.feed(&dialog.client.take_output());
    let Some(ServerEvent::Rejected(rejection)) = dialog.server.next_event() else { panic!() };
    assert_eq!(rejection.error.to_string(), "Rejecting Protocol Version 4/v4 < 5/v5.");
    let answer = dialog.receive().remove(0);
    assert_eq!(answer.version, ProtocolVersion::V5);
    assert!(matches!(answer.decode(), Ok(Response::Error(CqlError::Protocol(_)))));
}

#[test]
fn a_request_that_cannot_be_encoded_leaves_nothing_behind() {
    let mut client = ClientConnection::new(ProtocolVersion::V4);
    let mut params = QueryParams::new(Consistency::One);
    params.values.values = vec![crate::Value::Null; 70_000];
    let request = Request::Query(Query { query: "SELECT".to_owned(), params });
    assert!(client.send(0, &request, &RequestOptions::default()).is_err());
    assert!(client.take_output().is_empty());
}

#[test]
fn a_client_in_a_hurry_skips_results_of_any_length_and_sees_the_rest() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        let received = dialog.request(5, &query("SELECT a FROM t"));
        let to = |stream| ReplyTo { stream, ..received.reply_to };
        let result = |text: &str| Response::Result(QueryResult::SetKeyspace(text.to_owned()));
        let body = vec![b'x'; 2 * MAX_FRAME_PAYLOAD];
        dialog.server.respond(to(1), &result("skipped"), &Prelude::EMPTY);
        dialog.server.respond(to(0), &result("kept"), &Prelude::EMPTY);
        dialog.server.respond_with(to(2), Opcode::Result, &Prelude::EMPTY, |_, out| out.put_slice(&body));
        let overloaded = Response::Error(CqlError::Overloaded("busy".into()));
        dialog.server.respond(to(3), &overloaded, &Prelude::EMPTY);
        dialog.server.respond(to(4), &result(&"long".repeat(1000)), &Prelude::EMPTY);
        let mut seen = Vec::new();
        let bytes = dialog.server.take_output();
        for part in bytes.chunks(1 + bytes.len() / 5) {
            dialog.client.feed(part);
            while let Some(answer) = dialog.client.next_answer(|stream| stream != 0).unwrap() {
                seen.push(match answer {
                    Answer::Result { stream } => (stream, None),
                    Answer::Other(envelope) => (envelope.stream, Some(envelope.decode().ok())),
                });
            }
        }
        seen.sort_by_key(|(stream, _)| *stream);
        let large = if version.is_framed() { Some(None) } else { None };
        assert_eq!(
            seen,
            [(0, Some(Some(result("kept")))), (1, None), (2, large), (3, Some(Some(overloaded))), (4, None)],
            "{version} {compression:?}"
        );
    }
}

#[test]
fn a_body_written_in_place_is_a_request_like_any_other() {
    for (version, compression) in every_kind() {
        let mut dialog = Dialog::started(version, compression);
        let request = query(&"SELECT a FROM t".repeat(100));
        dialog.client.send_with(7, Opcode::Query, |version, out| request.append(version, out).unwrap());
        let events = dialog.events();
        let [ServerEvent::Request(received)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((received.reply_to.stream, &received.request), (7, &request));
    }
}
