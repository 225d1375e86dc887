//! Making what was exported a table's data: the files are read entry by entry, merged as any reader would see them, and
//! written anew under the table's own place, which one step of the catalogue then makes the table's.
//!
//! Writing anew, where a link would be quicker, is what lets files of any family, prefix and directory become any
//! table's, and what finds damage before anything has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_model::TableId;
use basalt_storage::engine::{EngineError, Exported, Staged};
use rocksdb::{
    ColumnFamilyDescriptor, DB, IngestExternalFileOptions, LogLevel, Options, ReadOptions, SstFileWriter,
    WriteBatch,
};

use crate::catalogue::{Entry, Place, erased_key, headless_key};
use crate::directory::{IMPORTING, remove_all};
use crate::engine::RocksEngine;
use crate::error;
use crate::export::{CURRENT, MANIFEST, family_name, io_error};
use crate::family::CATALOGUE;
use crate::merge;
use crate::table_map::{Home, TableMap};
use crate::tables::Wish;

/// A file that is written ends when it is so large.
const FILE_BYTES: u64 = 64 << 20;
/// Read ahead in the files that are imported.
const READAHEAD: usize = 2 << 20;

/// A place that is filled and not yet the table's.
pub(crate) struct StagedTable<'e> {
    engine: &'e RocksEngine,
    table: TableId,
    home: Option<Home>,
}

impl RocksEngine {
    pub(crate) fn stage(
        &self,
        table: TableId,
        directory: &Path,
        exported: &Exported,
    ) -> Result<StagedTable<'_>, EngineError> {
        let places: Option<Vec<Place>> = exported.place.split(',').map(Place::parse).collect();
        let places =
            places.ok_or_else(|| damage(table, format!("{:?} is no place of a table", exported.place)))?;
        let home = self.reserve(table)?;
        let number = home.record.place.number();
        let staged = StagedTable { engine: self, table, home: Some(home) };
        let scratch = self.directory().join(IMPORTING).join(number.to_string());
        let filled = staged.fill(&scratch, directory, exported, &places);
        // What is left there is removed when the engine is opened, should it not go now.
        let removed = remove_all(&scratch).map_err(|error| io_error(&scratch, &error));
        filled.and(removed)?;
        Ok(staged)
    }

    /// A place for a table's next generation: of the kind it has now, and known to be no table's yet.
    fn reserve(&self, table: TableId) -> Result<Home, EngineError> {
        let mut next = self.definitions();
        let tables = self.tables_now();
        let old = tables.home(table)?;
        let wish = if old.prefix.is_some() { Wish::Shared } else { Wish::Own };
        let mut others = TableMap::clone(&tables);
        others.homes.remove(&table);
        let home = self.new_home(&mut next, &others, wish, old.record.generation + 1, &old.options)?;
        if let Place::Shared(prefix) = home.record.place {
            // A crash leaves entries under this prefix: it must never be given to another, and they must go.
            let mut batch = WriteBatch::default();
            self.put(&mut batch, Entry::Next(*next));
            self.put(&mut batch, Entry::Erased(prefix));
            self.write_synced(batch)?;
        }
        Ok(home)
    }
}

