//! A scratch directory and a small engine for tests.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use basalt_model::TableId;
use basalt_rocks::{OpenError, RocksConfig, RocksEngine};
use basalt_storage::engine::{CursorOptions, ReadTier, Sync, WriteOptions};

/// A directory that is removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("basalt-rocks-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a scratch directory");
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path in it that does not exist yet.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the scratch directory is ours");
    }
}

pub fn config(path: &Path) -> RocksConfig {
    RocksConfig::new(path.to_owned(), 64 << 20, 2)
}

pub fn open(path: &Path) -> RocksEngine {
    RocksEngine::open(&config(path)).expect("the engine opens")
}

pub fn refused(path: &Path) -> OpenError {
    match RocksEngine::open(&config(path)) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "one line: {error}");
            error
        }
    }
}

pub fn table(number: u128) -> TableId {
    TableId(uuid::Uuid::from_u128(number))
}

pub const QUICK: WriteOptions = WriteOptions { sync: Sync::None, may_block: true };
pub const SYNCED: WriteOptions = WriteOptions { sync: Sync::Synced, may_block: true };

pub fn walk<'a>(lower: &'a [u8], upper: Option<&'a [u8]>) -> CursorOptions<'a> {
    CursorOptions { tier: ReadTier::All, lower, upper, fills_cache: true }
}

/// Copies a directory as it is, while an engine has it open: what a kill leaves behind, because
/// every write has reached the kernel when it returns.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a listing") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
