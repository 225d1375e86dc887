//! What unit tests of this crate share: a directory, and short words for tables.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use basalt_model::TableId;

use crate::engine::RocksEngine;
use crate::open::RocksConfig;
use crate::open_error::OpenError;

/// A directory for an engine and whatever else, which is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Scratch(std::env::temp_dir().join(format!("basalt-rocks-unit-{}-{number}", std::process::id())))
    }

    /// A path in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn config(&self) -> RocksConfig {
        RocksConfig::new(self.join("data"), 0, 2)
    }

    pub(crate) fn try_open(&self) -> Result<RocksEngine, OpenError> {
        RocksEngine::open(&self.config())
    }

    pub(crate) fn open(&self) -> RocksEngine {
        self.try_open().expect("it opens")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the scratch directory is ours");
    }
}

pub(crate) fn table(number: u128) -> TableId {
    TableId(uuid::Uuid::from_u128(number))
}
