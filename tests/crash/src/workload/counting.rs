//! Somebody who counts: a counter, its mirror in another table, and one of all who count, in one batch. Every increment
//! that was acknowledged is there once, at most the one in doubt besides, and no batch is half there.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_wire::ProtocolVersion;

use super::{Ended, ended};
use crate::client::Client;

/// The tables, in the keyspace of the others.
const TABLES: [&str; 2] = [
    "CREATE TABLE crash.own (k int PRIMARY KEY, n counter)",
    "CREATE TABLE crash.mirror (k int, c int, s counter static, n counter, PRIMARY KEY (k, c))",
];

/// One who counts, and how far.
#[derive(Default)]
pub struct Counting {
    number: usize,
    /// Acknowledged, or found after a kill.
    pub counted: i64,
    /// Whether one more was sent and not answered.
    is_in_doubt: bool,
}

/// Makes the tables; the keyspace is there.
///
/// # Panics
/// When the node refuses.
pub fn create_counter_tables(client: &mut Client) {
    for statement in TABLES {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
}

impl Counting {
    /// Some who have not counted yet.
    pub fn some(count: usize) -> Vec<Counting> {
        (0..count).map(|number| Counting { number, ..Counting::default() }).collect()
    }

    /// Counts until `stop` is set or the node is gone.
    ///
    /// # Panics
    /// When the node refuses, or does not answer.
    pub fn run(&mut self, address: SocketAddr, version: ProtocolVersion, stop: &AtomicBool) {
        let number = self.number;
        let batch = format!(
            "BEGIN COUNTER BATCH UPDATE crash.own SET n = n + 1 WHERE k = {number}; \
             UPDATE crash.mirror SET n = n - 1 WHERE k = 0 AND c = {number}; \
             UPDATE crash.mirror SET s = s + 1 WHERE k = 0; APPLY BATCH"
        );
        let Ok(mut client) = Client::connect(address, version) else { return };
        while !stop.load(Ordering::Relaxed) {
            match ended(&batch, client.query(&batch)) {
                Ended::Acknowledged => self.counted += 1,
                Ended::InDoubt => {
                    self.is_in_doubt = true;
                    return;
                }
                Ended::TurnedAway => return,
            }
        }
    }
}

/// Compares the counters with what was counted.
///
/// # Panics
/// When they differ.
pub fn check_counters(client: &mut Client, counting: &mut [Counting]) {
    let mut all = 0;
    for one in counting.iter_mut() {
        let number = one.number;
        let own = value(client, &format!("SELECT n FROM crash.own WHERE k = {number}"));
        let mirror = value(client, &format!("SELECT n FROM crash.mirror WHERE k = 0 AND c = {number}"));
        assert_eq!(own, -mirror, "a counter batch is half there");
        let expected = one.counted..=one.counted + i64::from(one.is_in_doubt);
        assert!(expected.contains(&own), "counter {number}: {own} is not within {expected:?}");
        one.counted = own;
        one.is_in_doubt = false;
        all += own;
    }
    assert_eq!(
        value(client, "SELECT s FROM crash.mirror WHERE k = 0 LIMIT 1"),
        all,
        "the sum of the counters"
    );
}

fn value(client: &mut Client, text: &str) -> i64 {
    let rows = client.query(text).expect("read");
    let cell = rows.first().and_then(|row| row.first().cloned().flatten());
    cell.map_or(0, |cell| i64::from_be_bytes(*cell.first_chunk().expect("8 bytes")))
}
