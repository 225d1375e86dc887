//! Which snapshots there are, what they take, and removing them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::{CLEARING, MANIFEST_FILE, SnapshotError, Snapshots, instant, remove_all, sync_directory, system};

/// A table of a snapshot.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The snapshot's name.
    pub tag: String,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Where it is.
    pub directory: PathBuf,
    /// Bytes of its files.
    pub size_bytes: u64,
    /// Bytes of those that the table has no use for any more: what removing the snapshot gives back, unless another has
    /// them too (`TableSnapshot.computeTrueSizeBytes`).
    pub true_size_bytes: u64,
}

impl Listed {
    /// When it was taken, milliseconds since 1970.
    pub fn created_ms(&self) -> i64 {
        instant::parse(&self.manifest.created_at).unwrap_or(0)
    }

    /// When it goes by itself.
    pub fn expires_ms(&self) -> Option<i64> {
        instant::parse(self.manifest.expires_at.as_ref()?)
    }
}

/// Which snapshots are to go (`TableSnapshot.shouldClearSnapshot`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clearing {
    /// Of this name; of any without.
    pub tag: Option<String>,
    /// Of these keyspaces; of any without one.
    pub keyspaces: Vec<String>,
    /// Taken before this, milliseconds since 1970.
    pub before_ms: Option<i64>,
}

impl Clearing {
    fn takes(&self, listed: &Listed) -> bool {
        self.tag.as_ref().is_none_or(|tag| *tag == listed.tag)
            && (self.keyspaces.is_empty() || self.keyspaces.contains(&listed.manifest.keyspace))
            && self.before_ms.is_none_or(|before_ms| listed.created_ms() < before_ms)
    }
}

impl Snapshots {
    /// All tables of all snapshots, by name. One that cannot be read is logged and left out.
    ///
    /// # Errors
    /// The operating system does not list them.
    pub fn list(&self) -> Result<Vec<Listed>, SnapshotError> {
        let mut found = Vec::new();
        for tag in folders(&self.root)? {
            let Some(name) = tag.file_name().and_then(|name| name.to_str()) else { continue };
            if name.starts_with('.') {
                continue;
            }
            for keyspace in folders(&tag)? {
                for directory in folders(&keyspace)? {
                    match self.look(name, &directory) {
                        Ok(listed) => found.extend(listed),
                        Err(error) => tracing::warn!("a snapshot cannot be read: {error}"),
                    }
                }
            }
        }
        self.known.lock().clone_from(&found);
        Ok(found)
    }

    /// What there was when it was looked at last, at most a minute ago, and what was taken since: without the disk.
    pub fn known(&self) -> Vec<Listed> {
        self.known.lock().clone()
    }

    /// Adds what was just taken to what is known.
    pub(super) fn learn(&self, tag: &str, places: &[PathBuf]) {
        let looked =
            places.iter().filter_map(|place| self.look(tag, &self.root.join(tag).join(place)).ok()?);
        let taken: Vec<Listed> = looked.collect();
        self.known.lock().extend(taken);
    }

    /// One table of a snapshot; `None` when it was removed meanwhile, or never finished.
    fn look(&self, tag: &str, directory: &Path) -> Result<Option<Listed>, SnapshotError> {
        let path = directory.join(MANIFEST_FILE);
        let json = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(system(&path))?,
        };
        let manifest =
            Manifest::parse(&json).map_err(|detail| SnapshotError::Damaged { path: path.clone(), detail })?;
        let (mut size_bytes, mut true_size_bytes) = (0, 0);
        for entry in fs::read_dir(directory).map_err(system(directory))? {
            let entry = entry.map_err(system(directory))?;
            let Ok(data) = entry.metadata() else { continue };
            size_bytes += data.len();
            let live = self.engine.files().map(|files| files.join(entry.file_name()));
            let is_live = live
                .and_then(|path| fs::metadata(path).ok())
                .is_some_and(|live| (live.dev(), live.ino()) == (data.dev(), data.ino()));
            if !is_live {
                true_size_bytes += data.len();
            }
        }
        let (tag, directory) = (tag.to_owned(), directory.to_owned());
        Ok(Some(Listed { tag, manifest, directory, size_bytes, true_size_bytes }))
    }

    /// Removes snapshots; answers how many tables' ones.
    ///
    /// # Errors
    /// The operating system does not let it; those removed before stay removed.
    pub fn clear(&self, clearing: &Clearing) -> Result<usize, SnapshotError> {
        self.clear_where(|listed| clearing.takes(listed))
    }

    /// Removes those whose time is over.
    ///
    /// # Errors
    /// As [`Snapshots::clear`].
    pub(super) fn clear_expired(&self, now_ms: i64) -> Result<usize, SnapshotError> {
        self.clear_where(|listed| listed.expires_ms().is_some_and(|expires_ms| expires_ms <= now_ms))
    }

    fn clear_where(&self, goes: impl Fn(&Listed) -> bool) -> Result<usize, SnapshotError> {
        let _turn = self.turn.lock();
        let clearing = self.root.join(CLEARING);
        let mut cleared = 0;
        for listed in self.list()?.into_iter().filter(goes) {
            fs::create_dir_all(&clearing).map_err(system(&clearing))?;
            // Unlisted at once, whatever comes between this and the end of the removal.
            let away = clearing.join(cleared.to_string());
            remove_all(&away).map_err(system(&away))?;
            fs::rename(&listed.directory, &away).map_err(system(&listed.directory))?;
            for parent in listed.directory.ancestors().skip(1).take(2) {
                sync_directory(parent)?;
                // The last one takes the empty directories with it.
                if fs::remove_dir(parent).is_err() {
                    break;
                }
            }
            cleared += 1;
        }
        remove_all(&clearing).map_err(system(&clearing))?;
        self.list()?;
        Ok(cleared)
    }
}

/// The directories in a directory, by name; none when it is not there.
fn folders(path: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(system(path))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(system(path))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}
