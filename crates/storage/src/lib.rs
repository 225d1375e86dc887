//! Rows to ordered keys and back: the only crate that knows how rows become bytes and how two
//! versions of a row merge.
//!
//! It never sees the network, CQL text or RocksDB: bytes go to an [`engine::Engine`].

pub mod cells;
#[doc(hidden)]
pub mod checker;
pub mod commit;
#[doc(hidden)]
pub mod contract;
pub mod engine;
#[cfg(test)]
mod format_test;
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod golden_test;
pub mod keys;
pub mod merge;
#[cfg(test)]
mod model_test;
pub mod purge;
pub mod read;
#[cfg(test)]
#[path = "../../../tests/golden/recorded.rs"]
mod recorded;
#[cfg(test)]
mod testing;
pub mod write;
