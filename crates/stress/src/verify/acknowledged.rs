//! What is remembered of acknowledged writes: the last of each record, in bounded memory. When there
//! are too many records, every other one is forgotten, chosen by a hash of its number, and from then
//! on no longer remembered: a fair sample, the same on every worker.

use std::collections::HashMap;

use crate::random::mix;
use crate::workload::Written;

/// Records remembered at most; a record takes some 40 bytes.
const RECORDS_MAX: usize = 1 << 20;

/// Writes that the server has acknowledged, and deletions it may have carried out.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    records: HashMap<u64, Entry>,
    records_max: usize,
    /// One record in 2^this is remembered.
    halvings: u32,
}

/// What is known of a record's writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The highest acknowledged; 0 for none.
    pub sequence: u64,
    /// Whether that one deletes.
    is_delete: bool,
    /// The highest deletion that may have happened; 0 for none.
    uncertain_delete: u64,
}

impl Entry {
    /// Whether no row is a right answer.
    pub fn may_be_gone(&self) -> bool {
        self.is_delete || self.uncertain_delete > self.sequence
    }

    fn add(&mut self, other: Entry) {
        if other.sequence > self.sequence {
            (self.sequence, self.is_delete) = (other.sequence, other.is_delete);
        }
        self.uncertain_delete = self.uncertain_delete.max(other.uncertain_delete);
    }
}

impl Default for Acknowledged {
    fn default() -> Acknowledged {
        Acknowledged::of(RECORDS_MAX)
    }
}

impl Acknowledged {
    /// Remembers at most so many records.
    pub fn of(records_max: usize) -> Acknowledged {
        Acknowledged { records: HashMap::new(), records_max: records_max.max(1), halvings: 0 }
    }

    /// The server has said that a write is done.
    pub fn acknowledged(&mut self, written: Written) {
        let Written { record, sequence, is_delete } = written;
        self.add(record, Entry { sequence, is_delete, uncertain_delete: 0 });
    }

    /// A write failed, timed out, or had no answer when the run ended: it may be done or not.
    pub fn uncertain(&mut self, written: Written) {
        if written.is_delete {
            self.add(written.record, Entry { uncertain_delete: written.sequence, ..Entry::default() });
        }
    }

    /// Adds what another worker remembers.
    pub fn merge(&mut self, other: Acknowledged) {
        self.halvings = self.halvings.max(other.halvings);
        self.forget_unsampled();
        for (record, entry) in other.records {
            self.add(record, entry);
        }
    }

    fn add(&mut self, record: u64, entry: Entry) {
        if !self.is_sampled(record) {
            return;
        }
        self.records.entry(record).or_default().add(entry);
        while self.records.len() > self.records_max && self.halvings < 63 {
            self.halvings += 1;
            self.forget_unsampled();
        }
    }

    fn is_sampled(&self, record: u64) -> bool {
        mix(record ^ 0x7665_7269_6679).trailing_zeros() >= self.halvings
    }

    fn forget_unsampled(&mut self) {
        let halvings = self.halvings;
        self.records.retain(|record, _| mix(record ^ 0x7665_7269_6679).trailing_zeros() >= halvings);
    }

    /// The records of which a write was acknowledged, in order, and one in how many they are.
    pub(super) fn into_expected(self) -> (Vec<(u64, Entry)>, u64) {
        let mut expected: Vec<_> = self.records.into_iter().filter(|(_, entry)| entry.sequence > 0).collect();
        expected.sort_unstable_by_key(|(record, _)| *record);
        (expected, 1 << self.halvings)
    }
}
