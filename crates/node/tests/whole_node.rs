//! A whole node over an engine in memory, asked as drivers ask.

mod common;

use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_model::{Consistency, CqlError};
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::Engine;
use basalt_storage::engine::mem::MemEngine;
use basalt_wire::request::{EventType, Execute, Prepare, Query, QueryParams, Register};
use basalt_wire::response::{Event, QueryResult, Rows};
use basalt_wire::{ProtocolVersion, Request, Response};
use bytes::Bytes;
use common::{Client, error_of, query, settings};

const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5];

fn start(engine: &Arc<dyn Engine>) -> Node {
    // An engine in memory has no files to keep.
    let settings = settings("cluster_name: whole\nauto_snapshot: false\n");
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), Arc::clone(engine)).expect("storage");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    Node::start(&settings, env, storage, Some(bound)).expect("started")
}

fn memory() -> Arc<dyn Engine> {
    Arc::new(MemEngine::new())
}

fn connect(node: &Node, version: ProtocolVersion) -> Client {
    Client::ready(node.server.as_ref().expect("serves").address, version, None)
}

fn ask(client: &mut Client, text: &str) -> Response {
    match client.call(query(text)).decode().expect("decodes") {
        Response::Error(error) => panic!("{text}: {error}"),
        other => other,
    }
}

fn rows(response: Response) -> Rows {
    match response {
        Response::Result(QueryResult::Rows(rows)) => rows,
        other => panic!("not rows: {other:?}"),
    }
}

fn cells(rows: &Rows) -> Vec<Option<Bytes>> {
    rows.cells().map(|cell| cell.expect("a cell")).collect()
}

#[test]
fn statements_work_in_every_version() {
    let node = start(&memory());
    for version in VERSIONS {
        let mut client = connect(&node, version);
        let keyspace = format!("k{}", version.number());
        ask(
            &mut client,
            &format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
            ),
        );
        ask(&mut client, &format!("USE {keyspace}"));
        ask(&mut client, "CREATE TABLE t (a int, b int, c text, PRIMARY KEY (a, b))");
        for b in 0..10 {
            ask(&mut client, &format!("INSERT INTO t (a, b, c) VALUES (1, {b}, 'row')"));
        }
        let prepare = Prepare { query: "SELECT b FROM t WHERE a = 1".to_owned(), keyspace: None };
        let Response::Result(QueryResult::Prepared(prepared)) =
            client.call(Request::Prepare(prepare)).decode().expect("decodes")
        else {
            panic!("prepared")
        };
        let (mut read, mut paging_state, mut pages) = (Vec::new(), None, 0);
        loop {
            let mut params = QueryParams::new(Consistency::One);
            params.page_size = Some(3);
            params.skip_metadata = true;
            params.paging_state = paging_state;
            let execute = Execute {
                id: prepared.id.clone(),
                result_metadata_id: prepared.result_metadata_id.clone(),
                params,
            };
            let page = rows(client.call(Request::Execute(execute)).decode().expect("decodes"));
            assert_eq!(page.metadata.columns, None, "the client has them");
            read.extend(cells(&page));
            pages += 1;
            paging_state = page.metadata.paging_state;
            if paging_state.is_none() {
                break;
            }
        }
        let expected: Vec<Option<Bytes>> =
            (0..10_i32).map(|b| Some(Bytes::copy_from_slice(&b.to_be_bytes()))).collect();
        assert_eq!(read, expected);
        assert!(pages >= 4, "{pages} pages of three");
    }
    node.drain().expect("all on disk");
}

/// The id is `ResultMetadata.EMPTY`'s, MD5 of no bytes: drivers send it back with each execution.
#[test]
fn statements_without_a_result_have_an_id_of_metadata_too() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V5);
    ask(
        &mut client,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    ask(&mut client, "CREATE TABLE k.t (a int PRIMARY KEY)");
    let prepare = Prepare { query: "INSERT INTO k.t (a) VALUES (?)".to_owned(), keyspace: None };
    let answer = client.call(Request::Prepare(prepare)).decode().expect("decodes");
    let Response::Result(QueryResult::Prepared(prepared)) = answer else { panic!("prepared") };
    let of_nothing = 0xd41d_8cd9_8f00_b204_e980_0998_ecf8_427e_u128.to_be_bytes();
    assert_eq!(prepared.result_metadata_id.as_deref(), Some(of_nothing.as_slice()));
    node.drain().expect("all on disk");
}

