//! A scratch directory and a small engine for tests.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod ground;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use basalt_model::TableId;
use basalt_model::env::SharedEnv;
use basalt_rocks::{OpenError, RocksConfig, RocksEngine};
use basalt_storage::checker::StandingClocks;
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

/// Copies a directory as a kill would leave it. A live engine removes files it no longer needs at
/// any moment, and a copy that saw only half of such a step is no moment of the directory: it is
/// made again until the same files were there before and after.
pub fn copy(from: &Path, to: &Path) {
    const ATTEMPTS: usize = 1000;
    for _ in 0..ATTEMPTS {
        let before = files(from);
        let copied = before.iter().all(|file| copy_file(from, to, file));
        if copied && files(from) == before {
            return;
        }
        std::fs::remove_dir_all(to).expect("the attempt is removed");
    }
    panic!("{} never kept its files for the time of a copy", from.display());
}

/// All files beneath a directory, by their paths in it.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(directory.join(&folder)).expect("a listing") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    found
}

/// Whether the file was still there to be copied.
fn copy_file(from: &Path, to: &Path, file: &Path) -> bool {
    let target = to.join(file);
    std::fs::create_dir_all(target.parent().expect("a file is in a directory")).expect("a directory");
    match std::fs::copy(from.join(file), &target) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{}: {error}", file.display()),
    }
}

pub fn env() -> SharedEnv {
    Arc::new(StandingClocks)
}
