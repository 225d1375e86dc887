//! A directory in which an engine is opened, disturbed and opened again.

use std::sync::Arc;

use basalt_model::TableId;
use basalt_rocks::RocksEngine;
use basalt_storage::checker::{Ground, Numbers};
use basalt_storage::engine::Engine;

use super::{Scratch, open};

/// A directory and the engine that was last opened in it, which is dropped first.
pub struct Disk {
    engine: Option<Arc<RocksEngine>>,
    scratch: Scratch,
}

impl Disk {
    pub fn new() -> Disk {
        Disk { engine: None, scratch: Scratch::new() }
    }

    /// The engine that is open.
    pub fn engine(&self) -> Arc<RocksEngine> {
        Arc::clone(self.engine.as_ref().expect("it is open"))
    }
}

impl Ground for Disk {
    fn open(&mut self) -> Arc<dyn Engine> {
        self.engine = None;
        self.engine.insert(Arc::new(open(self.scratch.path()))).clone()
    }

    fn disturb(&mut self, table: TableId, numbers: &mut Numbers) {
        let engine = self.engine.as_ref().expect("it is open");
        match numbers.below(16) {
            0..=5 => engine.flush(Some(table)).expect("a flush"),
            6..=9 => engine.compact(table).expect("a compaction"),
            10 => {
                // A snapshot that is restored at once changes nothing.
                let files = self.scratch.join("snapshot");
                std::fs::create_dir(&files).expect("a directory");
                let exported = engine.export_tables(&[(table, files.clone())], true).expect("an export");
                let staged = engine.stage_table(table, &files, &exported[0]).expect("staged");
                staged.commit().expect("an import");
                std::fs::remove_dir_all(&files).expect("ours");
            }
            _ => {
                let token = |numbers: &mut Numbers| numbers.below(u64::MAX).to_be_bytes();
                let (a, b) = (token(numbers), token(numbers));
                let (from, to) = (a.min(b), a.max(b));
                engine.compact_between(table, Some(&from), Some(&to)).expect("a compaction");
            }
        }
    }
}
