//! Rings of pretend nodes: which of them are found, which are asked, and what is said of those that are not.
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use basalt_model::DataType;
use basalt_model::token::Token;
use basalt_wire::Value;
use basalt_wire::response::result::{ColumnSpec, RowsMetadata};
use basalt_wire::response::{QueryResult, Rows};
use parking_lot::Mutex;

use super::*;

/// Columns of a row by their names; those that are missing are null.
type Row = BTreeMap<&'static str, Vec<u8>>;

/// A node: it owns what lies before its token, and says what it is told to say.
struct Node {
    server: NullServer,
    /// Its row of `system.local`.
    local: Arc<Mutex<Row>>,
    /// Its rows of `system.peers_v2`, where it has that table.
    peers_v2: Arc<Mutex<Option<Vec<Row>>>>,
    /// Its rows of `system.peers`.
    peers: Arc<Mutex<Vec<Row>>>,
    /// What it has executed, and of that what it does not own.
    executed: Arc<[AtomicU64; 2]>,
}

impl Node {
    /// Number `number`, in data centre `dc1`, with the only token `token`.
    fn start(env: &SharedEnv, number: u8, token: i64, owns: fn(i64) -> bool) -> Node {
        let text = token.to_string();
        let mut tokens = 1_i32.to_be_bytes().to_vec();
        tokens.extend((text.len() as i32).to_be_bytes());
        tokens.extend(text.as_bytes());
        let local = Row::from([
            ("host_id", vec![number; 16]),
            ("data_center", b"dc1".to_vec()),
            ("partitioner", b"org.apache.cassandra.dht.Murmur3Partitioner".to_vec()),
            ("tokens", tokens),
            ("schema_version", vec![1; 16]),
        ]);
        let local = Arc::new(Mutex::new(local));
        let peers_v2 = Arc::new(Mutex::new(Some(Vec::new())));
        let peers = Arc::<Mutex<Vec<Row>>>::default();
        let executed = Arc::<[AtomicU64; 2]>::default();
        let its = (Arc::clone(&local), Arc::clone(&peers_v2), Arc::clone(&peers), Arc::clone(&executed));
        let server = scripted(env, move |request| match request {
            Request::Query(query) => match query.query.split_once(" FROM ") {
                Some((columns, "system.local")) => rows(columns, &[its.0.lock().clone()]),
                Some((columns, "system.peers_v2")) => match &*its.1.lock() {
                    Some(peers) => rows(columns, peers),
                    None => refused(CqlError::Invalid("table peers_v2 does not exist".into())),
                },
                Some((columns, "system.peers")) => rows(columns, &its.2.lock()),
                _ => usual(request),
            },
            Request::Prepare(_) => prepared(request),
            Request::Execute(execute) => {
                let Value::Bytes(key) = &execute.params.values.values[0] else { panic!("a key") };
                its.3[0].fetch_add(1, Ordering::Relaxed);
                its.3[1].fetch_add(u64::from(!owns(Token::of(key).0)), Ordering::Relaxed);
                usual(request)
            }
            other => usual(other),
        });
        Node { server, local, peers_v2, peers, executed }
    }

    /// Its row of another's `system.peers_v2`.
    fn listed(&self) -> Row {
        let address = self.server.address;
        let mut row = self.local.lock().clone();
        row.insert("peer", vec![10, 0, 0, 1]);
        row.insert("native_address", Ipv4Addr::LOCALHOST.octets().to_vec());
        row.insert("native_port", i32::from(address.port()).to_be_bytes().to_vec());
        row
    }

    fn lists(&self, others: Vec<Row>) {
        *self.peers_v2.lock() = Some(others);
    }

    fn executed(&self) -> [u64; 2] {
        [0, 1].map(|at| self.executed[at].load(Ordering::Relaxed))
    }
}

/// Two nodes that own half of the ring each.
fn two(env: &SharedEnv) -> (Node, Node) {
    let first = Node::start(env, 1, 0, |token| token <= 0);
    (first, Node::start(env, 2, i64::MAX, |token| token > 0))
}

