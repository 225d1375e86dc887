//! The page for Prometheus, as a node with traffic makes it: every line of it as the format wants it, and the numbers in it.

mod common;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use basalt_model::env::SharedEnv;
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::node::{Node, Storage};
use basalt_storage::engine::mem::MemEngine;
use basalt_wire::{ProtocolVersion, Request};
use common::{Client, query, settings};

fn start() -> (Node, SocketAddr) {
    let settings = settings("auto_snapshot: false\n");
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let storage = Storage::open(&settings, Arc::clone(&env), Arc::new(MemEngine::new())).expect("storage");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let mut node = Node::start(&settings, Arc::clone(&env), storage, Some(bound)).expect("started");
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let admin = node.start_admin(env, bound).expect("listens");
    (node, admin)
}

/// The status and the body of an answer.
fn get(address: SocketAddr, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("accepted");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    stream.write_all(format!("GET /metrics HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = answer.split_once("\r\n\r\n").expect("a body").1.to_owned();
    assert!(status != 200 || answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
    (status, body)
}

/// Samples by name and labels. Every line is a sample of the family announced last, none comes twice, and no family either.
fn parse(page: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), HashSet::new());
    let (mut helped, mut family, mut kind) = ("", "", "");
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            helped = help.split_once(' ').expect("words").0;
        } else if let Some(named) = line.strip_prefix("# TYPE ") {
            (family, kind) = named.split_once(' ').expect("a kind");
            assert_eq!(family, helped, "what it is stands above");
            assert!(families.insert(family), "{family} twice");
        } else {
            let (name, value) = line.rsplit_once(' ').expect("a value");
            let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} is not of {family}"));
            let suffix = suffix.split('{').next().unwrap_or_default();
            let allowed: &[&str] = match kind {
                "histogram" => &["_bucket", "_sum", "_count"],
                "summary" => &["", "_count"],
                _ => &[""],
            };
            assert!(allowed.contains(&suffix), "{line} in a {kind}");
            assert_eq!(kind == "counter", family.ends_with("_total"), "{family} is a {kind}");
            let value = value.parse().unwrap_or_else(|_| panic!("{line}: no number"));
            assert!(samples.insert(name.to_owned(), value).is_none(), "{line} twice");
        }
    }
    samples
}

#[test]
fn what_a_node_did_stands_on_its_page() {
    let (node, admin) = start();
    let address = node.server.as_ref().expect("serves").address;
    let mut client = Client::ready(address, ProtocolVersion::V4, None);
    for text in [
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE ks.t (a int PRIMARY KEY, b int)",
        "INSERT INTO ks.t (a, b) VALUES (1, 2)",
        "INSERT INTO ks.t (a, b) VALUES (2, 3)",
        "SELECT * FROM ks.t WHERE a = 1",
        "SELECT * FROM ks.t",
        "SELECT * FROM ks.missing",
    ] {
        client.call(query(text));
    }
    // Its answer comes after the times of those before it are written down.
    client.call(Request::Options);
    let (status, page) = get(admin, "host: 127.0.0.1:7199");
    assert_eq!(status, 200, "{page}");
    let samples = parse(&page);
    let value = |name: &str| *samples.get(name).unwrap_or_else(|| panic!("no {name} in {page}"));
    for (name, expected) in [
        ("basalt_request_service_seconds_count{kind=\"query\"}", 7.0),
        ("basalt_request_response_seconds_count{kind=\"query\"}", 7.0),
        ("basalt_request_response_seconds_bucket{kind=\"query\",le=\"+Inf\"}", 7.0),
        ("basalt_request_errors_total{kind=\"query\"}", 1.0),
        ("basalt_request_errors_total{kind=\"execute\"}", 0.0),
        ("basalt_connections{stage=\"ready\"}", 1.0),
        ("basalt_connections_total", 1.0),
        ("basalt_write_stalls_total{cause=\"memtables\"}", 0.0),
        ("basalt_local_latency_seconds_count{keyspace=\"ks\",table=\"t\",operation=\"write\"}", 2.0),
        ("basalt_local_latency_seconds_count{keyspace=\"ks\",table=\"t\",operation=\"read\"}", 1.0),
        ("basalt_coordinator_latency_seconds_count{keyspace=\"ks\",table=\"t\",operation=\"scan\"}", 1.0),
        ("basalt_rows_per_read_count{keyspace=\"ks\",table=\"t\"}", 2.0),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("basalt_request_response_seconds_sum{kind=\"query\"}") > 0.0);
    let buckets: Vec<(&String, &f64)> = samples
        .iter()
        .filter(|(name, _)| name.starts_with("basalt_request_response_seconds_bucket"))
        .collect();
    assert_eq!(buckets.len(), 5 * 38);
    drop(client);
    node.drain().expect("all on disk");
}

#[test]
fn pages_of_a_browser_and_rebound_names_get_none() {
    let (node, admin) = start();
    let told: HashMap<&str, u16> =
        ["host: 127.0.0.1", "host: evil.example", "host: 127.0.0.1\r\norigin: null", "accept: */*"]
            .into_iter()
            .map(|headers| (headers, get(admin, headers).0))
            .collect();
    assert_eq!(told["host: 127.0.0.1"], 200);
    assert!(
        told.iter().filter(|(headers, _)| **headers != "host: 127.0.0.1").all(|(_, status)| *status == 403),
        "{told:?}"
    );
    node.drain().expect("all on disk");
}

/// However many ask: a page is shown again for a while.
#[test]
fn who_asks_again_at_once_is_shown_the_same() {
    let (node, admin) = start();
    let pages: Vec<String> = (0..20).map(|_| get(admin, "host: 127.0.0.1").1).collect();
    let different: HashSet<&String> = pages.iter().collect();
    assert!(different.len() < pages.len(), "{} pages of {}", different.len(), pages.len());
    node.drain().expect("all on disk");
}