impl StagedTable<'_> {
    fn home(&self) -> Result<&Home, EngineError> {
        self.home.as_ref().ok_or(EngineError::UnknownTable(self.table))
    }

    /// Reads the files as a database of their own, and writes what they hold into the reserved place.
    fn fill(
        &self,
        scratch: &Path,
        directory: &Path,
        exported: &Exported,
        places: &[Place],
    ) -> Result<(), EngineError> {
        let (source, sorted) = (scratch.join("source"), scratch.join("sorted"));
        remove_all(scratch).map_err(|error| io_error(scratch, &error))?;
        for path in [&source, &sorted] {
            fs::create_dir_all(path).map_err(|error| io_error(path, &error))?;
        }
        for (name, bytes) in &exported.files {
            bring(directory, &source, name, *bytes, self.table)?;
        }
        let families: BTreeSet<String> = places.iter().map(|place| family_name(*place)).collect();
        let source = open_files(&source, exported, &families, self.table)?;
        // The oldest first: what comes later is folded into it.
        for (number, place) in places.iter().rev().enumerate() {
            let sorted = sorted.join(number.to_string());
            fs::create_dir_all(&sorted).map_err(|error| io_error(&sorted, &error))?;
            let files = self.sort(&source, &sorted, *place, number == 0)?;
            if files.is_empty() {
                continue;
            }
            let mut ingest = IngestExternalFileOptions::default();
            ingest.set_move_files(true);
            let home = self.home()?;
            let ingested =
                self.engine.db().ingest_external_file_cf_opts(home.family.handle(), &ingest, files);
            ingested.map_err(|error| self.engine.failed_write(error))?;
        }
        Ok(())
    }

    /// Writes the entries of `place` in `source` to files, under the reserved prefix: as what is there, or as what is to be folded
    /// into what is.
    fn sort(
        &self,
        source: &DB,
        into: &Path,
        place: Place,
        is_first: bool,
    ) -> Result<Vec<PathBuf>, EngineError> {
        let failed = |error| error::other(Some(self.table), error);
        let family = family_name(place);
        let Some(family) = source.cf_handle(&family) else {
            return Err(damage(self.table, format!("the files hold no {family}")));
        };
        let mut read = ReadOptions::default();
        read.set_readahead_size(READAHEAD);
        read.fill_cache(false);
        let prefix = place.prefix();
        read.set_iterate_lower_bound(prefix.clone());
        if let Place::Shared(number) = place
            && let Some(end) = number.checked_add(1)
        {
            read.set_iterate_upper_bound(end.to_be_bytes());
        }
        let home = self.home()?;
        let mut files = Vec::new();
        let options = self.engine.kit().rows(&self.home()?.options).map_err(failed)?;
        let mut writer = SstFileWriter::create(&options);
        let mut is_open = false;
        let mut iterator = source.raw_iterator_cf_opt(&family, read);
        iterator.seek(&prefix);
        while let Some((key, value)) = iterator.item() {
            // Empty: nothing is left there.
            if !value.is_empty() {
                if !is_open {
                    let path = into.join(format!("{}.sst", files.len()));
                    writer.open(&path).map_err(failed)?;
                    files.push(path);
                    is_open = true;
                }
                let key = key.get(prefix.len()..).unwrap_or_default();
                let key = home.stored(key);
                match is_first {
                    true => writer.put(key, value).map_err(failed)?,
                    false => writer.merge(key, value).map_err(failed)?,
                }
                if writer.file_size() >= FILE_BYTES {
                    writer.finish().map_err(failed)?;
                    is_open = false;
                }
            }
            iterator.next();
        }
        iterator.status().map_err(failed)?;
        if is_open {
            writer.finish().map_err(failed)?;
        }
        Ok(files)
    }
}

impl Staged for StagedTable<'_> {
    fn commit(mut self: Box<Self>) -> Result<(), EngineError> {
        let engine = self.engine;
        engine.check_writable()?;
        let next = engine.definitions();
        let tables = engine.tables_now();
        // It may have been dropped meanwhile, or truncated.
        let old = Arc::clone(tables.home(self.table)?);
        let mut home = self.home.take().ok_or(EngineError::UnknownTable(self.table))?;
        home.record.generation = old.record.generation + 1;
        let mut batch = WriteBatch::default();
        engine.put(&mut batch, Entry::Table(self.table, home.record));
        engine.put(&mut batch, Entry::Next(*next));
        if let Place::Shared(prefix) = home.record.place {
            batch.delete_cf(engine.catalogue().handle(), erased_key(prefix));
        }
        // What was brought may have heads, and its place says so.
        batch.delete_cf(engine.catalogue().handle(), headless_key(self.table));
        engine.erase(&mut batch, self.table, &old);
        if let Err(error) = engine.write_synced(batch) {
            self.home = Some(home);
            return Err(error);
        }
        let mut changed = TableMap::clone(&tables);
        changed.homes.insert(self.table, Arc::new(home));
        engine.set_tables(changed.clone());
        engine.drop_if_own(&old)?;
        engine.keep_options(&changed, None)?;
        drop(next);
        // Should they have been changed since the place was made.
        engine.change_options(self.table, &old.options).map(drop)
    }
}