/// What a SELECT asks for of these rows.
fn rows(select: &str, rows: &[Row]) -> Reply {
    let columns: Vec<&str> = select.strip_prefix("SELECT ").unwrap().split(", ").collect();
    let mut content = bytes::BytesMut::new();
    for cell in rows.iter().flat_map(|row| columns.iter().map(|column| row.get(column))) {
        let length = cell.map_or(-1, |cell| cell.len() as i32);
        content.extend_from_slice(&length.to_be_bytes());
        content.extend_from_slice(cell.map_or(&[], |cell| cell));
    }
    let metadata = RowsMetadata { column_count: columns.len() as i32, ..RowsMetadata::empty() };
    let rows = Rows { metadata, row_count: rows.len() as i32, content: content.freeze() };
    Reply::Send(Box::new(Response::Result(QueryResult::Rows(rows))))
}

/// A statement whose first value is the partition key.
fn prepared(request: &Request) -> Reply {
    let Reply::Send(mut answer) = usual(request) else { panic!("an answer") };
    if let Response::Result(QueryResult::Prepared(prepared)) = &mut *answer {
        let [keyspace, table, name] = ["k", "t", "k"].map(Into::into);
        prepared.metadata.columns = vec![ColumnSpec { keyspace, table, name, data_type: DataType::Blob }];
        prepared.metadata.partition_key_indexes = vec![0];
    }
    Reply::Send(answer)
}

/// 600 requests to `named` and whom it lists.
fn asking(env: &SharedEnv, named: &Node) -> Settings {
    let mut settings = settings(&named.server, env, open(3_000, SECOND / 5));
    (settings.only_targets, settings.connections) = (false, 4);
    settings
}

fn addresses(nodes: &[&Node]) -> Vec<String> {
    nodes.iter().map(|node| node.server.address.to_string()).collect()
}

#[test]
fn requests_go_to_the_node_that_owns_their_partition() {
    let env = env();
    let (first, second) = two(&env);
    let mut settings = settings(&first.server, &env, open(3_000, SECOND / 5));
    (settings.targets, settings.connections) = (vec![first.server.address, second.server.address], 4);
    let outcome = run(settings, &mut ()).unwrap().outcome;
    assert_eq!(outcome.counts.answered, 600);
    assert_eq!(outcome.setting.client["routing"], "by token");
    for node in [&first, &second] {
        let [executed, misplaced] = node.executed();
        assert!(executed > 100, "{executed}");
        assert_eq!(misplaced, 0);
    }
}

#[test]
fn the_others_of_the_data_centre_are_found_and_asked() {
    let env = env();
    let (first, second) = two(&env);
    let elsewhere = Node::start(&env, 3, 7, |_| false);
    elsewhere.local.lock().insert("data_center", b"dc2".to_vec());
    // Itself under another address, as older nodes list themselves.
    let mut itself = first.listed();
    itself.insert("native_address", vec![127, 0, 0, 9]);
    first.lists(vec![second.listed(), elsewhere.listed(), itself]);
    let outcome = run(asking(&env, &first), &mut ()).unwrap().outcome;
    assert_eq!(outcome.counts.answered, 600);
    assert_eq!(outcome.setting.client["routing"], "by token");
    assert_eq!(outcome.setting.targets, addresses(&[&first, &second]));
    assert_eq!(outcome.notes, Vec::<String>::new());
    for node in [&first, &second] {
        let [executed, misplaced] = node.executed();
        assert!(executed > 100, "{executed}");
        assert_eq!(misplaced, 0);
    }
    assert_eq!(elsewhere.executed(), [0, 0]);
    // A node that is named and listed, too, is one.
    let mut both = asking(&env, &second);
    both.targets.push(first.server.address);
    second.lists(vec![first.listed()]);
    let outcome = run(both, &mut ()).unwrap().outcome;
    assert_eq!(outcome.setting.targets, addresses(&[&second, &first]));
}

#[test]
fn only_the_targets_are_asked_where_that_is_wanted() {
    let env = env();
    let (first, second) = two(&env);
    first.lists(vec![second.listed()]);
    let only = Settings { only_targets: true, ..asking(&env, &first) };
    let outcome = run(only, &mut ()).unwrap().outcome;
    assert_eq!(outcome.setting.targets, addresses(&[&first]));
    assert_eq!(outcome.setting.client["routing"], "in turn");
    assert_eq!((first.executed()[0], second.executed()[0]), (400, 0));
}

