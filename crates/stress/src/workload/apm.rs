//! Application performance monitoring (Rabl et al., "Solving Big Data Challenges for Enterprise
//! Application Performance Management", VLDB 2012): one record a metric and reporting period, a
//! 25-byte key and five values of 10 bytes. This is its RW mix: half reads, half inserts.

use std::fmt::Write;

use super::{Operation, Statement, Values, Workload};
use crate::random::Random;

/// Bytes of a key.
pub const KEY_BYTES: usize = 25;

/// Bytes of each value.
pub const VALUE_BYTES: usize = 10;

/// Makes what a load writes the same each time.
const LOAD_SEED: u64 = 2012;

const HOSTS: u64 = 1000;
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

/// Creates the keyspace if it is not there.
pub const CREATE_KEYSPACE: &str = "CREATE KEYSPACE IF NOT EXISTS apm \
     WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// Creates the table if it is not there.
pub const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS apm.measurements \
     (metric text PRIMARY KEY, value text, min text, max text, time text, duration text)";

const SELECT: &str = "SELECT value, min, max, time, duration FROM apm.measurements WHERE metric = ?";

const INSERT: &str =
    "INSERT INTO apm.measurements (metric, value, min, max, time, duration) VALUES (?, ?, ?, ?, ?, ?)";

/// Places of statements and kinds.
const READ: usize = 0;
const WRITE: usize = 1;

/// The full name of a metric, such as `Host7/Agent3/Servlet12/AverageResponseTime`.
pub fn metric_name(index: u64) -> String {
    let (host, agent, servlet, metric) = place(index);
    format!("Host{host}/Agent{agent}/Servlet{servlet}/{}", METRICS[metric].0)
}

/// The 25-byte key of a record: its metric's name with each part shortened to a fixed width, such
/// as `Host0007/Ag3/Svlt12/AvRsT`. Records beyond the last metric count up the host.
pub fn key(index: u64) -> String {
    let (host, agent, servlet, metric) = place(index);
    format!("Host{host:04}/Ag{agent}/Svlt{servlet:02}/{}", METRICS[metric].1)
}

fn push_key(index: u64, values: &mut Values) {
    let (host, agent, servlet, metric) = place(index);
    values.push_with(|out| {
        // A buffer in memory never refuses what is written to it.
        let _ = write!(out, "Host{host:04}/Ag{agent}/Svlt{servlet:02}/{}", METRICS[metric].1);
    });
}

/// Host, agent, servlet and metric of a record: neighbours differ in the metric first.
fn place(index: u64) -> (u64, u64, u64, usize) {
    let metrics = METRICS.len() as u64;
    let metric = (index % metrics) as usize;
    let servlet = index / metrics % SERVLETS;
    let agent = index / (metrics * SERVLETS) % AGENTS;
    let host = index / (metrics * SERVLETS * AGENTS);
    (host, agent, servlet, metric)
}

/// How many records have keys of exactly 25 bytes.
pub const RECORDS_MAX: u64 = HOSTS * 10 * AGENTS * SERVLETS * METRICS.len() as u64;

/// The RW mix: reads are uniform over the records loaded, inserts add new ones.
#[derive(Debug)]
pub struct ReadWrite {
    records: u64,
    statements: Vec<Statement>,
    kinds: Vec<String>,
}

impl ReadWrite {
    /// Over `records` loaded ones.
    pub fn new(records: u64) -> ReadWrite {
        let statement = |text: &str, is_write| Statement { text: text.to_owned(), is_write };
        ReadWrite {
            records,
            statements: vec![statement(SELECT, false), statement(INSERT, true)],
            kinds: vec!["read".to_owned(), "insert".to_owned()],
        }
    }
}

impl Workload for ReadWrite {
    fn name(&self) -> &str {
        "apm RW"
    }

    fn schema(&self) -> Vec<String> {
        vec![CREATE_KEYSPACE.to_owned(), CREATE_TABLE.to_owned()]
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn kinds(&self) -> &[String] {
        &self.kinds
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn load(&self, record: u64, operation: &mut Operation) {
        insert(record, &mut Random::at(LOAD_SEED, record), operation);
    }

    fn next(&self, index: u64, random: &mut Random, operation: &mut Operation) {
        if self.records > 0 && random.below(2) == 0 {
            let record = random.below(self.records);
            push_key(record, operation.begin(READ, READ));
        } else {
            insert(self.records + index, random, operation);
        }
    }
}

fn insert(record: u64, random: &mut Random, operation: &mut Operation) {
    let values = operation.begin(WRITE, WRITE);
    push_key(record, values);
    for _ in 0..5 {
        let digits = random.below(10_000_000_000);
        values.push_with(|out| {
            let _ = write!(out, "{digits:010}");
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_distinct_and_25_bytes() {
        let keys: HashSet<String> = (0..200_000).map(key).collect();
        assert_eq!(keys.len(), 200_000);
        assert!(keys.iter().all(|key| key.len() == KEY_BYTES));
        assert_eq!(key(RECORDS_MAX - 1).len(), KEY_BYTES);
        assert_eq!(key(0), "Host0000/Ag0/Svlt00/AvRsT");
        assert_eq!(
            metric_name(5 * 100 * 10 + 5 * 100 * 3 + 5 * 12),
            "Host1/Agent3/Servlet12/AverageResponseTime"
        );
    }

    #[test]
    fn the_mix_is_half_and_half() {
        let mix = ReadWrite::new(1000);
        let mut operation = Operation::default();
        let mut reads = 0;
        for index in 0..10_000 {
            operation.clear();
            mix.next(index, &mut Random::at(42, index), &mut operation);
            let [part] = operation.parts() else { panic!("one part") };
            reads += u64::from(operation.kind == READ);
            assert_eq!(usize::from(part.values.count()), if operation.kind == READ { 1 } else { 6 });
        }
        assert!((4700..5300).contains(&reads), "{reads} reads of 10,000");
    }
}
