//! Entry points for fuzzers: arbitrary bytes through everything that reads bytes. They assert what
//! must hold for any input; not part of the crate's interface.

use bytes::{Bytes, BytesMut};

use crate::connection::{ClientConnection, ClientRequest, ServerConnection, ServerEvent};
use crate::envelope::{Opcode, append_envelope};
use crate::frame::{FrameFormat, append_frame};
use crate::limits::{Limits, MAX_FRAME_PAYLOAD};
use crate::prelude::Prelude;
use crate::request::Startup;
use crate::response::QueryResult;
use crate::{Flags, ProtocolVersion, Request, Response};
use basalt_model::paging_state::PagingState;

/// Small limits, so that small inputs reach them.
const LIMITS: Limits = Limits {
    max_frame_size: 64 * 1024,
    max_message_size: 32 * 1024,
    consecutive_message_errors_threshold: 1,
    allow_older_protocols: true,
};

/// Drives connection and decoders with `data`; its first bytes choose how.
pub fn fuzz_one(data: &[u8]) {
    let Some(([mode, chunk], rest)) = data.split_first_chunk::<2>() else { return };
    let version = match mode & 0b11 {
        0 => ProtocolVersion::V3,
        1 => ProtocolVersion::V4,
        2 => ProtocolVersion::V5,
        _ => ProtocolVersion::V6,
    };
    let compression = match mode >> 2 & 0b11 {
        0 | 1 => None,
        2 => Some("lz4"),
        _ => Some("snappy"),
    };
    let chunk = usize::from(*chunk) + 1;
    match mode >> 4 & 0b111 {
        0 => fuzz_server(None, version, rest, chunk),
        1 | 2 => fuzz_server(Some(compression), version, rest, chunk),
        3 => fuzz_server(Some(compression), version, &framed(compression, true, rest), chunk),
        4 => fuzz_server(Some(compression), version, &framed(compression, false, rest), chunk),
        5 => fuzz_messages(version, rest),
        6 => fuzz_client(version, rest, chunk),
        _ => fuzz_server(Some(compression), version, &enveloped(version, rest), chunk),
    }
}

/// `payload` in frames whose checksums hold.
fn framed(compression: Option<&str>, is_self_contained: bool, payload: &[u8]) -> BytesMut {
    let format = if compression == Some("lz4") { FrameFormat::Lz4 } else { FrameFormat::Plain };
    let mut out = BytesMut::new();
    for part in payload.chunks(MAX_FRAME_PAYLOAD.min(payload.len() / 2 + 1)) {
        append_frame(format, is_self_contained, part, &mut out);
    }
    out
}

/// `body` behind a header that holds, framed where frames are due.
fn enveloped(version: ProtocolVersion, body: &[u8]) -> BytesMut {
    let Some(([opcode, flags], body)) = body.split_first_chunk::<2>() else { return BytesMut::new() };
    let opcode = usize::from(*opcode) % Opcode::ALL.len();
    let Some(opcode) = Opcode::ALL.get(opcode) else { return BytesMut::new() };
    let mut out = BytesMut::new();
    append_envelope(&mut out, version.number(), *opcode, 7, |out| {
        out.extend_from_slice(body);
        Flags(*flags)
    });
    if version.is_framed() { framed(None, true, &out) } else { out }
}

fn fuzz_server(startup: Option<Option<&str>>, version: ProtocolVersion, data: &[u8], chunk: usize) {
    let mut connection = ServerConnection::new(1, LIMITS);
    if let Some(compression) = startup {
        let mut message = Startup::new(None);
        if let Some(name) = compression {
            message.options.push(("COMPRESSION".to_owned(), name.to_owned()));
        }
        let mut client = ClientConnection::new(version);
        if client.send(0, &Request::Startup(message), &Default::default()).is_err() {
            return; // Snappy in v5.
        }
        connection.feed(&client.take_output());
        drain(&mut connection);
        assert_eq!(connection.version(), Some(version), "an honest handshake succeeds");
    }
    for part in data.chunks(chunk) {
        connection.feed(part);
        drain(&mut connection);
        let bound = LIMITS.max_frame_size as usize + MAX_FRAME_PAYLOAD + chunk + 64;
        assert!(connection.is_closing() || connection.buffered_len() <= bound, "input is bounded");
    }
}

/// Answers everything, so that the machine goes on.
fn drain(connection: &mut ServerConnection) {
    while let Some(event) = connection.next_event() {
        match event {
            ServerEvent::Request(request) => answer(connection, &request),
            ServerEvent::Rejected(rejection) => {
                assert_eq!(rejection.close, connection.is_closing(), "closing is what was said");
            }
        }
    }
    connection.take_output();
}

fn answer(connection: &mut ServerConnection, request: &ClientRequest) {
    let response = match &request.request {
        Request::Startup(_) => Response::Ready,
        _ => Response::Result(QueryResult::Void),
    };
    connection.respond(request.reply_to, &response, &Prelude::EMPTY);
}

fn fuzz_messages(version: ProtocolVersion, data: &[u8]) {
    let body = Bytes::copy_from_slice(data);
    for opcode in Opcode::ALL {
        if let Ok(request) = Request::decode_body(*opcode, version, body.clone()) {
            // Not to the same request: a keyspace is understood before v5 and never sent.
            let once = encode(&request, version);
            let again = Request::decode_body(*opcode, version, once.clone());
            let again = again.expect("what was encoded decodes");
            assert_eq!(encode(&again, version), once, "encoding settles at once");
        }
        if let Ok(response) = Response::decode(*opcode, version, body.clone()) {
            let mut out = BytesMut::new();
            response.append(version, &mut out);
            if let Response::Result(QueryResult::Rows(rows)) = &response {
                let cells = rows.cells().take(data.len() + 2).count();
                assert!(cells <= data.len() + 2, "cells are bounded by bytes");
            }
        }
    }
    if let Ok(state) = PagingState::decode(&body, version.number()) {
        let again = PagingState::decode(&state.encode(), version.number());
        assert!(again.is_ok(), "what was encoded decodes");
        if let Some(mark) = &state.row_mark {
            for clustering_len in [0, 1, 3, 40] {
                // Any answer will do, as long as it is one.
                let _ = mark.row(clustering_len);
            }
        }
    }
}

fn encode(request: &Request, version: ProtocolVersion) -> Bytes {
    let mut out = BytesMut::new();
    request.append(version, &mut out).expect("what was decoded fits its counts");
    out.freeze()
}

fn fuzz_client(version: ProtocolVersion, data: &[u8], chunk: usize) {
    let mut client = ClientConnection::new(version);
    let startup = Request::Startup(Startup::new(None));
    if client.send(0, &startup, &Default::default()).is_err() {
        return;
    }
    for part in data.chunks(chunk) {
        client.feed(part);
        loop {
            match client.next_response() {
                Ok(Some(envelope)) => drop(envelope.decode()),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;
