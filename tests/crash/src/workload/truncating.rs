//! A table that some fill while somebody truncates it. What was acknowledged before a truncation began is gone when
//! the truncation is acknowledged and never comes back; what was sent after it was acknowledged is there.
//!
//! Sendings and answers of all are numbered by one clock, so that what is not known is only what overlapped.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use basalt_wire::ProtocolVersion;

use super::{Ended, ended};
use crate::client::Client;
use crate::client::values::as_int;
use crate::random::Random;

/// The table, in the keyspace of the others.
const TABLE: &str = "CREATE TABLE crash.cut (w int, n int, v text, PRIMARY KEY (w, n))";

/// How many fill it.
const FILLERS: usize = 3;

/// A request: when it was sent, and when it was answered.
#[derive(Clone, Copy, Debug)]
struct Span {
    sent: u64,
    /// `None`: it may have been done, or not.
    answered: Option<u64>,
}

#[derive(Default)]
struct Filler {
    next: i32,
    rows: BTreeMap<i32, Span>,
}

/// All who work on the table, and what they know.
pub struct Truncating {
    clock: AtomicU64,
    fillers: Vec<Filler>,
    truncations: Vec<Span>,
    random: Random,
    /// Truncations acknowledged.
    pub acknowledged: u64,
    /// Rows acknowledged.
    pub inserted: u64,
}

impl Truncating {
    /// Nothing was done yet.
    pub fn new(random: Random) -> Truncating {
        Truncating {
            clock: AtomicU64::new(0),
            fillers: (0..FILLERS).map(|_| Filler::default()).collect(),
            truncations: Vec::new(),
            random,
            acknowledged: 0,
            inserted: 0,
        }
    }

    /// Makes the table; the keyspace is there.
    ///
    /// # Panics
    /// When the node refuses.
    pub fn create_table(client: &mut Client) {
        client.query(TABLE).unwrap_or_else(|error| panic!("{TABLE}: {error:?}"));
    }

    /// Fills and truncates until `stop` is set or the node is gone.
    ///
    /// # Panics
    /// When the node refuses, or does not answer.
    pub fn run(&mut self, address: SocketAddr, version: ProtocolVersion, stop: &AtomicBool) {
        let (clock, truncations, random) = (&self.clock, &mut self.truncations, &mut self.random);
        let before = truncations.len();
        thread::scope(|scope| {
            for (number, filler) in self.fillers.iter_mut().enumerate() {
                scope.spawn(move || fill(number, filler, clock, address, version, stop));
            }
            truncate(truncations, random, clock, address, version, stop);
        });
        let done = |span: &&Span| span.answered.is_some();
        self.acknowledged += self.truncations[before..].iter().filter(done).count() as u64;
    }

    /// Compares the table with what may be in it, and goes on from what is.
    ///
    /// # Panics
    /// When something is lost, or back.
    pub fn check(&mut self, client: &mut Client) {
        let mut found: Vec<Vec<i32>> = vec![Vec::new(); FILLERS];
        for row in client.query("SELECT w, n FROM crash.cut").expect("read") {
            let cell = |index: usize| as_int(row[index].as_deref().expect("a key"));
            found[cell(0) as usize].push(cell(1));
        }
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        // All in doubt has been done by now or never will be.
        let cut = Cut::of(&self.truncations, now);
        let mut doubtful = (0, 0);
        for (number, (filler, found)) in self.fillers.iter_mut().zip(found).enumerate() {
            let found: std::collections::BTreeSet<i32> = found.into_iter().collect();
            for n in &found {
                assert!(filler.rows.contains_key(n), "phantom: row {number}/{n} of the truncated table");
            }
            for (n, span) in &filler.rows {
                let is_there = found.contains(n);
                match cut.fate(span, now) {
                    Fate::There => assert!(is_there, "lost: row {number}/{n}, {span:?}, {cut:?}"),
                    Fate::Gone => assert!(!is_there, "back: row {number}/{n}, {span:?}, {cut:?}"),
                    Fate::WithTruncation if is_there => doubtful.0 += 1,
                    Fate::WithTruncation => doubtful.1 += 1,
                    Fate::Unknown => {}
                }
            }
            self.inserted +=
                filler.rows.values().filter(|span| span.answered.is_some_and(|at| at != 0)).count() as u64;
            // What is there was there before anything that comes; 0 marks what has been counted.
            filler.rows = found.into_iter().map(|n| (n, Span { sent: 0, answered: Some(0) })).collect();
        }
        assert!(
            doubtful.0 == 0 || doubtful.1 == 0,
            "half a truncation: {doubtful:?} there and gone, {cut:?}"
        );
        self.truncations.clear();
    }
}

