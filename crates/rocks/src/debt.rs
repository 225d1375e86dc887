//! What the engine says of work it has put off: how far compaction of a table is behind, which compactions run, and why
//! writes are held back, in the words of [`basalt_storage::engine::Debt`] and its neighbours.
//!
//! RocksDB counts causes family by family at every flush and compaction; nothing here is on the way of a write. What
//! slows writes before RocksDB does is in [`crate::slowing`].

use std::collections::HashMap;
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{Debt, EngineError, StallCause, Task};
use parking_lot::Mutex;
use rocksdb::{AsColumnFamilyRef, DB, properties};

use crate::engine::RocksEngine;
use crate::error;
use crate::family::{Family, own_number};
use crate::table_map::Home;

/// How often writes were slowed or stopped, by cause, as text (`DB::Properties::kCFWriteStallStats`). The binding has no
/// constant for it.
const STALL_STATS: &str = "rocksdb.cf-write-stall-stats";

/// What `STALL_STATS` calls each cause; `-delays` or `-stops` follows.
const CAUSES: [(StallCause, &str); 3] = [
    (StallCause::Memtables, "memtable-limit"),
    (StallCause::Level0Files, "l0-file-count-limit"),
    (StallCause::PendingCompaction, "pending-compaction-bytes"),
];

/// Stalls of all families when last asked for their cause, and the cause then.
#[derive(Default)]
pub(crate) struct Stalled {
    counts: [u64; CAUSES.len()],
    cause: Option<StallCause>,
}

impl Stalled {
    /// The cause that was counted since last asked; else the same as then.
    fn now(&mut self, counts: [u64; CAUSES.len()]) -> Option<StallCause> {
        let grown = |at: usize| counts[at].saturating_sub(self.counts[at]);
        let most = (0..CAUSES.len()).max_by_key(|at| grown(*at)).filter(|at| grown(*at) > 0);
        if let Some(at) = most {
            self.cause = Some(CAUSES[at].0);
        }
        self.counts = counts;
        self.cause
    }
}

/// The number behind a name in the text of `STALL_STATS`.
fn count_of(text: &str, name: &str) -> Option<u64> {
    // One that ends alike has another beginning: `cf-l0-file-count-limit-delays-with-ongoing-compaction`.
    let count = |entry: &str| entry.trim().strip_prefix(name)?.strip_prefix(": ")?.parse().ok();
    let (_, entries) = text.split_once("): ")?;
    entries.split(',').find_map(count)
}

fn both(text: &str, name: &str) -> u64 {
    let count = |kind: &str| count_of(text, &format!("{name}-{kind}")).unwrap_or(0);
    count("delays") + count("stops")
}

fn stall_stats(db: &DB, family: &impl AsColumnFamilyRef) -> Option<String> {
    db.property_value_cf(family, STALL_STATS).ok().flatten()
}

impl RocksEngine {
    /// See [`basalt_storage::engine::Engine::debts`]. Each family is asked once; tables that share one have the same.
    pub(crate) fn debts_now(&self) -> Result<HashMap<TableId, Debt>, EngineError> {
        self.check_open()?;
        let tables = self.tables_now();
        let shared = Debt { is_shared: true, ..self.debt_of(std::iter::once(self.shared())) };
        let of = |home: &Home| match home.prefix {
            Some(_) => shared,
            None => self.debt_of(home.families()),
        };
        Ok(tables.homes.iter().map(|(table, home)| (*table, of(home))).collect())
    }

