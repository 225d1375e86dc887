//! `apm R|RW|W|RS|RSW`: application performance monitoring (Rabl et al., "Solving Big Data Challenges for
//! Enterprise Application Performance Management", VLDB 2012). A record is one metric of one reporting
//! period: a 25-byte key and five values of 10 bytes. Reads and scans are uniform over the records,
//! inserts add new ones, a scan takes 50 rows.
//!
//! The paper scans with YCSB, whose Cassandra binding asks for the rows that follow a key in the order
//! of tokens; so does this, over the same table of one row a partition. `apm RS slice` asks the way a
//! table made for it is asked: an agent is a partition, its metrics are rows in order.

use bytes::BytesMut;

use super::base::{Base, Description, Plan, create_keyspace};
use super::mix::Turn;
use super::{Error, Keys, Operation, Options, Sizes, Values, text};
use crate::random::Random;

/// Reads, scans and inserts of a hundred operations.
const MIXES: [(&str, [u64; 3]); 5] =
    [("R", [95, 0, 5]), ("RW", [50, 0, 50]), ("W", [1, 0, 99]), ("RS", [47, 47, 6]), ("RSW", [25, 25, 50])];

/// The paper's records on a node.
const RECORDS: u64 = 10_000_000;

const SCAN_ROWS: i32 = 50;
const VALUES: usize = 5;

/// Bytes of each value.
pub const VALUE_BYTES: u32 = 10;

/// Of a key's parts: `Host0007/Ag3` and `/Svlt12/AvRsT` together are 25 bytes.
const HOSTS: u64 = 10_000;
const AGENTS: u64 = 10;
const SERVLETS: u64 = 100;

/// Metrics of a servlet and how a key shortens them.
const METRICS: [(&str, &str); 5] = [
    ("AverageResponseTime", "AvRsT"),
    ("ErrorsPerInterval", "ErPIv"),
    ("ResponsesPerInterval", "RsPIv"),
    ("ConcurrentInvocations", "CcInv"),
    ("StallCount", "StlCt"),
];

/// How many records have keys of exactly 25 bytes.
const RECORDS_MAX: u64 = HOSTS * AGENTS * SERVLETS * METRICS.len() as u64;

/// Places of kinds and of statements.
const READ: usize = 0;
const SCAN: usize = 1;
const INSERT: usize = 2;
const KINDS: [&str; 3] = ["read", "scan", "insert"];

struct Apm {
    base: Base,
    is_slice: bool,
}

/// `words` follow `apm`.
pub(super) fn apm(words: &[String], options: &Options) -> Result<impl Plan + use<>, Error> {
    const POSSIBLE: &str =
        "apm comes as apm R, RW, W, RS or RSW; with scans also apm RS slice, apm RSW slice";
    let (name, is_slice) = match words {
        [name] => (name, false),
        [name, how] if how == "slice" => (name, true),
        _ => return Err(Error::new(POSSIBLE)),
    };
    let known = MIXES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let Some((name, weights)) = known.filter(|(_, weights)| !is_slice || weights[SCAN] > 0) else {
        return Err(Error::new(POSSIBLE));
    };
    if options.value.is_some() {
        return Err(Error::new("--value: apm's values have 10 bytes"));
    }
    if options.records.is_some_and(|records| records > RECORDS_MAX) {
        return Err(Error::new(format!("--records: apm has keys of 25 bytes for {RECORDS_MAX} records")));
    }
    let kinds = [0, 1, 2].map(|kind| (KINDS[kind], weights[kind]));
    let (table, statements) = if is_slice { slice(options) } else { single_rows(options) };
    let description = Description {
        name: format!("apm {name}{}", if is_slice { " slice" } else { "" }),
        schema: vec![create_keyspace("apm", options), table],
        statements,
        kinds: &kinds,
        records: RECORDS,
        keys: Keys::Uniform,
        cells: VALUES,
        sizes: Sizes::fixed(VALUE_BYTES),
    };
    Ok(Apm { base: Base::new(description, options), is_slice })
}

