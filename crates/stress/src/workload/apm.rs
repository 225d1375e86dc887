//! Application performance monitoring (Rabl et al., "Solving Big Data Challenges for Enterprise
//! Application Performance Management", VLDB 2012): one record a metric and reporting period, a
//! 25-byte key and five values of 10 bytes. This is its RW mix: half reads, half inserts.

use bytes::Bytes;

use super::{Kind, Operation};

/// Bytes of a key.
pub const KEY_BYTES: usize = 25;

/// Bytes of each value.
pub const VALUE_BYTES: usize = 10;

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

/// The statement of each kind of operation.
pub fn statement(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "SELECT value, min, max, time, duration FROM apm.measurements WHERE metric = ?",
        Kind::Insert => {
            "INSERT INTO apm.measurements (metric, value, min, max, time, duration) VALUES (?, ?, ?, ?, ?, ?)"
        }
    }
}

/// The full name of a metric, such as `Host7/Agent3/Servlet12/AverageResponseTime`.
pub fn metric_name(index: u64) -> String {
    let (host, agent, servlet, metric) = place(index);
    format!("Host{host}/Agent{agent}/Servlet{servlet}/{}", METRICS[metric].0)
}

/// The 25-byte key of a record: its metric's name with each part shortened to a fixed width, such
/// as `Host0007/Ag3/Svlt12/AvRsT`. Records beyond the last metric count up the host.
pub fn key(index: u64) -> Bytes {
    let (host, agent, servlet, metric) = place(index);
    let key = format!("Host{host:04}/Ag{agent}/Svlt{servlet:02}/{}", METRICS[metric].1);
    debug_assert!(key.len() >= KEY_BYTES);
    key.into()
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

/// Writes record `index`.
pub fn insert(index: u64, random: &mut Random) -> Operation {
    let mut values = vec![key(index)];
    values.extend((0..5).map(|_| random.digits()));
    Operation { kind: Kind::Insert, values }
}

/// The RW mix over records `0..loaded`: reads are uniform over all records, inserts add new ones.
#[derive(Debug)]
pub struct ReadWrite {
    records: u64,
    random: Random,
}

impl ReadWrite {
    /// Over `loaded` records; the same seed gives the same requests.
    pub fn new(loaded: u64, seed: u64) -> ReadWrite {
        ReadWrite { records: loaded, random: Random(seed) }
    }

    /// The next request.
    pub fn next_operation(&mut self) -> Operation {
        if self.random.below(2) == 0 && self.records > 0 {
            let index = self.random.below(self.records);
            return Operation { kind: Kind::Read, values: vec![key(index)] };
        }
        self.records += 1;
        insert(self.records - 1, &mut self.random)
    }
}

/// A small generator of reproducible numbers (splitmix64): quality beyond even spread is not asked for.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0; the bias of multiplying is below 2^-32 for limits that occur.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A value: ten decimal digits.
    fn digits(&mut self) -> Bytes {
        format!("{:010}", self.below(10_000_000_000)).into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_distinct_and_25_bytes() {
        let keys: HashSet<Bytes> = (0..200_000).map(key).collect();
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
    fn the_mix_is_half_and_half_and_reads_what_exists() {
        let mut mix = ReadWrite::new(1000, 42);
        let mut written: HashSet<Bytes> = (0..1000).map(key).collect();
        let mut reads = 0;
        for _ in 0..10_000 {
            let operation = mix.next_operation();
            match operation.kind {
                Kind::Read => {
                    assert!(written.contains(&operation.values[0]));
                    reads += 1;
                }
                Kind::Insert => {
                    assert_eq!(operation.values.len(), 6);
                    assert!(operation.values[1..].iter().all(|value| value.len() == VALUE_BYTES));
                    assert!(written.insert(operation.values[0].clone()), "inserts are of new records");
                }
            }
        }
        assert!((4700..5300).contains(&reads), "{reads} reads of 10,000");
    }
}
