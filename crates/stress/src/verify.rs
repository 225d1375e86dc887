//! `--verify`: is every acknowledged write there? Values carry their record, sequence and checksum
//! ([`Stamps`]); each worker remembers what was acknowledged ([`Acknowledged`]); after the run the
//! records are read back and judged ([`Verification`]). Knows no connection: requests are made here and
//! sent by the caller.
//!
//! A write's sequence is its timestamp too, so the server must let the highest sequence win, in
//! whatever order requests arrived. A write that failed or got no answer may have happened or not:
//! it is never missed, and never wrong when found.

mod acknowledged;
mod stamp;

pub use acknowledged::Acknowledged;
pub use stamp::{Observed, STAMP_BYTES_MIN, Stamps};

use acknowledged::Entry;

use crate::outcome::Verified;
use crate::workload::{Operation, Workload};

/// Reads records back and counts what is not as it should be.
#[derive(Debug)]
pub struct Verification {
    stamps: Stamps,
    expected: Vec<(u64, Entry)>,
    asked: usize,
    verified: Verified,
}

impl Verification {
    /// Of what was acknowledged; `None` for a workload whose values carry no stamps.
    pub fn new(workload: &dyn Workload, acknowledged: Acknowledged) -> Option<Verification> {
        let stamps = workload.stamps()?;
        let (expected, one_in) = acknowledged.into_expected();
        Some(Verification {
            stamps,
            expected,
            asked: 0,
            verified: Verified { one_in, ..Verified::default() },
        })
    }

    /// How many records are to be read back.
    pub fn count(&self) -> usize {
        self.expected.len()
    }

    /// Makes the next request to send; gives its record, or `None` when all have been made. Requests may be
    /// answered in any order.
    pub fn next(&mut self, workload: &dyn Workload, operation: &mut Operation) -> Option<u64> {
        let (record, _) = *self.expected.get(self.asked)?;
        self.asked += 1;
        operation.clear();
        workload.read_back(record, operation);
        Some(record)
    }

    /// Takes the answer: the cells of all rows, row by row.
    pub fn answer<'a>(&mut self, record: u64, cells: impl Iterator<Item = Option<&'a [u8]>>) {
        let Ok(at) = self.expected.binary_search_by_key(&record, |(record, _)| *record) else { return };
        let entry = self.expected[at].1;
        self.verified.read += 1;
        match self.stamps.observe(record, cells) {
            Observed::Nothing if entry.may_be_gone() => {}
            Observed::Nothing => self.verified.lost += 1,
            Observed::Sequence(sequence) if sequence >= entry.sequence => {}
            Observed::Sequence(_) => self.verified.stale += 1,
            Observed::Wrong => self.verified.wrong += 1,
        }
    }

    /// Takes note of a record that could not be read.
    pub fn unanswered(&mut self) {
        self.verified.unread += 1;
    }

    /// What was found; records that were never answered count as unread.
    pub fn finish(mut self) -> Verified {
        let seen = self.verified.read + self.verified.unread;
        self.verified.unread += (self.expected.len() as u64).saturating_sub(seen);
        self.verified
    }
}

#[cfg(test)]
mod tests;
