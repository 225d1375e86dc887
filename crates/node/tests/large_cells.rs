//! Cells of many megabytes over the wire, below and above `max_mutation_size` and the limits of envelopes and messages.

mod common;

use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_model::{Consistency, CqlError};
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::mem::MemEngine;
use basalt_wire::primitives::Value;
use basalt_wire::request::{
    Batch, BatchKind, BatchStatement, BoundValues, Execute, Prepare, Query, QueryParams,
};
use basalt_wire::response::{QueryResult, Rows};
use basalt_wire::{ProtocolVersion, Request, Response};
use bytes::Bytes;
use common::{Client, error_of, query, settings};

const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5];

const MIB: usize = 1 << 20;

/// As many requests in flight as a machine of usual size allows: a small one takes smaller messages.
const YAML: &str = "native_transport_max_request_data_in_flight: 256MiB\n\
    native_transport_max_request_data_in_flight_per_ip: 256MiB\n";

fn start() -> Node {
    let settings = settings(YAML);
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), Arc::new(MemEngine::new())).expect("storage");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    Node::start(&settings, env, storage, Some(bound)).expect("started")
}

/// A connection to a node with a table `large.t`.
fn connect(node: &Node, version: ProtocolVersion) -> Client {
    let mut client = Client::ready(node.server.as_ref().expect("serves").address, version, None);
    for text in [
        "CREATE KEYSPACE IF NOT EXISTS large WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE IF NOT EXISTS large.t (k int, c int, a text, b text, PRIMARY KEY (k, c))",
    ] {
        answer(&mut client, query(text)).expect("done");
    }
    client
}

fn answer(client: &mut Client, request: Request) -> Result<Response, CqlError> {
    let envelope = client.call(request);
    match envelope.decode().expect("decodes") {
        Response::Error(_) => Err(error_of(&envelope)),
        other => Ok(other),
    }
}

fn rows(response: Response) -> Rows {
    match response {
        Response::Result(QueryResult::Rows(rows)) => rows,
        other => panic!("not rows: {other:?}"),
    }
}

fn text(bytes: usize) -> Bytes {
    Bytes::from(vec![b'x'; bytes])
}

fn int(value: i32) -> Value {
    Value::Bytes(Bytes::copy_from_slice(&value.to_be_bytes()))
}

fn params(values: BoundValues) -> QueryParams {
    QueryParams { values, ..QueryParams::new(Consistency::One) }
}

/// The length of a cell that is there.
fn stored(client: &mut Client, c: i32) -> Option<usize> {
    let request = query(&format!("SELECT a FROM large.t WHERE k = 1 AND c = {c}"));
    let rows = rows(answer(client, request).expect("read"));
    let cell = rows.cells().next()?.expect("a cell").expect("not null");
    assert!(cell.iter().all(|byte| *byte == b'x'));
    Some(cell.len())
}

#[test]
fn fifteen_mebibytes_are_written_and_read_however_they_are_sent() {
    let node = start();
    for (at, version) in (0..).step_by(10).zip(VERSIONS) {
        let client = &mut connect(&node, version);
        let spelled = String::from_utf8(text(15 * MIB).to_vec()).expect("text");
        let simple = format!("INSERT INTO large.t (k, c, a) VALUES (1, {at}, '{spelled}')");
        answer(client, query(&simple)).expect("a simple statement");
        let bound = Query {
            query: "INSERT INTO large.t (k, c, a) VALUES (1, ?, ?)".to_owned(),
            params: params(BoundValues::positional(vec![int(at + 1), Value::Bytes(text(15 * MIB))])),
        };
        answer(client, Request::Query(bound)).expect("a bound value");
        let prepare =
            Prepare { query: "INSERT INTO large.t (k, c, a) VALUES (1, ?, ?)".to_owned(), keyspace: None };
        let Ok(Response::Result(QueryResult::Prepared(prepared))) = answer(client, Request::Prepare(prepare))
        else {
            panic!("prepared")
        };
        let execute = Execute {
            id: prepared.id.clone(),
            result_metadata_id: prepared.result_metadata_id.clone(),
            params: params(BoundValues::positional(vec![int(at + 2), Value::Bytes(text(15 * MIB))])),
        };
        answer(client, Request::Execute(execute)).expect("a prepared statement");
        // One partition is one mutation, of which the warnings and limits of batches do not speak.
        let entry = |c, bytes| BatchStatement::Prepared {
            id: prepared.id.clone(),
            values: vec![int(c), Value::Bytes(text(bytes))],
        };
        let statements = vec![entry(at + 3, 8 * MIB), entry(at + 4, 7 * MIB)];
        let batch = Batch { kind: BatchKind::Logged, statements, params: params(BoundValues::default()) };
        answer(client, Request::Batch(batch)).expect("a batch");
        for (c, bytes) in [(0, 15), (1, 15), (2, 15), (3, 8), (4, 7)] {
            assert_eq!(stored(client, at + c), Some(bytes * MIB), "{version:?} {c}");
        }
    }
    node.drain().expect("all on disk");
}

