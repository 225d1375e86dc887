//! Linking tables' files into directories: what a snapshot is made of. The files are RocksDB's, which never change once
//! they are written; a link keeps one when RocksDB has no more use for it. A copy of RocksDB's manifest goes with them:
//! it says what level each file is in and how its entries are numbered.
//!
//! Meanwhile writes, flushes and compactions go on; tables do not go, and no window of one does.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{EngineError, Exported};

use crate::catalogue::Place;
use crate::engine::RocksEngine;
use crate::error;
use crate::family::{CATALOGUE, Family, SHARED, own_name, own_number};
use crate::table_map::{Home, TableMap};

/// Where RocksDB keeps the name of its manifest.
pub(crate) const CURRENT: &str = "CURRENT";
/// What the manifest's name begins with.
pub(crate) const MANIFEST: &str = "MANIFEST-";
/// So often a manifest is copied again because files came or went meanwhile; one time in thousands needs a second.
const TRIES: usize = 20;

/// A file by its family and name.
type Files = BTreeSet<(String, String, u64)>;

/// What is done to files. A test lets other things happen in between.
trait Hands {
    fn flush(&mut self, engine: &RocksEngine, families: &[&Arc<Family>]) -> Result<(), EngineError> {
        engine.flush_families(families)
    }

    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<u64> {
        fs::copy(from, to)
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }
}

struct Plain;

impl Hands for Plain {}

impl RocksEngine {
    pub(crate) fn export(
        &self,
        tables: &[(TableId, PathBuf)],
        flush: bool,
    ) -> Result<Vec<Exported>, EngineError> {
        self.export_by(&mut Plain, tables, flush)
    }

    fn export_by(
        &self,
        hands: &mut dyn Hands,
        tables: &[(TableId, PathBuf)],
        flush: bool,
    ) -> Result<Vec<Exported>, EngineError> {
        if flush {
            let now = self.tables_now();
            let homes = homes_of(&now, tables)?;
            let mut families: Vec<&Arc<Family>> = homes.iter().flat_map(|home| home.families()).collect();
            families.sort_by_key(|family| Arc::as_ptr(family));
            families.dedup_by_key(|family| Arc::as_ptr(family));
            self.flush_families(&families)?;
        }
        // The families of a table that is dropped or truncated now would be named, and be gone from the manifest.
        let _definitions = self.definitions();
        let now = self.tables_now();
        let homes = homes_of(&now, tables)?;
        self.db().disable_file_deletions().map_err(refused)?;
        let linked = self.link(hands, &homes, tables);
        // Deleted now: what has become of no use meanwhile.
        self.db().enable_file_deletions().map_err(refused)?;
        linked
    }

    fn link(
        &self,
        hands: &mut dyn Hands,
        homes: &[&Arc<Home>],
        tables: &[(TableId, PathBuf)],
    ) -> Result<Vec<Exported>, EngineError> {
        let Some((_, first)) = tables.first() else { return Ok(Vec::new()) };
        let (manifest, bytes, files) = self.copy_manifest(hands, first, homes)?;
        let mut all = Vec::with_capacity(tables.len());
        for (home, (_, directory)) in homes.iter().zip(tables) {
            let places: Vec<Place> = places(home).collect();
            if directory != first {
                link(hands, first, directory, &manifest)?;
            }
            let text: Vec<String> = places.iter().map(|place| place.text()).collect();
            let mut exported = Exported { place: text.join(","), files: vec![(manifest.clone(), bytes)] };
            let wanted = |of: &str| of == CATALOGUE || places.iter().any(|place| of == family_name(*place));
            for (_, name, bytes) in files.iter().filter(|(of, _, _)| wanted(of)) {
                link(hands, self.db().path(), directory, name)?;
                exported.files.push((name.clone(), *bytes));
            }
            all.push(exported);
        }
        Ok(all)
    }

