//! What the engine says of itself: numbers for metrics, and whether it is well.

use basalt_model::TableId;
use basalt_storage::engine::{EngineError, Metrics};
use rocksdb::{WaitForCompactOptions, properties};

use crate::engine::RocksEngine;
use crate::error;

/// RocksDB's own number of levels.
const LEVELS: usize = 7;

/// Whether the engine does its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// All is well.
    Good,
    /// Writes wait: memtables or the first level are full. It passes.
    Stalled,
    /// So many flushes or compactions failed; RocksDB may have stopped writes.
    BackgroundErrors(u64),
    /// The device was full, with the first failure's text: nothing is written until there is space and
    /// [`basalt_storage::engine::Engine::resume`] says so.
    OutOfSpace(String),
    /// The log failed, with the first failure's text: nothing is written until the engine is opened
    /// anew.
    LogFailed(String),
    /// It was closed.
    Closed,
}

impl RocksEngine {
    /// How many files a table has on each level, the last level with files at the end. Those of tables that share count all together.
    ///
    /// # Errors
    /// `UnknownTable`, `Closed`.
    pub fn files_by_level(&self, table: TableId) -> Result<Vec<usize>, EngineError> {
        self.check_open()?;
        let tables = self.tables_now();
        let home = tables.home(table)?;
        let mut files = Vec::new();
        for level in 0..LEVELS {
            let name = properties::num_files_at_level(level);
            let value = self.db().property_value_cf(home.family.handle(), &name);
            let value = value.map_err(|error| error::other(Some(table), error))?;
            files.push(value.and_then(|value| value.parse().ok()).unwrap_or(0));
        }
        while files.last() == Some(&0) {
            files.pop();
        }
        Ok(files)
    }

    /// Waits until no flush or compaction is left to do. For tests and measurements.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    pub fn wait_for_compactions(&self) -> Result<(), EngineError> {
        self.check_open()?;
        let waited = self.db().wait_for_compact(&WaitForCompactOptions::default());
        waited.map_err(|error| error::other(None, error))
    }

    fn number(&self, property: &properties::PropName) -> u64 {
        // A property this version does not have would be a mistake of ours; a test asks for all.
        self.db().property_int_value(property).ok().flatten().unwrap_or(0)
    }

    /// Flushes and compactions that failed since the engine was opened.
    pub(crate) fn background_errors(&self) -> u64 {
        self.number(properties::BACKGROUND_ERRORS)
    }

    /// Whether the engine does its work.
    pub fn health(&self) -> Health {
        if self.check_open().is_err() {
            return Health::Closed;
        }
        match self.trouble().check() {
            Err(EngineError::OutOfSpace { detail }) => return Health::OutOfSpace(detail),
            Err(EngineError::LogFailed { detail }) => return Health::LogFailed(detail),
            _ => {}
        }
        match self.background_errors() {
            0 if self.number(properties::IS_WRITE_STOPPED) > 0 => Health::Stalled,
            0 => Health::Good,
            errors => Health::BackgroundErrors(errors),
        }
    }

    /// See [`basalt_storage::engine::Engine::metrics`]. Takes RocksDB's lock for each family.
    pub(crate) fn metrics_now(&self) -> Metrics {
        let tables = self.tables_now();
        let mut metrics = Metrics {
            cache_capacity_bytes: self.kit().budget.cache_bytes,
            cache_bytes: self.kit().cache.get_usage() as u64,
            memtable_bytes: self.kit().memtables.get_usage() as u64,
            flushes_running: self.number(properties::NUM_RUNNING_FLUSHES),
            compactions_running: self.number(properties::NUM_RUNNING_COMPACTIONS),
            brake: (self.brake() * 1_000.0) as u64,
            delayed_write_rate: self.number(properties::ACTUAL_DELAYED_WRITE_RATE),
            background_errors: self.background_errors(),
            tables: tables.homes.len() as u64,
            own_families: tables.own_families() as u64,
            ..Metrics::default()
        };
        let own = tables.homes.values().filter(|home| home.prefix.is_none()).flat_map(|home| home.families());
        for family in own.chain([self.catalogue(), self.shared()]) {
            let of = |property| {
                let value = self.db().property_int_value_cf(family.handle(), property);
                value.ok().flatten().unwrap_or(0)
            };
            metrics.disk_bytes += of(properties::LIVE_SST_FILES_SIZE);
            metrics.compaction_pending_bytes += of(properties::ESTIMATE_PENDING_COMPACTION_BYTES);
        }
        let text = self.db().property_value(properties::DBSTATS).ok().flatten().unwrap_or_default();
        metrics.stalled_ms = stalled_ms(&text);
        metrics
    }
}

/// `Cumulative stall: 01:02:3.456 H:M:S` in RocksDB's statistics.
fn stalled_ms(text: &str) -> u64 {
    let time = text.split("Cumulative stall: ").nth(1).and_then(|rest| rest.split(' ').next());
    let seconds =
        |time: &str| time.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?));
    time.and_then(seconds).map_or(0, |seconds| (seconds * 1_000.0) as u64)
}

#[cfg(test)]
mod tests {
    //! RocksDB's texts as it writes them.
    use super::*;

    #[test]
    fn stalls_are_read_from_text() {
        assert_eq!(stalled_ms("x\nCumulative stall: 01:02:3.456 H:M:S, 0.1 percent\n"), 3_723_456);
        assert_eq!(stalled_ms(""), 0);
    }
}