#[test]
fn a_node_that_is_listed_and_not_there_is_left_out_and_said() {
    let env = env();
    let (first, second) = two(&env);
    let named = first.server.address;
    let absent = format!("127.0.0.9:{}", named.port());
    let mut gone = first.listed();
    gone.insert("native_address", vec![127, 0, 0, 9]);
    gone.insert("host_id", vec![3; 16]);
    let mut incomplete = second.listed();
    incomplete.remove("data_center");
    first.lists(vec![gone, incomplete, second.listed()]);
    let outcome = run(asking(&env, &first), &mut ()).unwrap().outcome;
    assert_eq!((outcome.counts.planned, outcome.counts.answered), (600, 600));
    assert_eq!(outcome.setting.targets, addresses(&[&first, &second]));
    let [left_out, nowhere] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
    let told = format!("{absent}, which {named} lists, is left out: connection to {absent}: ");
    assert!(left_out.starts_with(&told), "{left_out}");
    assert!(nowhere.starts_with(&format!("{named} lists a node without saying where")), "{nowhere}");
    assert!(crate::report::text(&outcome).replace('\n', " ").contains(&format!("note: {told}")));
    assert!(crate::report::html::html(&[outcome], None, &[]).contains(&told));
}

#[test]
fn a_node_without_peers_v2_is_asked_for_peers() {
    let env = env();
    let (first, second) = two(&env);
    *first.peers_v2.lock() = None;
    let mut row = second.listed();
    row.insert("rpc_address", vec![127, 0, 0, 9]);
    first.peers.lock().push(row);
    let outcome = run(asking(&env, &first), &mut ()).unwrap().outcome;
    // All nodes have one port there, and on this one of another address nobody listens.
    let told = format!("127.0.0.9:{}, which ", first.server.address.port());
    assert_eq!(outcome.notes.len(), 1, "{:?}", outcome.notes);
    assert!(outcome.notes[0].starts_with(&told), "{:?}", outcome.notes);
    let silent = NullServer::start(&env).unwrap();
    let mut settings = settings(&silent, &env, open(300, SECOND / 5));
    settings.only_targets = false;
    let outcome = run(settings, &mut ()).unwrap().outcome;
    assert_eq!(outcome.counts.answered, 60);
    assert!(outcome.notes[0].contains("does not tell which other nodes there are"), "{:?}", outcome.notes);
}

#[test]
fn nodes_have_one_schema_before_they_are_asked() {
    let env = env();
    let (first, second) = two(&env);
    first.lists(vec![second.listed()]);
    second.local.lock().insert("schema_version", vec![2; 16]);
    let asked = Nodes::find(&asking(&env, &first), 0).unwrap();
    assert_eq!(asked.notes, ["the nodes do not have the same schema, even after 0 s"]);
    // It has heard of the table when it is asked once more.
    let local = Arc::clone(&second.local);
    let server = scripted(&env, move |request| {
        let Request::Query(query) = request else { return usual(request) };
        let (columns, _) = query.query.split_once(" FROM ").unwrap();
        let now = local.lock().clone();
        if columns.ends_with("schema_version") {
            local.lock().insert("schema_version", vec![1; 16]);
        }
        rows(columns, &[now])
    });
    let mut settings = asking(&env, &first);
    (settings.only_targets, settings.targets) = (true, vec![first.server.address, server.address]);
    let agreed = Nodes::find(&settings, AGREEMENT_NANOS).unwrap();
    assert_eq!(agreed.notes, Vec::<String>::new());
    assert_eq!(second.local.lock()["schema_version"], [1; 16]);
}

#[test]
fn too_few_connections_for_a_ring_are_said() {
    let env = env();
    let (first, second) = two(&env);
    first.lists(vec![second.listed()]);
    let few = Settings { connections: 3, ..asking(&env, &first) };
    let outcome = run(few, &mut ()).unwrap().outcome;
    assert_eq!(outcome.counts.answered, 600);
    assert_eq!(outcome.notes.len(), 1, "{:?}", outcome.notes);
    assert!(outcome.notes[0].ends_with("with 2 workers it takes --connections 4"), "{:?}", outcome.notes);
}
