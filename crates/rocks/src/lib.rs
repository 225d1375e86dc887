//! The engine on RocksDB, and the only crate that names it.
//!
//! [`RocksEngine`] implements [`basalt_storage::engine::Engine`]. Below it: a directory that says
//! which format it has ([`OpenError`] when it cannot be opened), a durable catalogue of tables and
//! where each lives, options sized from one memory number ([`RocksConfig`]).
//!
//! It knows nothing of rows, CQL or the network: keys, values and the merge function come from
//! `storage`.

mod budget;
mod catalogue;
mod cursor;
mod debt;
mod directory;
mod engine;
mod error;
mod events;
mod export;
mod family;
mod family_options;
mod import;
mod logs;
mod merge;
mod metrics;
mod open;
mod open_error;
mod options;
mod options_file;
mod pace;
mod reads;
mod room;
mod slowing;
mod table_map;
mod tables;
#[cfg(test)]
mod testing;
mod trouble;
mod windows;

pub use budget::Budget;
pub use engine::RocksEngine;
pub use logs::CutShort;
pub use metrics::Health;
pub use open::{LogRecovery, OWN_FAMILIES_MAX, RocksConfig};
pub use open_error::OpenError;