    /// The debt of families together.
    fn debt_of<'f>(&self, families: impl Iterator<Item = &'f Arc<Family>>) -> Debt {
        let mut debt = Debt::default();
        for family in families {
            let level0 = self.db().property_value_cf(family.handle(), properties::num_files_at_level(0));
            let level0 = level0.ok().flatten().and_then(|value| value.parse::<u64>().ok());
            debt.level0_files += level0.unwrap_or(0);
            debt.memtables += self.number_of(family, properties::NUM_IMMUTABLE_MEM_TABLE);
            debt.pending_bytes += self.number_of(family, properties::ESTIMATE_PENDING_COMPACTION_BYTES);
            let stats = stall_stats(self.db(), family.handle()).unwrap_or_default();
            debt.delays += count_of(&stats, "total-delays").unwrap_or(0);
            debt.stops += count_of(&stats, "total-stops").unwrap_or(0);
        }
        debt
    }

    /// See [`basalt_storage::engine::Engine::stall_cause`].
    pub(crate) fn cause_of_stalls(&self, stalled: &Mutex<Stalled>) -> Option<StallCause> {
        if let Some(cause) = self.kit().pace.cause() {
            return Some(cause);
        }
        let tables = self.tables_now();
        let mut counts = [0; CAUSES.len()];
        let own = tables.homes.values().filter(|home| home.prefix.is_none()).flat_map(|home| home.families());
        for family in own.chain([self.catalogue(), self.shared()]) {
            let stats = stall_stats(self.db(), family.handle()).unwrap_or_default();
            for (count, (_, name)) in counts.iter_mut().zip(CAUSES) {
                *count += both(&stats, name);
            }
        }
        stalled.lock().now(counts)
    }

    /// See [`basalt_storage::engine::Engine::tasks`].
    pub(crate) fn running_tasks(&self) -> Result<Vec<Task>, EngineError> {
        self.check_open()?;
        let running = self.events().compactions();
        if running.is_empty() {
            return Ok(Vec::new());
        }
        let files = self.db().live_files().map_err(|error| error::other(None, error))?;
        let tables = self.tables_now();
        let task = |compaction: crate::events::Compaction| {
            let is_own = |home: &Home| {
                let number = own_number(&compaction.family);
                number.is_some() && home.own_numbers().any(|own| Some(own) == number)
            };
            let of_table = tables.homes.iter().find(|(_, home)| is_own(home)).map(|(table, _)| *table);
            let is_read = |name: &str| {
                let number = crate::trouble::file_number(name);
                number.is_some_and(|number| compaction.files.contains(&number))
            };
            let bytes = files.iter().filter(|file| is_read(&file.name)).map(|file| file.size as u64).sum();
            Task { table: of_table, job: compaction.job, files: compaction.files.len() as u64, bytes }
        };
        Ok(running.into_iter().map(task).collect())
    }

    fn number_of(&self, family: &Family, property: &rocksdb::properties::PropName) -> u64 {
        self.db().property_int_value_cf(family.handle(), property).ok().flatten().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    //! Counts are found in RocksDB's text; the cause is the one counted last.
    use super::*;

    const TEXT: &str = "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 7, \
        l0-file-count-limit-delays: 2, l0-file-count-limit-stops: 1, memtable-limit-delays: 0, \
        memtable-limit-stops: 4, pending-compaction-bytes-stops: 5, total-delays: 2, total-stops: 10\n";

    #[test]
    fn counts_are_found_by_their_whole_name() {
        assert_eq!(both(TEXT, "l0-file-count-limit"), 3);
        assert_eq!(both(TEXT, "memtable-limit"), 4);
        assert_eq!(both(TEXT, "pending-compaction-bytes"), 5);
        assert_eq!(count_of(TEXT, "total-stops"), Some(10));
        assert_eq!(count_of(TEXT, "limit-delays"), None);
        assert_eq!(count_of("", "total-stops"), None);
    }

    #[test]
    fn the_cause_is_what_was_counted_since() {
        let mut stalled = Stalled::default();
        assert_eq!(stalled.now([0, 0, 0]), None);
        assert_eq!(stalled.now([5, 0, 0]), Some(StallCause::Memtables));
        assert_eq!(stalled.now([5, 0, 1]), Some(StallCause::PendingCompaction));
        assert_eq!(stalled.now([5, 0, 1]), Some(StallCause::PendingCompaction), "as before");
        assert_eq!(stalled.now([6, 4, 1]), Some(StallCause::Level0Files));
    }
}