#[test]
fn equal_columns_of_two_tables_keep_their_own_names() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V4);
    let mut ids = Vec::new();
    for keyspace in ["one", "two"] {
        ask(
            &mut client,
            &format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
            ),
        );
        ask(&mut client, &format!("CREATE TABLE {keyspace}.t (a int PRIMARY KEY)"));
        let prepare = Prepare { query: format!("SELECT a FROM {keyspace}.t"), keyspace: None };
        let answer = client.call(Request::Prepare(prepare)).decode().expect("decodes");
        let Response::Result(QueryResult::Prepared(prepared)) = answer else { panic!("prepared") };
        ids.push(prepared.id);
    }
    for (id, keyspace) in ids.into_iter().zip(["one", "two"]) {
        let params = QueryParams::new(Consistency::One);
        let execute = Execute { id, result_metadata_id: None, params };
        let page = rows(client.call(Request::Execute(execute)).decode().expect("decodes"));
        let columns = page.metadata.columns.expect("sent");
        assert_eq!(columns[0].keyspace.as_ref(), keyspace);
    }
    node.drain().expect("all on disk");
}

#[test]
fn a_schema_change_is_told_to_those_who_listen() {
    let node = start(&memory());
    let (mut maker, mut listener) =
        (connect(&node, ProtocolVersion::V5), connect(&node, ProtocolVersion::V4));
    listener.call(Request::Register(Register { events: vec![EventType::SchemaChange] }));
    ask(
        &mut maker,
        "CREATE KEYSPACE heard WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    let event = listener.receive().expect("an event").decode();
    let Ok(Response::Event(Event::SchemaChange(change))) = event else { panic!("{event:?}") };
    assert_eq!(change.keyspace, "heard");
    node.drain().expect("all on disk");
}

#[test]
fn system_views_show_the_node() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V4);
    let text = "SELECT value FROM system_views.settings WHERE name = 'cluster_name'";
    assert_eq!(cells(&rows(ask(&mut client, text))), [Some(Bytes::from_static(b"whole"))]);
    let text = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'";
    assert_eq!(cells(&rows(ask(&mut client, text))), [Some(Bytes::from_static(b"batch"))]);
    let connected = rows(ask(&mut client, "SELECT username FROM system_views.clients"));
    assert_eq!(cells(&connected), [Some(Bytes::from_static(b"anonymous"))]);
    node.drain().expect("all on disk");
}

/// One value of `system_views`, as the number it is.
fn shown(client: &mut Client, column: &str, view: &str, key: &str) -> u64 {
    let text = format!("SELECT {column} FROM system_views.{view} WHERE {key}");
    let [Some(value)] = &cells(&rows(ask(client, &text)))[..] else { panic!("{text}") };
    u64::from_be_bytes(value[..].try_into().expect("eight bytes"))
}