/// The truncations of a round, as far as they matter.
#[derive(Debug)]
struct Cut {
    /// The last that was acknowledged.
    last: Option<(u64, u64)>,
    /// The one that was not.
    in_doubt: Option<u64>,
}

#[derive(PartialEq, Eq)]
enum Fate {
    There,
    Gone,
    /// There exactly if the truncation in doubt was not done.
    WithTruncation,
    Unknown,
}

impl Cut {
    fn of(truncations: &[Span], now: u64) -> Cut {
        let last = truncations.iter().rev().find_map(|span| Some((span.sent, span.answered?)));
        let in_doubt = truncations.last().filter(|span| span.answered.is_none());
        Cut { last, in_doubt: in_doubt.map(|span| span.sent.min(now)) }
    }

    fn fate(&self, row: &Span, now: u64) -> Fate {
        let answered_by = row.answered.unwrap_or(now);
        if self.last.is_some_and(|(sent, _)| answered_by < sent) {
            return Fate::Gone;
        }
        let is_after = self.last.is_none_or(|(_, answered)| row.sent > answered);
        if row.answered.is_none() || !is_after {
            return Fate::Unknown;
        }
        match self.in_doubt {
            None => Fate::There,
            Some(sent) if answered_by < sent => Fate::WithTruncation,
            Some(_) => Fate::Unknown,
        }
    }
}

fn tick(clock: &AtomicU64) -> u64 {
    clock.fetch_add(1, Ordering::SeqCst) + 1
}

fn fill(
    number: usize,
    filler: &mut Filler,
    clock: &AtomicU64,
    address: SocketAddr,
    version: ProtocolVersion,
    stop: &AtomicBool,
) {
    let Ok(mut client) = Client::connect(address, version) else { return };
    while !stop.load(Ordering::Relaxed) {
        let n = filler.next;
        filler.next += 1;
        let text = format!("INSERT INTO crash.cut (w, n, v) VALUES ({number}, {n}, 'value {n}')");
        let sent = tick(clock);
        filler.rows.insert(n, Span { sent, answered: None });
        match ended(&text, client.query(&text)) {
            Ended::Acknowledged => {
                filler.rows.insert(n, Span { sent, answered: Some(tick(clock)) });
            }
            Ended::InDoubt => return,
            Ended::TurnedAway => {
                filler.rows.remove(&n);
                return;
            }
        }
    }
}

fn truncate(
    truncations: &mut Vec<Span>,
    random: &mut Random,
    clock: &AtomicU64,
    address: SocketAddr,
    version: ProtocolVersion,
    stop: &AtomicBool,
) {
    let Ok(mut client) = Client::connect(address, version) else { return };
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.between(1, 120)));
        let text = "TRUNCATE crash.cut";
        let sent = tick(clock);
        truncations.push(Span { sent, answered: None });
        match ended(&text, client.query(text)) {
            Ended::Acknowledged => {
                let answered = Some(tick(clock));
                truncations.pop();
                truncations.push(Span { sent, answered });
            }
            Ended::InDoubt => return,
            Ended::TurnedAway => {
                truncations.pop();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
