//! Everything in `tests/frames`: what the Python driver sends is understood and would be sent alike, what Apache
//! Cassandra 5.0.9 answers is understood and would be answered alike, and broken input meets the same end.

use basalt_model::{CqlError, DataType};
use basalt_wire::compression::Compression;
use basalt_wire::connection::{ClientConnection, ServerConnection, ServerEvent};
use basalt_wire::envelope::{EnvelopeDecoder, append_envelope};
use basalt_wire::frame::{FrameFormat, FrameWriter, decode_frame};
use basalt_wire::limits::Limits;
use basalt_wire::prelude::Prelude;
use basalt_wire::request::Startup;
use basalt_wire::response::QueryResult;
use basalt_wire::response::result::{ColumnSpec, EncodedColumns, RowsHead, RowsWriter};
use basalt_wire::{Direction, Envelope, Flags, ProtocolVersion, Reader, Request, Response};
use bytes::{Bytes, BytesMut};

fn lines(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(" | ").collect())
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().map(|c| (c as char).to_digit(16).expect("hex") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn version(text: &str) -> ProtocolVersion {
    ProtocolVersion::from_number(text.parse().expect("a number")).expect("a version")
}

fn envelope(bytes: &[u8], direction: Direction) -> Envelope {
    let mut decoder = EnvelopeDecoder::new(direction, &Limits::default());
    let mut buffer = BytesMut::from(bytes);
    let envelope = decoder.decode(&mut buffer).expect("well-formed").expect("complete");
    assert!(buffer.is_empty());
    envelope
}

#[test]
fn requests_of_the_python_driver() {
    for line in lines(include_str!("frames/requests.hex")) {
        let [name, number, hex] = line[..] else { panic!("{line:?}") };
        let (version, bytes) = (version(number), unhex(hex));
        let Envelope { header, body } = envelope(&bytes, Direction::Request);
        assert_eq!(header.version, version, "{name}");
        let mut reader = Reader::new(body);
        let prelude = Prelude::read(&header, &mut reader).expect(name);
        let request = Request::decode(header.opcode, version, &mut reader).expect(name);
        assert_eq!(reader.remaining(), 0, "{name} v{number}: bytes left over");

        let mut again = BytesMut::new();
        append_envelope(&mut again, version.number(), header.opcode, header.stream, |out| {
            let mut flags = prelude.append(version, out);
            request.append(version, out).expect(name);
            if header.flags.contains(Flags::TRACING) {
                flags.insert(Flags::TRACING);
            }
            flags
        });
        assert_eq!(&again[..], &bytes[..], "{name} v{number}: {request:?}");
    }
}

#[test]
fn responses_of_cassandra() {
    for line in lines(include_str!("frames/responses.hex")) {
        let [name, number, hex] = line[..] else { panic!("{line:?}") };
        let (version, bytes) = (version(number), unhex(hex));
        let Envelope { header, body } = envelope(&bytes, Direction::Response);
        let mut reader = Reader::new(body);
        let prelude = Prelude::read(&header, &mut reader).expect(name);
        let response = Response::decode(header.opcode, version, reader.into_rest()).expect(name);
        if let Response::Result(QueryResult::Rows(rows)) = &response {
            let cells: Vec<_> = rows.cells().collect::<Result<_, _>>().expect(name);
            assert_eq!(cells.len() as i32, rows.row_count * rows.metadata.column_count, "{name}");
        }
        let mut again = BytesMut::new();
        append_envelope(&mut again, version.number(), header.opcode, header.stream, |out| {
            let flags = prelude.append(version, out);
            response.append(version, out);
            flags
        });
        // Without metadata Cassandra still says that the columns would have been of one table.
        let is_known_difference = name.starts_with("rows_skip_metadata");
        if is_known_difference {
            let table_flag = bytes.len() - again.len();
            assert_eq!(table_flag, 0, "{name}");
            again[9 + 7] |= 0x01;
        }
        assert_eq!(&again[..], &bytes[..], "{name} v{number}: {response:?}");
    }
}

/// What a server writes cell by cell is what Cassandra wrote.
#[test]
fn rows_written_cell_by_cell() {
    let mut kinds = [0; 4];
    for line in lines(include_str!("frames/responses.hex")) {
        let [name, number, hex] = line[..] else { panic!("{line:?}") };
        let version = version(number);
        let Envelope { header, body } = envelope(&unhex(hex), Direction::Response);
        let mut reader = Reader::new(body);
        Prelude::read(&header, &mut reader).expect(name);
        let body = reader.into_rest();
        let response = Response::decode(header.opcode, version, body.clone()).expect(name);
        let Response::Result(QueryResult::Rows(rows)) = response else { continue };
        let metadata = &rows.metadata;
        let stand_in = ColumnSpec {
            keyspace: "k".into(),
            table: "t".into(),
            name: "c".into(),
            data_type: DataType::Int,
        };
        let unknown = || vec![stand_in.clone(); metadata.column_count as usize];
        let columns = metadata.columns.clone().unwrap_or_else(unknown);
        let columns = EncodedColumns::new(&columns, version);
        let head = RowsHead {
            columns: &columns,
            skip_metadata: metadata.columns.is_none(),
            new_metadata_id: metadata.new_metadata_id.as_deref(),
        };
        let mut out = BytesMut::new();
        let mut writer = RowsWriter::begin(&mut out, head);
        let mut cells = rows.cells();
        for _ in 0..rows.row_count {
            for _ in 0..metadata.column_count {
                let cell = cells.next().expect("a cell").expect(name);
                writer.cell(cell.as_deref());
            }
            writer.end_row();
        }
        assert_eq!(writer.finish(metadata.paging_state.as_deref()), rows.row_count);
        assert_eq!(out, body, "{name} v{number}");
        kinds[0] += 1;
        kinds[1] += usize::from(metadata.paging_state.is_some());
        kinds[2] += usize::from(metadata.new_metadata_id.is_some());
        kinds[3] += usize::from(metadata.columns.is_none());
    }
    assert!(kinds[0] > 30 && kinds[1..].iter().all(|count| *count >= 2), "{kinds:?}");
}

#[test]
fn frames_of_driver_and_cassandra() {
    for line in lines(include_str!("frames/frames.hex")) {
        let [name, kind, hex] = line[..] else { panic!("{line:?}") };
        let format = if kind == "lz4" { FrameFormat::Lz4 } else { FrameFormat::Plain };
        let bytes = unhex(hex);
        let mut buffer = BytesMut::from(&bytes[..]);
        let mut payload = BytesMut::new();
        let mut count = 0;
        while let Some(frame) = decode_frame(format, &mut buffer).expect(name) {
            payload.extend_from_slice(&frame.payload);
            count += 1;
            assert_eq!(frame.is_self_contained, name != "server_several_frames", "{name}");
        }
        assert!(buffer.is_empty(), "{name}");
        assert_eq!(count > 1, name == "server_several_frames", "{name}");

        if format == FrameFormat::Plain {
            let mut again = BytesMut::new();
            let mut writer = FrameWriter::new(format);
            writer.envelope(&mut again, |out| out.extend_from_slice(&payload));
            writer.flush(&mut again);
            assert_eq!(&again[..], &bytes[..], "{name}");
        }
    }
}

/// A connection past its handshake, as the second field of `broken.hex` names it.
fn connection(handshake: &str, id: u32) -> ServerConnection {
    let mut server = ServerConnection::new(id, Limits::default());
    let (number, compression) = match handshake {
        "none" => return server,
        text => text.split_once(' ').unwrap_or((text, "")),
    };
    let compression = match compression {
        "lz4" => Some(Compression::Lz4),
        "snappy" => Some(Compression::Snappy),
        _ => None,
    };
    let mut client = ClientConnection::new(version(&number[1..]));
    client.send(0, &Request::Startup(Startup::new(compression)), &Default::default()).expect("encodes");
    server.feed(&client.take_output());
    let Some(ServerEvent::Request(startup)) = server.next_event() else { panic!("{handshake}") };
    server.respond(startup.reply_to, &Response::Ready, &Prelude::EMPTY);
    server.take_output();
    server
}

/// The envelopes in what was sent, out of their frames.
fn unframed(handshake: &str, bytes: &[u8]) -> Vec<u8> {
    let format = match handshake {
        "v5" => FrameFormat::Plain,
        "v5 lz4" => FrameFormat::Lz4,
        _ => return bytes.to_vec(),
    };
    let mut buffer = BytesMut::from(bytes);
    let mut out = Vec::new();
    while let Some(frame) = decode_frame(format, &mut buffer).expect("intact") {
        out.extend_from_slice(&frame.payload);
    }
    out
}

/// The id with which Cassandra named the connection in a text about a corrupt frame.
fn connection_id(answer: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(answer);
    let id = text.find(" invalid, unrecoverable CRC").and_then(|end| text.get(end - 8..end));
    id.map_or(0, |id| u32::from_str_radix(id, 16).expect("eight digits"))
}

/// What became of broken input.
#[derive(Default)]
struct Outcome {
    sent: Vec<u8>,
    is_closed: bool,
    /// Requests that were well-formed after all.
    passed_on: usize,
    last_error: Option<CqlError>,
}

fn outcome(handshake: &str, input: &[u8], id: u32) -> Outcome {
    let mut server = connection(handshake, id);
    let mut outcome = Outcome::default();
    server.feed(input);
    while let Some(event) = server.next_event() {
        match event {
            ServerEvent::Request(_) => outcome.passed_on += 1,
            ServerEvent::Rejected(rejection) => outcome.last_error = Some(rejection.error),
        }
    }
    outcome.is_closed = server.is_closing();
    outcome.sent = unframed(handshake, &server.take_output());
    outcome
}

#[test]
fn broken_input_meets_the_same_end_as_in_cassandra() {
    let mut same = 0;
    for line in lines(include_str!("frames/broken.hex")) {
        let [name, handshake, input, answer, state] = line[..] else { panic!("{line:?}") };
        let case = format!("{name} ({handshake})");
        let answer = unhex(answer);
        let ours = outcome(handshake, &unhex(input), connection_id(&answer));
        let answer = unframed(handshake, &answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(ours.is_closed, state == "closed", "{case}: {:?}", ours.last_error);
        if text.contains("java.") && !text.contains("MalformedInput") || text.contains("net.jpountz") {
            // Where a Java exception escapes, we say what is wrong with the message instead.
            assert!(matches!(ours.last_error, Some(CqlError::Protocol(_))), "{case}");
            assert_eq!(ours.sent[..5], answer[..5], "{case}: version, flags, stream, opcode");
        } else if text.contains("SELEC") || text.contains("K_FROM") || text.contains("page size") {
            // Well-formed for the codec: what follows is for the node to say.
            assert!(ours.passed_on == 1, "{case}");
        } else if answer.is_empty() && !ours.sent.is_empty() {
            // Cassandra says nothing: to a READY from a client it listens on, a STARTUP cut short
            // it hangs up on.
            assert!(matches!(name, "response" | "startup_short"), "{case}");
        } else {
            assert_eq!(
                String::from_utf8_lossy(&ours.sent),
                text,
                "{case}: text differs, {:?}",
                ours.last_error
            );
            assert_eq!(Bytes::from(ours.sent), answer, "{case}");
            assert_eq!(ours.passed_on, 0, "{case}");
            same += 1;
        }
    }
    assert!(same > 90, "most answers are equal to the byte: {same}");
}