/// A partition a metric: the paper's table.
fn single_rows(options: &Options) -> (String, Vec<(String, bool)>) {
    let table = "CREATE TABLE IF NOT EXISTS apm.measurements \
                 (metric text PRIMARY KEY, value text, min text, max text, time text, duration text)";
    let columns = "SELECT value, min, max, time, duration FROM apm.measurements WHERE";
    let insert = format!(
        "INSERT INTO apm.measurements (metric, value, min, max, time, duration) VALUES (?, ?, ?, ?, ?, ?){}",
        Base::using(options)
    );
    let statements = vec![
        (format!("{columns} metric = ?"), false),
        (format!("{columns} token(metric) >= token(?) LIMIT {SCAN_ROWS}"), false),
        (insert, true),
    ];
    (table.to_owned(), statements)
}

/// A partition an agent.
fn slice(options: &Options) -> (String, Vec<(String, bool)>) {
    let table = "CREATE TABLE IF NOT EXISTS apm.measurements_by_agent (agent text, metric text, \
                 value text, min text, max text, time text, duration text, PRIMARY KEY (agent, metric))";
    let columns = "SELECT value, min, max, time, duration FROM apm.measurements_by_agent WHERE agent = ?";
    let insert = format!(
        "INSERT INTO apm.measurements_by_agent (agent, metric, value, min, max, time, duration) \
         VALUES (?, ?, ?, ?, ?, ?, ?){}",
        Base::using(options)
    );
    let statements = vec![
        (format!("{columns} AND metric = ?"), false),
        (format!("{columns} AND metric >= ? LIMIT {SCAN_ROWS}"), false),
        (insert, true),
    ];
    (table.to_owned(), statements)
}

impl Apm {
    fn key(&self, record: u64, values: &mut Values) {
        if self.is_slice {
            values.push_with(|out| agent(record, out));
            values.push_with(|out| metric(record, out));
        } else {
            values.push_with(|out| {
                agent(record, out);
                metric(record, out);
            });
        }
    }

    fn insert(&self, record: u64, sequence: u64, random: &mut Random, operation: &mut Operation) {
        let values = operation.begin(INSERT, INSERT);
        self.key(record, values);
        for column in 0..VALUES {
            self.base.value(record, column, sequence, random, values);
        }
        self.base.timestamp(sequence, values);
        self.base.written(record, sequence, false, operation);
    }
}

impl Plan for Apm {
    fn base(&self) -> &Base {
        &self.base
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        self.insert(record, self.base.load_sequence(record), &mut Base::load_random(record), operation);
    }

    fn make(&self, turn: Turn, index: u64, random: &mut Random, operation: &mut Operation) {
        if turn.kind == INSERT {
            return self.insert(
                self.base.records + turn.number,
                self.base.sequence(index),
                random,
                operation,
            );
        }
        let record = self.base.existing(turn, self.base.mix.settled(INSERT, index), random);
        self.key(record, operation.begin(turn.kind, turn.kind));
    }

    fn read_back(&self, record: u64, operation: &mut Operation) {
        self.key(record, operation.begin(READ, READ));
    }
}

/// The 25-byte key of a record: its metric's name with each part shortened to a fixed width, such as
/// `Host0007/Ag3/Svlt12/AvRsT`.
pub fn key(record: u64) -> String {
    let mut out = BytesMut::new();
    agent(record, &mut out);
    metric(record, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The full name of a record's metric, such as `Host7/Agent3/Servlet12/AverageResponseTime`.
pub fn metric_name(record: u64) -> String {
    let metrics = METRICS.len() as u64;
    let (host, agent) = (record / (metrics * SERVLETS * AGENTS), record / (metrics * SERVLETS) % AGENTS);
    let (servlet, (metric, _)) = (record / metrics % SERVLETS, METRICS[(record % metrics) as usize]);
    format!("Host{host}/Agent{agent}/Servlet{servlet}/{metric}")
}

/// `Host0007/Ag3`
fn agent(record: u64, out: &mut BytesMut) {
    let metrics = METRICS.len() as u64;
    out.extend_from_slice(b"Host");
    text::digits(out, record / (metrics * SERVLETS * AGENTS), 4);
    out.extend_from_slice(b"/Ag");
    text::digits(out, record / (metrics * SERVLETS) % AGENTS, 1);
}

/// `/Svlt12/AvRsT`: neighbours differ in the metric first.
fn metric(record: u64, out: &mut BytesMut) {
    let metrics = METRICS.len() as u64;
    out.extend_from_slice(b"/Svlt");
    text::digits(out, record / metrics % SERVLETS, 2);
    out.extend_from_slice(b"/");
    out.extend_from_slice(METRICS[(record % metrics) as usize].1.as_bytes());
}
