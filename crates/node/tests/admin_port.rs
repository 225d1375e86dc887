//! The port of nodetool: what it takes, and from whom. Asked with bytes, as a browser or a script would.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::Engine;
use basalt_storage::engine::failing::{Call, FailingEngine};
use basalt_storage::engine::mem::MemEngine;
use common::settings;

fn start() -> (Node, SocketAddr) {
    start_on(Arc::new(MemEngine::new()))
}

fn start_on(engine: Arc<dyn Engine>) -> (Node, SocketAddr) {
    let settings = settings("cluster_name: admin\n");
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), engine).expect("storage");
    let mut node = Node::start(&settings, Arc::clone(&env), storage, None).expect("started");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let address = node.start_admin(env, bound).expect("listens");
    (node, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("accepted");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    stream
}

/// Sends a request; the status and the rest of the answer, to the end of the connection.
fn ask(address: SocketAddr, first: &str, headers: &[&str], body: &str) -> (u16, String) {
    let mut stream = connect(address);
    let mut request = format!("{first} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        request.push_str(header);
        request.push_str("\r\n");
    }
    // The server may have answered, and closed, before all of a large body is sent.
    drop(stream.write_all(format!("{request}\r\n{body}").as_bytes()));
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert!(!answer.is_empty(), "no answer: {error}");
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

const JSON: &str = "content-type: application/json";
const HOST: &str = "host: 127.0.0.1:7199";
const FLUSH: &str = "POST /v1/flush";
const ALL: &str = r#"{"keyspace": null, "tables": []}"#;

#[test]
fn only_what_no_page_can_send_is_taken() {
    let (node, address) = start();
    for (status, first, headers, body) in [
        (200, FLUSH, &[JSON, HOST][..], ALL),
        (200, FLUSH, &[JSON, "host: [::1]:7199"], ALL),
        (200, FLUSH, &[JSON, "host: 127.0.0.1"], ALL),
        // What a link or an image sends, a form, a script of a page, and one whose name was rebound to this machine.
        (405, "GET /v1/flush", &[JSON, HOST], ""),
        (415, FLUSH, &["content-type: text/plain", HOST], ALL),
        (415, FLUSH, &[HOST], ALL),
        (403, FLUSH, &[JSON, HOST, "origin: http://127.0.0.1:7199"], ALL),
        (403, FLUSH, &[JSON, HOST, "origin: null"], ALL),
        (403, FLUSH, &[JSON, "host: evil.example:7199"], ALL),
        (403, FLUSH, &[JSON, "host: localhost:7199"], ALL),
        (403, FLUSH, &[JSON], ALL),
        (404, "POST /v1/rm", &[JSON, HOST], ALL),
        (404, "POST /flush", &[JSON, HOST], ALL),
        (400, FLUSH, &[JSON, HOST], "no JSON"),
    ] {
        let (told, answer) = ask(address, first, headers, body);
        assert_eq!(told, status, "{first} {headers:?} {body}: {answer}");
    }
    node.drain().expect("all on disk");
}

#[test]
fn what_is_sent_has_bounds() {
    let (node, address) = start();
    let (status, answer) = ask(address, FLUSH, &[JSON, HOST], &format!("{ALL}{}", " ".repeat(1 << 20)));
    assert_eq!(status, 400, "{answer}");
    assert_eq!(ask(address, FLUSH, &[JSON, HOST], &format!("{ALL}{}", " ".repeat(1 << 19))).0, 200);
    let long = format!("x: {}", "y".repeat(32 << 10));
    assert_eq!(ask(address, FLUSH, &[JSON, HOST, &long], ALL).0, 431);
    node.drain().expect("all on disk");
}

/// Commands that take long do not pile up.
#[test]
fn only_so_many_commands_run_at_a_time() {
    const AT_A_TIME: u64 = 16;
    let engine = Arc::new(FailingEngine::new(MemEngine::new()));
    let (node, address) = start_on(engine.clone());
    let flushed = engine.made(Call::Flush);
    std::thread::scope(|scope| {
        let held = engine.hold_writes();
        let flush = || ask(address, FLUSH, &[JSON, HOST], ALL);
        let running: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(flush)).collect();
        while engine.made(Call::Flush) < flushed + AT_A_TIME {
            std::thread::yield_now();
        }
        let (status, answer) = flush();
        assert_eq!(status, 503, "{answer}");
        drop(held);
        for command in running {
            assert_eq!(command.join().expect("answered").0, 200);
        }
    });
    node.drain().expect("all on disk");
}

/// Somebody who connects and says nothing keeps nobody else out, nor the node from ending.
#[test]
fn who_says_nothing_is_in_nobodys_way() {
    let (node, address) = start();
    let _silent: Vec<TcpStream> = (0..32).map(|_| connect(address)).collect();
    assert_eq!(ask(address, FLUSH, &[JSON, HOST], ALL).0, 200);
    node.drain().expect("all on disk");
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}