#[test]
fn system_views_show_what_tables_cost() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V5);
    ask(
        &mut client,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    ask(&mut client, "CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
    for b in 0..4 {
        ask(&mut client, &format!("INSERT INTO k.t (a, b, c) VALUES (1, {b}, 1)"));
    }
    ask(&mut client, "DELETE FROM k.t WHERE a = 1 AND b = 0");
    for text in ["SELECT * FROM k.t WHERE a = 1", "SELECT * FROM k.t WHERE a = 2", "SELECT * FROM k.t"] {
        ask(&mut client, text);
    }
    let key = "keyspace_name = 'k' AND table_name = 't'";
    for (view, count) in [
        ("local_write_latency", 5),
        ("coordinator_write_latency", 5),
        ("local_read_latency", 2),
        ("coordinator_read_latency", 2),
        ("local_scan_latency", 1),
        ("coordinator_scan_latency", 1),
        ("rows_per_read", 3),
        ("tombstones_per_read", 3),
    ] {
        assert_eq!(shown(&mut client, "count", view, key), count, "{view}");
    }
    let max = |client: &mut Client, view| f64::from_bits(shown(client, "max", view, key));
    assert!((max(&mut client, "rows_per_read") - 3.0).abs() < 1e-9);
    assert!((max(&mut client, "tombstones_per_read") - 1.0).abs() < 1e-9);
    let millis =
        |client: &mut Client, column| f64::from_bits(shown(client, column, "coordinator_write_latency", key));
    let (median, longest) = (millis(&mut client, "p50th_ms"), millis(&mut client, "max_ms"));
    assert!(0.0 < median && median <= longest, "{median} {longest}");
    assert_eq!(shown(&mut client, "pending_bytes", "pending_compactions", key), 0);
    assert_eq!(shown(&mut client, "waited", "write_stalls", "cause = 'disk_full'"), 0);
    let queries = "kind = 'query' AND clock = 'response'";
    assert!(shown(&mut client, "count", "request_latency", queries) > 10);
    let time =
        |client: &mut Client, column| f64::from_bits(shown(client, column, "request_latency", queries));
    let (median, longest) = (time(&mut client, "p50th_ms"), time(&mut client, "max_ms"));
    assert!(0.0 < median && median <= longest, "{median} {longest}");
    assert_eq!(shown(&mut client, "count", "request_latency", "kind = 'batch' AND clock = 'service'"), 0);
    ask(&mut client, "DROP TABLE k.t");
    let text = format!("SELECT count FROM system_views.local_read_latency WHERE {key}");
    assert!(cells(&rows(ask(&mut client, &text))).is_empty());
    node.drain().expect("all on disk");
}

/// What is held of a table goes with it, and one that comes with its name, or even its id, begins with nothing.
#[test]
fn of_tables_that_are_gone_no_numbers_stay() {
    let settings = settings("auto_snapshot: false\n");
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), memory()).expect("storage");
    let metrics = Arc::clone(&storage.metrics);
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let node = Node::start(&settings, env, storage, Some(bound)).expect("started");
    let mut client = connect(&node, ProtocolVersion::V5);
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    ask(&mut client, keyspace);
    ask(&mut client, "CREATE TABLE k.stays (a int PRIMARY KEY)");
    ask(&mut client, "INSERT INTO k.stays (a) VALUES (1)");
    let key = |name: &str| format!("keyspace_name = 'k' AND table_name = '{name}'");
    let with_id = "CREATE TABLE k.t (a int PRIMARY KEY) WITH ID = 12345678-1234-1234-1234-123456789abc";
    for (create, drop) in [
        ("CREATE TABLE k.t (a int PRIMARY KEY)", "DROP TABLE k.t"),
        (with_id, "DROP TABLE k.t"),
        (with_id, "DROP KEYSPACE k"),
    ] {
        ask(&mut client, create);
        for view in ["local_write_latency", "coordinator_read_latency", "rows_per_read"] {
            assert_eq!(shown(&mut client, "count", view, &key("t")), 0, "{create}: {view}");
        }
        ask(&mut client, "INSERT INTO k.t (a) VALUES (1)");
        ask(&mut client, "SELECT * FROM k.t WHERE a = 1");
        let id = node.schema.current().table("k", "t").expect("there").id;
        assert!(metrics.knows(id));
        assert_eq!(shown(&mut client, "count", "rows_per_read", &key("t")), 1);
        ask(&mut client, drop);
        assert!(!metrics.knows(id), "{drop}: given back");
        if drop.starts_with("DROP TABLE") {
            assert_eq!(shown(&mut client, "count", "local_write_latency", &key("stays")), 1, "kept");
        }
    }
    node.drain().expect("all on disk");
}

