//! Prepared statements by id, bounded by bytes: those not used for longest leave first
//! (`prepared_statements_cache_size`).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use parking_lot::RwLock;

use crate::prepare::Prepared;
use crate::result::PreparedStatement;

/// A statement and its plan, made anew when the schema changes.
pub(crate) struct Entry {
    /// As the client sent it.
    pub(crate) text: Arc<str>,
    /// The keyspace unqualified names are in.
    pub(crate) keyspace: Option<Arc<str>>,
    /// The plan.
    pub(crate) prepared: ArcSwap<Prepared>,
    /// What PREPARE answered.
    pub(crate) answer: ArcSwap<PreparedStatement>,
    bytes: usize,
    used: AtomicU64,
}

impl Entry {
    /// An entry for an answer.
    pub(crate) fn new(
        text: &str,
        keyspace: Option<Arc<str>>,
        prepared: Arc<Prepared>,
        answer: Arc<PreparedStatement>,
    ) -> Entry {
        let bytes = bytes_of(text, &answer);
        Entry {
            text: text.into(),
            keyspace,
            prepared: ArcSwap::new(prepared),
            answer: ArcSwap::new(answer),
            bytes,
            used: AtomicU64::new(0),
        }
    }

    /// What it counts against the limit.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// About what a statement takes: its text, its plan, which grows with it, and its metadata.
fn bytes_of(text: &str, answer: &PreparedStatement) -> usize {
    const PLAN: usize = 1_024;
    const COLUMN: usize = 96;
    let columns = answer.variables.len() + answer.result_metadata.as_ref().map_or(0, |m| m.columns.len());
    PLAN + 4 * text.len() + COLUMN * columns
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<[u8; 16], Arc<Entry>, RandomState>,
    bytes: usize,
}

/// The prepared statements of a node.
pub(crate) struct Cache {
    entries: RwLock<Entries>,
    tick: AtomicU64,
    bytes_max: usize,
}

impl Cache {
    /// Empty.
    pub(crate) fn new(bytes_max: usize) -> Cache {
        Cache { entries: RwLock::default(), tick: AtomicU64::new(0), bytes_max }
    }

    /// The largest a statement may be.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The statement of that id.
    pub(crate) fn get(&self, id: &[u8; 16]) -> Option<Arc<Entry>> {
        let entry = self.entries.read().by_id.get(id).cloned()?;
        entry.used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(entry)
    }

    /// Keeps a statement, in place of one with the same id.
    pub(crate) fn put(&self, id: [u8; 16], entry: Arc<Entry>) {
        entry.used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut entries = self.entries.write();
        entries.bytes += entry.bytes;
        if let Some(replaced) = entries.by_id.insert(id, entry) {
            entries.bytes -= replaced.bytes;
        }
        if entries.bytes > self.bytes_max {
            evict(&mut entries, self.bytes_max, &id);
        }
    }

    /// Forgets a statement.
    pub(crate) fn remove(&self, id: &[u8; 16]) {
        let mut entries = self.entries.write();
        if let Some(removed) = entries.by_id.remove(id) {
            entries.bytes -= removed.bytes;
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.read().by_id.len()
    }
}

/// Makes room, an eighth at a time so that the next statements do not each cost a walk.
fn evict(entries: &mut Entries, bytes_max: usize, kept: &[u8; 16]) {
    let target = bytes_max - bytes_max / 8;
    let mut by_age: Vec<(u64, [u8; 16])> =
        entries.by_id.iter().map(|(id, entry)| (entry.used.load(Ordering::Relaxed), *id)).collect();
    by_age.sort_unstable();
    for (_, id) in by_age {
        if entries.bytes <= target {
            return;
        }
        if id != *kept
            && let Some(removed) = entries.by_id.remove(&id)
        {
            entries.bytes -= removed.bytes;
        }
    }
}
