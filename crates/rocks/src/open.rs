//! Opening: from a directory to a [`RocksEngine`] or an [`OpenError`].
//!
//! The order is what makes it safe: own the directory, check its format, open every family there
//! is, read the catalogue, and compare the two. What the catalogue names must be there; a family it
//! does not name is what a crash left of a table being made or dropped, and goes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use basalt_model::TableId;
use basalt_storage::engine::StorageOptions;
use rocksdb::{ColumnFamilyDescriptor, DB, IteratorMode, WriteBatch};

use crate::catalogue::{Entry, Place, erased_key};
use crate::directory::Directory;
use crate::engine::{Opened, RocksEngine};
use crate::family::{self, CATALOGUE, Family, SHARED};
use crate::logs;
use crate::open_error::OpenError;
use crate::options::{self, Kit};
use crate::options_file::{self, FamilyOptions, Unreadable};
use crate::table_map::{Home, TableMap, Window};

/// What to do when a log record cannot be read while the log is replayed.
///
/// In both, a record cut short at the very end is what a crash leaves, and no damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogRecovery {
    /// Refuse to open: acknowledged writes may stand behind the damage.
    #[default]
    RefuseDamage,
    /// Open with what stands before the damage. Only for an operator who has been told.
    UpToDamage,
}

/// What an engine needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocksConfig {
    /// A directory of its own.
    pub path: PathBuf,
    /// Bytes of memory for caches and memtables together; see [`crate::Budget`].
    pub memory_bytes: u64,
    /// Processors it may use in the background.
    pub cores: usize,
    /// What to do about a damaged log.
    pub log_recovery: LogRecovery,
}

/// So many tables get a family of their own; further ones share. Each family costs memory, a part
/// of the options file that every change rewrites, and files of its own:
/// `docs/decisions/0002-column-families.md`.
pub const OWN_FAMILIES_MAX: usize = 64;

impl RocksConfig {
    /// For a directory, with what an engine of this size and machine needs.
    pub fn new(path: PathBuf, memory_bytes: u64, cores: usize) -> RocksConfig {
        RocksConfig { path, memory_bytes, cores, log_recovery: LogRecovery::default() }
    }
}

/// What the catalogue says.
struct Found {
    tables: TableMap,
    next: u32,
    erased: Vec<u32>,
}

/// Opens an engine. See [`RocksEngine::open`].
pub(crate) fn open(config: &RocksConfig, own_families_max: usize) -> Result<RocksEngine, OpenError> {
    let directory = Directory::take(&config.path)?;
    let kit = Kit::new(config, own_families_max);
    let failed = |error| OpenError::from_rocksdb(&config.path, error);
    let damaged = |detail: String| OpenError::Damaged { path: config.path.clone(), detail };

    let database_options = kit.database(directory.must_create(), config.log_recovery).map_err(failed)?;
    let path = directory.database();
    let names = match directory.must_create() {
        true => vec![CATALOGUE.to_owned(), SHARED.to_owned()],
        false => DB::list_cf(&database_options, &path).map_err(failed)?,
    };
    if let Some(strange) = names.iter().find(|name| !is_known(name)) {
        return Err(damaged(format!("there is a column family {strange:?} that this version does not make")));
    }
    let family_options = options_file::read(directory.path()).map_err(|problem| match problem {
        Unreadable::Io(error) => OpenError::from_io(&config.path, "read basalt-options", &error),
        Unreadable::Line(detail) => damaged(detail),
    })?;
    let describe = |name: &String| {
        let options = match name.as_str() {
            CATALOGUE => kit.catalogue(),
            name => kit.rows(&options_of(&family_options, family::own_number(name)))?,
        };
        Ok(ColumnFamilyDescriptor::new(name, options))
    };
    let cut_short = match directory.must_create() {
        true => None,
        false => logs::cut_short(&path)
            .map_err(|error| OpenError::from_io(&config.path, "look at the log", &error))?,
    };
    let descriptors: Vec<_> = names.iter().map(describe).collect::<Result<_, _>>().map_err(failed)?;
    let db = DB::open_cf_descriptors(&database_options, &path, descriptors).map_err(failed)?;
    let db = Arc::new(db);

    let missing = |name: &str| damaged(format!("the column family {name:?} is missing"));
    let catalogue = Arc::new(Family::find(&db, CATALOGUE).ok_or_else(|| missing(CATALOGUE))?);
    let shared = Arc::new(Family::find(&db, SHARED).ok_or_else(|| missing(SHARED))?);
    let found =
        read_catalogue(&db, &catalogue, &shared, &family_options).map_err(|problem| match problem {
            Problem::Rocks(error) => failed(error),
            Problem::Contradiction(detail) => damaged(detail),
        })?;

    drop_orphans(&db, &names, &found.tables).map_err(failed)?;
    erase(&db, &catalogue, &shared, &found.erased).map_err(failed)?;
    directory.finish()?;
    directory
        .note_newest_log()
        .map_err(|error| OpenError::from_io(&config.path, "write basalt-newest-log", &error))?;
    let (tables, next, kept_options) = (found.tables, found.next, family_options);
    let opened = Opened { db, catalogue, shared, tables, next, kit, kept_options, directory, cut_short };
    let engine = RocksEngine::new(opened);
    // Compactions have no room before.
    engine
        .look_at_device(0)
        .map_err(|error| OpenError::from_io(&config.path, "look at the device", &error))?;
    Ok(engine)
}

