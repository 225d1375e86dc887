//! Reads: entries of the engine becoming rows, deletions and time applied, filtered and limited.
//!
//! [`read`] answers a [`ReadCommand`] with live data, for clients. [`response`] answers it with everything that
//! replicas have to reconcile, tombstones too, and [`digest`] says that in 16 bytes; both look at [`unfiltered`]
//! partitions. A read is of one moment; it holds one row with its cells at a time beside the page it returns.

mod collect;
pub mod digest;
pub mod fetched;
mod filter;
mod packing;
pub(crate) mod partition;
mod patience;
mod point;
mod projection;
pub(crate) mod ranges;
pub mod response;
mod scan;
pub(crate) mod stored_row;
#[cfg(test)]
pub(crate) mod tests_only;
pub(crate) mod tombstones;
pub mod unfiltered;

use basalt_model::command::{ReadPage, ReadTarget, RowSelection};
use basalt_model::{Clustering, ReadCommand, TableId, Token};

use crate::cells::EntryError;
use crate::engine::{Engine, EngineError, ReadTier};
use crate::keys::KeyError;
use collect::Collector;

/// A page ends when it holds about this many bytes, whatever the limits of rows: a bound on the
/// memory of one read. A single row may be larger.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// Rows and partitions passed between two looks at the clock.
pub const ROWS_PER_LOOK: u32 = 64;

/// How to read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Where to look; [`ReadTier::CacheOnly`] on a reactor.
    pub tier: ReadTier,
    /// [`PAGE_BYTES_MAX`], or less.
    pub page_bytes: usize,
    /// `tombstone_failure_threshold`: more tombstones than this end the read.
    pub tombstone_failure_threshold: u32,
    /// Whether nobody waits any more: then the read ends with [`ReadError::TimedOut`]. Asked before
    /// the first row and every [`ROWS_PER_LOOK`] rows, live or dead.
    pub is_over: Option<&'a dyn Fn() -> bool>,
}

impl ReadOptions<'_> {
    /// Cassandra's defaults.
    pub fn new(tier: ReadTier) -> Self {
        ReadOptions { tier, page_bytes: PAGE_BYTES_MAX, tombstone_failure_threshold: 100_000, is_over: None }
    }
}

/// What a read returned, and what it met.
#[derive(Clone, Debug, Default)]
pub struct ReadOutcome {
    /// Live data.
    pub page: ReadPage,
    /// Tombstones met, for `tombstone_warn_threshold`: dead cells, and rows dead without one.
    pub tombstones: u32,
    /// Live rows met, before the row filter; static ones are not among them.
    pub live_rows: u32,
    /// Live static rows met.
    pub static_rows: u32,
    /// The token of the last partition met.
    pub last_token: Option<Token>,
}

/// Why a read failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The engine did not answer; [`EngineError::WouldBlock`] asks for another try elsewhere.
    #[error(transparent)]
    Engine(EngineError),
    /// A bound or clustering of the command does not fit its table.
    #[error("the command does not fit the table: {0}")]
    Command(KeyError),
    /// More tombstones than `tombstone_failure_threshold`.
    #[error("scanned over {scanned} tombstones")]
    TombstoneOverwhelming {
        /// How many.
        scanned: u32,
    },
    /// [`ReadOptions::is_over`].
    #[error("timed out")]
    TimedOut,
}

impl From<EngineError> for ReadError {
    fn from(error: EngineError) -> ReadError {
        match error {
            // Only a read whose time is over leaves it at that: see `patience`.
            EngineError::Paused => ReadError::TimedOut,
            error => ReadError::Engine(error),
        }
    }
}

/// Where something stored makes no sense.
pub(crate) trait InTable<T> {
    /// Turns the error into one that names the table.
    fn in_table(self, table: TableId) -> Result<T, EngineError>;
}

impl<T> InTable<T> for Result<T, KeyError> {
    fn in_table(self, table: TableId) -> Result<T, EngineError> {
        self.map_err(|error| EngineError::Corruption { table: Some(table), detail: error.to_string() })
    }
}

impl<T> InTable<T> for Result<T, EntryError> {
    fn in_table(self, table: TableId) -> Result<T, EngineError> {
        self.map_err(|error| EngineError::Corruption { table: Some(table), detail: error.to_string() })
    }
}

/// Executes a read.
///
/// # Errors
/// See [`ReadError`]; after `WouldBlock` the same call with [`ReadTier::All`] answers.
pub fn read(
    engine: &dyn Engine,
    command: &ReadCommand,
    options: &ReadOptions<'_>,
) -> Result<ReadOutcome, ReadError> {
    let mut collector = Collector::new(command, options);
    match &command.target {
        ReadTarget::Partition { key, filter } => {
            // Without clustering columns there is one row, however it is asked for.
            let only = [Clustering::empty()];
            let names = match &filter.rows {
                RowSelection::Names(names) => names.as_slice(),
                RowSelection::Slices(slices) if command.table.clustering_count == 0 && !slices.is_empty() => {
                    &only
                }
                RowSelection::Slices(_) => &[],
            };
            if point::is_fit(&collector, names) && point::read(engine, &mut collector, key, names, filter)? {
                return Ok(collector.finish());
            }
            let may_have_heads = || engine.may_have_heads(command.table.id);
            if !scan::partition(engine, &mut collector, key, filter, false, &may_have_heads)? {
                // Range tombstones have a cursor of their own; both must show the same moment.
                collector = Collector::new(command, options);
                scan::partition(&*engine.view()?, &mut collector, key, filter, true, &|| true)?;
            }
        }
        ReadTarget::Range { range, filter } => {
            scan::range(&*engine.view()?, &mut collector, range, filter)?;
        }
    }
    Ok(collector.finish())
}

#[cfg(test)]
mod tests;