impl Drop for StagedTable<'_> {
    fn drop(&mut self) {
        let Some(home) = self.home.take() else { return };
        let mut batch = WriteBatch::default();
        self.engine.erase_if_shared(&mut batch, &home);
        // Whatever of this fails is done when the engine is opened: the prefix is noted, and the family no table's.
        drop(self.engine.write_synced(batch));
        drop(self.engine.drop_if_own(&home));
    }
}

/// Links a file, or copies it from another file system.
fn bring(from: &Path, to: &Path, name: &str, bytes: u64, table: TableId) -> Result<(), EngineError> {
    let is_plain = Path::new(name).file_name().is_some_and(|file| file == name);
    if !is_plain || !(is_table_file(name) || name.starts_with(MANIFEST)) {
        return Err(damage(table, format!("{name:?} is no name of a file of ours")));
    }
    let (from, to) = (from.join(name), to.join(name));
    let found = fs::metadata(&from).map_err(|error| io_error(&from, &error))?.len();
    if found != bytes {
        return Err(damage(table, format!("{} has {found} bytes, not {bytes}", from.display())));
    }
    if fs::hard_link(&from, &to).is_err() {
        fs::copy(&from, &to).map_err(|error| io_error(&to, &error))?;
    }
    Ok(())
}

fn is_table_file(name: &str) -> bool {
    name.ends_with(".sst")
}

/// Opens the files as the database they are a part of: the table's families, and the one with the catalogue because
/// RocksDB insists.
fn open_files(
    path: &Path,
    exported: &Exported,
    families: &BTreeSet<String>,
    table: TableId,
) -> Result<DB, EngineError> {
    // Whatever RocksDB finds wrong with them, it is they that are wrong.
    let failed = |error: rocksdb::Error| damage(table, error.into_string());
    let manifest = exported.files.iter().find(|(name, _)| name.starts_with(MANIFEST));
    let (manifest, _) = manifest.ok_or_else(|| damage(table, "there is no manifest".to_owned()))?;
    let current = path.join(CURRENT);
    fs::write(&current, format!("{manifest}\n")).map_err(|error| io_error(&current, &error))?;
    // With a cache of its own: the engine's knows the blocks of the very files that these are links to, and what lies on
    // the disk must be looked at.
    let rows = |name: &String| {
        let mut rows = Options::default();
        merge::set_operator(&mut rows);
        ColumnFamilyDescriptor::new(name, rows)
    };
    let catalogue = ColumnFamilyDescriptor::new(CATALOGUE, Options::default());
    let families = std::iter::once(catalogue).chain(families.iter().map(rows));
    let mut opening = Options::default();
    opening.set_paranoid_checks(true);
    opening.set_log_level(LogLevel::Error);
    // As a follower that never follows: a reader of its own would look for the logs that the manifest names.
    let own = path.join("own");
    let db = DB::open_cf_descriptors_as_secondary(&opening, path, &own, families).map_err(failed)?;
    let found: BTreeSet<String> =
        db.live_files().map_err(failed)?.into_iter().map(|file| file.name).collect();
    let told: BTreeSet<String> = exported
        .files
        .iter()
        .filter(|(name, _)| is_table_file(name))
        .map(|(name, _)| format!("/{name}"))
        .collect();
    if found != told {
        return Err(damage(table, "the manifest names other files than those that are there".to_owned()));
    }
    Ok(db)
}

fn damage(table: TableId, detail: String) -> EngineError {
    EngineError::Corruption { table: Some(table), detail }
}