#[test]
fn a_mutation_over_the_limit_is_refused_and_the_connection_lives() {
    let node = start();
    for version in VERSIONS {
        let client = &mut connect(&node, version);
        // One value for two columns: nine mebibytes on the way, eighteen in the mutation.
        let names = Some(vec!["v".to_owned()]);
        let twice = |text: &str| {
            let values =
                BoundValues { values: vec![Value::Bytes(self::text(9 * MIB))], names: names.clone() };
            Request::Query(Query { query: text.to_owned(), params: params(values) })
        };
        for text in [
            "INSERT INTO large.t (k, c, a, b) VALUES (1, 99, :v, :v)",
            "INSERT INTO large.t (k, c, a, b) VALUES (1, 99, :v, :v) IF NOT EXISTS",
            "UPDATE large.t SET a = :v, b = :v WHERE k = 1 AND c = 99",
            "BEGIN BATCH INSERT INTO large.t (k, c, a) VALUES (1, 99, :v) INSERT INTO large.t (k, c, a) VALUES (1, 98, :v) \
             APPLY BATCH",
        ] {
            let error = answer(client, twice(text)).expect_err(text);
            assert!(matches!(error, CqlError::Invalid(_)), "{error:?}");
            let told = error.to_string();
            let is_told = told.starts_with("Rejected an oversized mutation (188")
                && told.ends_with("/16777216) for keyspace: large. Top keys are: t.1");
            assert!(is_told, "{version:?}: {told}");
        }
        assert_eq!((stored(client, 99), stored(client, 98)), (None, None), "nothing of it is there");
    }
    node.drain().expect("all on disk");
}

#[test]
fn a_request_over_the_limit_is_refused_and_the_connection_lives() {
    let node = start();
    for version in VERSIONS {
        let client = &mut connect(&node, version);
        let values = BoundValues::positional(vec![Value::Bytes(text(16 * MIB))]);
        let text = "INSERT INTO large.t (k, c, a) VALUES (1, 99, ?)".to_owned();
        let error = answer(client, Request::Query(Query { query: text, params: params(values) }));
        let error = error.expect_err("too large");
        assert!(matches!(error, CqlError::Invalid(_)), "{error:?}");
        let told = error.to_string();
        match version {
            ProtocolVersion::V5 => {
                assert!(told.starts_with("CQL Message of size 16777"), "{told}");
                assert!(told.ends_with(" bytes exceeds allowed maximum of 16777216 bytes"), "{told}");
            }
            _ => {
                assert!(told.starts_with("Request is too big: length 16777"), "{told}");
                assert!(told.ends_with(" exceeds maximum allowed length 16777216."), "{told}");
            }
        }
        assert_eq!(stored(client, 99), None);
    }
    node.drain().expect("all on disk");
}

/// Rows of a few bytes take more in storage than on the way: their keys hold their partition's. They are no larger
/// mutation for it.
#[test]
fn many_small_rows_are_measured_as_they_are_sent() {
    let node = start();
    let client = &mut connect(&node, ProtocolVersion::V5);
    let key = "k".repeat(10_000);
    let table = "CREATE TABLE large.keys (k text, c int, PRIMARY KEY (k, c))";
    answer(client, query(table)).expect("a table");
    let insert = format!("INSERT INTO large.keys (k, c) VALUES ('{key}', ?)");
    let Ok(Response::Result(QueryResult::Prepared(prepared))) =
        answer(client, Request::Prepare(Prepare { query: insert, keyspace: None }))
    else {
        panic!("prepared")
    };
    let entry = |c| BatchStatement::Prepared { id: prepared.id.clone(), values: vec![int(c)] };
    let batch = Batch {
        kind: BatchKind::Unlogged,
        statements: (0..2_000).map(entry).collect(),
        params: params(BoundValues::default()),
    };
    answer(client, Request::Batch(batch)).expect("twenty megabytes of keys, little of rows");
    node.drain().expect("all on disk");
}