    /// Copies the manifest as it is at some moment, and says which files it names for these tables.
    ///
    /// A put or a deletion takes out of the past windows, in the same write, what the youngest has from then on. Were that
    /// flushed there only, the entry would be in no file at all. So the youngest is flushed once more after the past ones
    /// were looked at, and those must stay as they were.
    fn copy_manifest(
        &self,
        hands: &mut dyn Hands,
        into: &Path,
        homes: &[&Arc<Home>],
    ) -> Result<(String, u64, Files), EngineError> {
        let path = self.db().path();
        let names = |families: &mut dyn Iterator<Item = Place>| families.map(family_name).collect();
        let families: BTreeSet<String> = names(&mut homes.iter().flat_map(|home| places(home)));
        let past: BTreeSet<String> = names(&mut homes.iter().flat_map(|home| places(home).skip(1)));
        let of_past = |files: &Files| -> Files {
            files.iter().filter(|(family, _, _)| past.contains(family)).cloned().collect()
        };
        let youngest: Vec<&Arc<Family>> =
            homes.iter().filter(|home| !home.past.is_empty()).map(|home| &home.family).collect();
        for _ in 0..TRIES {
            let mut before = self.files_of(&families)?;
            let past_before = of_past(&before);
            if !youngest.is_empty() {
                hands.flush(self, &youngest)?;
                before = self.files_of(&families)?;
            }
            let current = path.join(CURRENT);
            let name = fs::read_to_string(&current).map_err(|error| io_error(&current, &error))?;
            let name = name.trim_end().to_owned();
            let (from, to) = (path.join(&name), into.join(&name));
            let bytes = hands.copy(&from, &to).map_err(|error| io_error(&to, &error))?;
            let after = self.files_of(&families)?;
            // The same files before and after the copy: those that are in the copy. Their names are never used again.
            if before == after && of_past(&after) == past_before {
                return Ok((name, bytes, after));
            }
            fs::remove_file(&to).map_err(|error| io_error(&to, &error))?;
        }
        Err(EngineError::Io { detail: "the files change too quickly to be linked".to_owned() })
    }

    fn files_of(&self, families: &BTreeSet<String>) -> Result<Files, EngineError> {
        let files = self.db().live_files().map_err(refused)?.into_iter();
        let wanted = files.filter(|file| {
            file.column_family_name == CATALOGUE || families.contains(&file.column_family_name)
        });
        // RocksDB begins the names with a slash.
        let named = |name: String| name.trim_start_matches('/').to_owned();
        Ok(wanted.map(|file| (file.column_family_name, named(file.name), file.size as u64)).collect())
    }
}

fn refused(error: rocksdb::Error) -> EngineError {
    error::other(None, error)
}

fn link(hands: &mut dyn Hands, from: &Path, to: &Path, name: &str) -> Result<(), EngineError> {
    let to = to.join(name);
    hands.link(&from.join(name), &to).map_err(|error| io_error(&to, &error))
}

fn homes_of<'t>(now: &'t TableMap, tables: &[(TableId, PathBuf)]) -> Result<Vec<&'t Arc<Home>>, EngineError> {
    tables.iter().map(|(table, _)| now.home(*table)).collect()
}

/// Where a table is: more than one place if it has past windows, the youngest first.
fn places(home: &Home) -> impl Iterator<Item = Place> {
    let past = home.past.iter().map(|window| Place::Own(window.number));
    std::iter::once(home.record.place).chain(past)
}

/// The family in which a place is.
pub(crate) fn family_name(place: Place) -> String {
    match place {
        Place::Own(number) => own_name(number),
        Place::Shared(_) => SHARED.to_owned(),
    }
}

/// A failure of the operating system on a path.
pub(crate) fn io_error(path: &Path, error: &io::Error) -> EngineError {
    let detail = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => EngineError::OutOfSpace { detail },
        _ => EngineError::Io { detail },
    }
}

/// Places in the words of [`Exported::place`]: `own-7`, `shared-7`; several with commas between them.
impl Place {
    fn text(self) -> String {
        match self {
            Place::Own(number) => own_name(number),
            Place::Shared(number) => format!("{SHARED}-{number}"),
        }
    }

    /// Reads what [`Place::text`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Place> {
        if let Some(number) = own_number(text) {
            return Some(Place::Own(number));
        }
        let place = Place::Shared(text.strip_prefix(SHARED)?.strip_prefix('-')?.parse().ok()?);
        (place.text() == text).then_some(place)
    }
}

#[cfg(test)]
mod tests;