#[test]
fn a_trace_that_is_asked_for_can_be_read() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V5);
    let request = query("SELECT release_version FROM system.local");
    let answer = client.call_traced(&request);
    let id = answer.prelude.tracing_id.expect("a trace");
    let session = format!("SELECT request, coordinator FROM system_traces.sessions WHERE session_id = {id}");
    let session = cells(&rows(ask(&mut client, &session)));
    assert_eq!(session[0].as_deref(), Some(b"Execute CQL3 query".as_slice()));
    let events = format!("SELECT activity FROM system_traces.events WHERE session_id = {id}");
    assert_eq!(cells(&rows(ask(&mut client, &events))).len(), 1);
    node.drain().expect("all on disk");
}

#[test]
fn a_page_size_of_zero_is_refused() {
    let node = start(&memory());
    let mut client = connect(&node, ProtocolVersion::V4);
    let mut params = QueryParams::new(Consistency::One);
    params.page_size = Some(0);
    let request = Request::Query(Query { query: "SELECT * FROM system.local".to_owned(), params });
    assert_eq!(error_of(&client.call(request)).to_string(), "The page size cannot be 0");
    node.drain().expect("all on disk");
}

/// Ten rows of which nine are dead, in `ks.t`.
fn with_tombstones(yaml: &str) -> Node {
    let settings = settings(yaml);
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), memory()).expect("storage");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let node = Node::start(&settings, env, storage, Some(bound)).expect("started");
    let mut client = connect(&node, ProtocolVersion::V5);
    ask(
        &mut client,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    ask(&mut client, "CREATE TABLE ks.t (k text, c int, v int, PRIMARY KEY (k, c))");
    for c in 0..10 {
        ask(&mut client, &format!("INSERT INTO ks.t (k, c, v) VALUES ('it', {c}, 1)"));
    }
    for c in 1..10 {
        ask(&mut client, &format!("DELETE FROM ks.t WHERE k = 'it' AND c = {c}"));
    }
    node
}

#[test]
fn reads_that_meet_many_tombstones_are_warned_of() {
    let node = with_tombstones("tombstone_warn_threshold: 8\n");
    let mut client = connect(&node, ProtocolVersion::V4);
    let answer = client.call(query("SELECT * FROM ks.t WHERE k = 'it' AND c >= 0"));
    let token = cells(&rows(ask(&mut client, "SELECT token(k) FROM ks.t WHERE k = 'it' AND c = 0")));
    let token = i64::from_be_bytes(token[0].as_deref().expect("a token").try_into().expect("a bigint"));
    let expected = format!(
        "Read 1 live rows and 9 tombstone cells for query SELECT * FROM ks.t WHERE k = 'it' AND c >= 0 ALLOW FILTERING; token {token} (see tombstone_warn_threshold)"
    );
    assert_eq!(answer.prelude.warnings, [expected]);
    let answer = client.call(query("SELECT * FROM ks.t WHERE k = 'it' AND c >= 2"));
    assert_eq!(answer.prelude.warnings, Vec::<String>::new(), "eight are not more than eight");
    node.drain().expect("all on disk");
}

#[test]
fn reads_that_meet_too_many_tombstones_fail() {
    let node = with_tombstones("tombstone_failure_threshold: 8\n");
    for version in VERSIONS {
        let mut client = connect(&node, version);
        let answer = client.call(query("SELECT * FROM ks.t"));
        let text = answer.body.windows(24).any(|bytes| bytes == b"READ_TOO_MANY_TOMBSTONES");
        match error_of(&answer) {
            CqlError::ReadTimeout { received: 0, block_for: 1, data_present: false, .. } => {
                assert_eq!((version, text), (ProtocolVersion::V3, false));
            }
            CqlError::ReadFailure { received: 0, block_for: 1, failures, data_present: false, .. } => {
                assert!(text && version > ProtocolVersion::V3);
                let reasons: Vec<u16> = failures.iter().map(|(_, reason)| *reason).collect();
                assert_eq!(reasons, if version == ProtocolVersion::V5 { vec![1] } else { vec![] });
            }
            other => panic!("{version:?}: {other}"),
        }
    }
    node.drain().expect("all on disk");
}
