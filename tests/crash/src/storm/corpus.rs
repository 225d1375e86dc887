//! What mutation begins with: requests as drivers send them, recorded ones and some that go deep.

use basalt_model::Consistency;
use basalt_wire::envelope::append_envelope;
use basalt_wire::request::{
    AuthResponse, Batch, BatchKind, BatchStatement, BoundValues, EventType, Execute, Prepare, Query,
    QueryParams, Register, Startup,
};
use basalt_wire::{ProtocolVersion, Request, Value};
use bytes::{Bytes, BytesMut};

use crate::client::Client;
use crate::random::Random;

/// Requests of the Python driver, in all versions: `name | version | envelope`.
const RECORDED: &str = include_str!("../../../../crates/wire/tests/frames/requests.hex");

/// Statements that work on what [`create_tables`] makes, and some that work nowhere. None changes the schema: a
/// thousand tables are no rubbish, they are a thousand tables.
const TEXTS: [&str; 24] = [
    "SELECT * FROM system.local",
    "SELECT * FROM system.peers_v2",
    "SELECT * FROM system_schema.columns WHERE keyspace_name = 'system' AND table_name IN ('local', 'peers')",
    "SELECT keyspace_name, table_name FROM system_schema.tables LIMIT 3",
    "SELECT name, value FROM system_views.settings",
    "SELECT * FROM storm.t",
    "SELECT DISTINCT p FROM storm.t WHERE token(p) > -100 LIMIT 7",
    "SELECT p, c, writetime(v), ttl(v) FROM storm.t WHERE p = 1 AND c >= 3 AND c < 9 ORDER BY c DESC",
    "SELECT count(*), max(c) FROM storm.t WHERE v = 'x' ALLOW FILTERING",
    "SELECT m['a'], s FROM storm.t WHERE p IN (1, 2, 3) PER PARTITION LIMIT 1",
    "INSERT INTO storm.t (p, c, v, m, s, l) VALUES (1, 2, 'x', {'a': 1}, {1, 2}, [1.5, NaN]) USING TTL 100",
    "INSERT INTO storm.t (p, c, v) VALUES (1, 2, $$it's$$) IF NOT EXISTS",
    "UPDATE storm.t USING TIMESTAMP 5 SET l = l + [1.0], s = s - {2}, m['z'] = 9 WHERE p = 1 AND c = 2",
    "UPDATE storm.t SET v = 'y' WHERE p = 1 AND c = 2 IF v = 'x' AND m['a'] > 0",
    "DELETE l[0], m['a'] FROM storm.t WHERE p = 1 AND c = 2",
    "DELETE FROM storm.t WHERE p = 7 AND c > 3",
    "BEGIN UNLOGGED BATCH INSERT INTO storm.t (p, c) VALUES (1, 1); DELETE FROM storm.t WHERE p = 2; APPLY BATCH",
    "SELECT cast(c AS text), toTimestamp(now()), blobAsInt(0x00000001) FROM storm.t WHERE p = 0x01",
    "USE storm",
    "DESCRIBE KEYSPACES",
    "SELECT ((((((((((((((((((((((((((((((((((((((((1",
    "GRANT SELECT ON ALL KEYSPACES TO nobody",
    "INSERT INTO storm.t JSON '{\"p\": 1, \"c\": 2}'",
    "/* never closed",
];

/// Makes the table that the statements name.
///
/// # Panics
/// When the node refuses.
pub fn create_tables(client: &mut Client) {
    for text in [
        "CREATE KEYSPACE storm WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE storm.t (p int, c int, v text, m map<text, int>, s set<int>, l list<double>, \
         PRIMARY KEY (p, c))",
    ] {
        client.query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
}

/// Envelopes, by version.
pub struct Corpus {
    envelopes: Vec<(ProtocolVersion, Vec<u8>)>,
}

impl Corpus {
    /// All there is. `prepared` are ids of prepared statements, for EXECUTE to find something.
    ///
    /// # Panics
    /// When a request of ours cannot be encoded.
    pub fn new(prepared: &[Bytes]) -> Corpus {
        let mut envelopes: Vec<(ProtocolVersion, Vec<u8>)> = RECORDED
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let mut fields = line.split(" | ").skip(1);
                let version = ProtocolVersion::from_number(fields.next()?.parse().ok()?)?;
                Some((version, unhex(fields.next()?)))
            })
            .collect();
        assert!(!envelopes.is_empty(), "recorded requests");
        for version in [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5] {
            for request in requests(prepared) {
                let mut out = BytesMut::new();
                append_envelope(&mut out, version.number(), request.opcode(), 5, |out| {
                    request.append(version, out).expect("it can be encoded");
                    basalt_wire::Flags(0)
                });
                envelopes.push((version, out.to_vec()));
            }
        }
        Corpus { envelopes }
    }

    /// One of them: mostly of this version.
    pub fn pick(&self, version: ProtocolVersion, random: &mut Random) -> Vec<u8> {
        let any = random.once_in(30);
        loop {
            let (found, envelope) = random.pick(&self.envelopes);
            if any || *found == version {
                return envelope.clone();
            }
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len() / 2).map(|index| digit(2 * index)).collect()
}

fn requests(prepared: &[Bytes]) -> Vec<Request> {
    let params = || QueryParams::new(Consistency::One);
    let mut all = vec![
        Request::Options,
        Request::Startup(Startup::new(None)),
        Request::AuthResponse(AuthResponse { token: Bytes::from_static(b"\0user\0password") }),
        Request::Register(Register { events: vec![EventType::SchemaChange, EventType::StatusChange] }),
    ];
    for text in TEXTS {
        let mut full = params();
        full.page_size = Some(2);
        full.default_timestamp = Some(1_000_000);
        full.serial_consistency = Some(Consistency::LocalSerial);
        all.push(Request::Query(Query { query: text.to_owned(), params: params() }));
        all.push(Request::Query(Query { query: text.to_owned(), params: full }));
        all.push(Request::Prepare(Prepare { query: text.to_owned(), keyspace: None }));
    }
    for id in prepared {
        let mut bound = params();
        let ints = [1_i32, -1].map(|value| Value::Bytes(Bytes::copy_from_slice(&value.to_be_bytes())));
        bound.values = BoundValues::positional(ints.to_vec());
        all.push(Request::Execute(Execute { id: id.clone(), result_metadata_id: None, params: bound }));
        let statement = BatchStatement::Prepared { id: id.clone(), values: ints.to_vec() };
        let statements = vec![statement; 3];
        all.push(Request::Batch(Batch { kind: BatchKind::Unlogged, statements, params: params() }));
    }
    all
}