fn options_of(families: &FamilyOptions, number: Option<u32>) -> StorageOptions {
    number.and_then(|number| families.get(&number)).copied().unwrap_or_default()
}

fn is_known(name: &str) -> bool {
    name == CATALOGUE || name == SHARED || family::own_number(name).is_some()
}

enum Problem {
    Rocks(rocksdb::Error),
    Contradiction(String),
}

fn read_catalogue(
    db: &Arc<DB>,
    catalogue: &Family,
    shared: &Arc<Family>,
    family_options: &FamilyOptions,
) -> Result<Found, Problem> {
    let mut found = Found { tables: TableMap::default(), next: 0, erased: Vec::new() };
    let mut places = HashSet::new();
    let mut greatest = None;
    let mut windows = Vec::new();
    let mut headless = Vec::new();
    for item in db.iterator_cf(catalogue.handle(), IteratorMode::Start) {
        let (key, value) = item.map_err(Problem::Rocks)?;
        let entry = Entry::decode(&key, &value).ok_or_else(|| {
            Problem::Contradiction(format!("the catalogue has an unreadable entry {key:02x?}"))
        })?;
        match entry {
            Entry::Next(number) => found.next = number,
            Entry::Window(table, number, began_s) => windows.push((table, number, began_s)),
            Entry::Headless(table) => headless.push(table),
            Entry::Erased(prefix) => {
                greatest = greatest.max(Some(prefix));
                found.erased.push(prefix);
            }
            Entry::Table(table, record) => {
                let (family, prefix, number) = match record.place {
                    Place::Shared(number) => (Arc::clone(shared), Some(number.to_be_bytes()), number),
                    Place::Own(number) => {
                        let name = family::own_name(number);
                        let family = Family::find(db, &name).ok_or_else(|| {
                            Problem::Contradiction(format!(
                                "table {} lost its column family {name:?}",
                                table.0
                            ))
                        })?;
                        (Arc::new(family), None, number)
                    }
                };
                if !places.insert(record.place) {
                    let detail = format!("two tables, one of them {}, have the same place", table.0);
                    return Err(Problem::Contradiction(detail));
                }
                greatest = greatest.max(Some(number));
                let own = prefix.is_none().then_some(number);
                let options = options_of(family_options, own);
                found.tables.homes.insert(
                    table,
                    Arc::new(Home {
                        record,
                        family,
                        prefix,
                        options,
                        heads: Arc::new(AtomicBool::new(true)),
                        began_s: None,
                        past: Vec::new(),
                    }),
                );
            }
        }
    }
    for table in headless {
        let home = found.tables.homes.get(&table).ok_or_else(|| {
            Problem::Contradiction(format!("table {}, said to be without heads, is not there", table.0))
        })?;
        home.heads.store(false, Ordering::Release);
    }
    for (table, number, began_s) in windows {
        greatest = greatest.max(Some(number));
        add_window(db, &mut found.tables, (table, number, began_s))?;
    }
    if greatest.is_some_and(|greatest| greatest >= found.next) {
        let detail = format!("the catalogue's next number {} is in use", found.next);
        return Err(Problem::Contradiction(detail));
    }
    Ok(found)
}

/// Adds a window to its table. The one in whose family the table is now is the one that is written.
fn add_window(
    db: &Arc<DB>,
    tables: &mut TableMap,
    (table, number, began_s): (TableId, u32, i64),
) -> Result<(), Problem> {
    let lost = |what: String| Problem::Contradiction(format!("a window of table {} {what}", table.0));
    let home = tables.homes.get_mut(&table).and_then(Arc::get_mut);
    let home = home.ok_or_else(|| lost("has no table".to_owned()))?;
    if home.record.place == Place::Own(number) {
        home.began_s = Some(began_s);
        return Ok(());
    }
    let name = family::own_name(number);
    let family = Family::find(db, &name);
    let family = family.ok_or_else(|| lost(format!("lost its column family {name:?}")))?;
    // Numbers grow: the youngest comes first.
    home.past.insert(0, Window { number, family: Arc::new(family) });
    Ok(())
}

/// Drops the families that no table has: a crash came between the two steps of making or dropping.
fn drop_orphans(db: &Arc<DB>, names: &[String], tables: &TableMap) -> Result<(), rocksdb::Error> {
    let used: HashSet<u32> = tables.homes.values().flat_map(|home| home.own_numbers()).collect();
    for name in names {
        if family::own_number(name).is_some_and(|number| !used.contains(&number)) {
            db.drop_cf(name)?;
        }
    }
    Ok(())
}

/// Erases once more what a write that ran beside a drop or truncation may have left.
fn erase(db: &DB, catalogue: &Family, shared: &Family, prefixes: &[u32]) -> Result<(), rocksdb::Error> {
    if prefixes.is_empty() {
        return Ok(());
    }
    let mut batch = WriteBatch::default();
    for &prefix in prefixes {
        erase_prefix(&mut batch, shared, prefix);
        batch.delete_cf(catalogue.handle(), erased_key(prefix));
    }
    db.write_opt(batch, &options::write(true, true))
}

/// Adds the removal of all entries with a prefix. Such a prefix is never read again, so that the
/// range deletion costs no reader anything that matters.
pub(crate) fn erase_prefix(batch: &mut WriteBatch, shared: &Family, prefix: u32) {
    let end = prefix.checked_add(1).map_or_else(|| vec![0xff; 5], |next| next.to_be_bytes().to_vec());
    batch.delete_range_cf(shared.handle(), prefix.to_be_bytes().to_vec(), end);
}

#[cfg(test)]
mod tests;
