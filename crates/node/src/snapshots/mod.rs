//! Snapshots: tables' files linked into a directory that says what they are. Taken for operators, and before TRUNCATE
//! and DROP (`auto_snapshot`); listed, removed, and forgotten when their time is over.
//!
//! ```text
//! <data>/snapshots/TAG/KEYSPACE/TABLE-ID/   manifest.json, schema.cql, the files
//! <data>/snapshots/.making/                 what is not finished: never listed, removed at the next start
//! <data>/snapshots/.clearing/               what is being removed, as well
//! ```
//!
//! Knows files and their places; what is in them is the engine's matter, and bringing them back [`restore`]'s.

mod expiry;
pub mod instant;
mod listing;
pub mod manifest;
pub mod restore;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use basalt_model::env::SharedEnv;
use basalt_model::{Schema, Table, TableId};
use basalt_query::SchemaStore;
use basalt_query::describe::{keyspace_cql, table_cql};
use basalt_storage::engine::{Engine, EngineError, Exported};
use parking_lot::Mutex;

pub use expiry::Expiry;
pub use listing::{Clearing, Listed};
use manifest::{Manifest, columns_of};

/// Where snapshots are, in the data directory.
const FOLDER: &str = "snapshots";
const MAKING: &str = ".making";
const CLEARING: &str = ".clearing";
const MANIFEST_FILE: &str = "manifest.json";
const SCHEMA_FILE: &str = "schema.cql";

/// A name of a file has at most so many bytes.
const TAG_BYTES_MAX: usize = 255;

/// Why there is no snapshot, or none to be found.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The tag is no name for one, or is taken; in Cassandra's words.
    #[error("{0}")]
    Refused(String),
    /// The engine did not give its files, or not take them.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The operating system refused.
    #[error("{}: {error}", .path.display())]
    System {
        /// Where.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// What is there is not what was written.
    #[error("{}: {detail}", .path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
}

fn system(path: &Path) -> impl FnOnce(io::Error) -> SnapshotError {
    move |error| SnapshotError::System { path: path.to_owned(), error }
}

/// `auto_snapshot`, and how long such snapshots stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoSnapshot {
    /// Whether there are any.
    pub is_on: bool,
    /// `auto_snapshot_ttl`, seconds.
    pub ttl_s: Option<i64>,
}

/// How a snapshot is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// Whether memtables are written to files first; without, what is in them is not in the snapshot.
    pub flushes: bool,
    /// When it goes by itself, seconds from now.
    pub ttl_s: Option<i64>,
}

/// The snapshots of a node.
pub struct Snapshots {
    env: SharedEnv,
    engine: Arc<dyn Engine>,
    root: PathBuf,
    auto: AutoSnapshot,
    /// The schema's keeper, once there is one. It keeps the storage that keeps this.
    schema: OnceLock<Weak<SchemaStore>>,
    /// Held while directories change.
    turn: Mutex<()>,
    /// What was listed last, for who may not wait for the disk.
    known: Mutex<Vec<Listed>>,
}

impl Snapshots {
    /// Of an engine whose data is in `data`. Removes what a crash has left unfinished.
    ///
    /// # Errors
    /// The operating system does not let it.
    pub fn open(
        env: SharedEnv,
        engine: Arc<dyn Engine>,
        data: &Path,
        auto: AutoSnapshot,
    ) -> io::Result<Snapshots> {
        let root = data.join(FOLDER);
        for unfinished in [MAKING, CLEARING] {
            remove_all(&root.join(unfinished))?;
        }
        Ok(Snapshots {
            env,
            engine,
            root,
            auto,
            schema: OnceLock::new(),
            turn: Mutex::new(()),
            known: Mutex::default(),
        })
    }

    /// From now on tables have names.
    pub fn know(&self, schema: &Arc<SchemaStore>) {
        // A second one would be another node's.
        drop(self.schema.set(Arc::downgrade(schema)));
    }

    fn schema(&self) -> Option<Arc<Schema>> {
        Some(self.schema.get()?.upgrade()?.current())
    }

    /// Takes a snapshot of tables.
    ///
    /// # Errors
    /// See [`SnapshotError`]; then there is none.
    pub fn take(&self, tag: &str, tables: &[Arc<Table>], taking: Taking) -> Result<(), SnapshotError> {
        check_tag(tag)?;
        let Some(schema) = self.schema() else { return Ok(()) };
        let _turn = self.turn.lock();
        let places: Vec<PathBuf> = tables.iter().map(|table| place_of(table)).collect();
        if places.iter().any(|place| self.root.join(tag).join(place).exists()) {
            return Err(SnapshotError::Refused(format!("Snapshot {tag} already exists.")));
        }
        let making = self.root.join(MAKING);
        remove_all(&making).map_err(system(&making))?;
        let made = self.make(&making, &schema, tables, &places, taking);
        let published = made.and_then(|()| self.publish(&making, tag, &places));
        if published.is_ok() {
            self.learn(tag, &places);
        }
        if published.is_err() {
            // It is unlisted anyway, and goes at the next start if not now.
            drop(remove_all(&making));
        }
        published
    }

    /// Everything of a snapshot, on stable storage, where nobody lists it.
    fn make(
        &self,
        making: &Path,
        schema: &Schema,
        tables: &[Arc<Table>],
        places: &[PathBuf],
        taking: Taking,
    ) -> Result<(), SnapshotError> {
        let mut wanted = Vec::with_capacity(tables.len());
        for (table, place) in tables.iter().zip(places) {
            let directory = making.join(place);
            fs::create_dir_all(&directory).map_err(system(&directory))?;
            wanted.push((table.id, directory));
        }
        let exported = self.engine.export_tables(&wanted, taking.flushes)?;
        let now_ms = self.env.wall_micros().div_euclid(1_000);
        for ((table, (_, directory)), exported) in tables.iter().zip(&wanted).zip(&exported) {
            let Some(keyspace) = schema.keyspace(&table.keyspace) else { continue };
            let cql = table_cql(keyspace, table);
            let manifest = manifest_of(table, exported, keyspace_cql(keyspace), now_ms, taking.ttl_s);
            let json = serde_json::to_vec_pretty(&manifest).expect("texts and numbers are JSON");
            write_synced(&directory.join(SCHEMA_FILE), cql.as_bytes())?;
            write_synced(&directory.join(MANIFEST_FILE), &json)?;
            sync_directory(directory)?;
            sync_directory(directory.parent().unwrap_or(making))?;
        }
        sync_directory(making)
    }

    /// Gives what was made its name: all of it in one step, unless the tag has other tables already.
    fn publish(&self, making: &Path, tag: &str, places: &[PathBuf]) -> Result<(), SnapshotError> {
        let target = self.root.join(tag);
        if !target.exists() {
            fs::rename(making, &target).map_err(system(&target))?;
            return sync_directory(&self.root);
        }
        for place in places {
            let (from, to) = (making.join(place), target.join(place));
            let parent = to.parent().unwrap_or(&target);
            fs::create_dir_all(parent).map_err(system(parent))?;
            fs::rename(&from, &to).map_err(system(&to))?;
            sync_directory(parent)?;
        }
        sync_directory(&target)?;
        remove_all(making).map_err(system(making))
    }

    /// Before a table is emptied (`ColumnFamilyStore.truncateBlocking`).
    ///
    /// # Errors
    /// As [`Snapshots::take`]: the table must not be emptied then.
    pub fn before_truncate(&self, table: TableId) -> Result<(), SnapshotError> {
        self.take_before("truncated", &[table])
    }

    /// Before tables are dropped (`Keyspace.dropCf`).
    ///
    /// # Errors
    /// As [`Snapshots::take`]: the tables must not be dropped then.
    pub fn before_drop(&self, tables: &[TableId]) -> Result<(), SnapshotError> {
        self.take_before("dropped", tables)
    }

    fn take_before(&self, why: &str, tables: &[TableId]) -> Result<(), SnapshotError> {
        let Some(schema) = self.schema().filter(|_| self.auto.is_on) else { return Ok(()) };
        let known = tables.iter().filter_map(|id| schema.tables_by_id.get(id));
        for table in known.filter(|table| table.options.allow_auto_snapshot && !table.is_virtual) {
            let now_ms = self.env.wall_micros().div_euclid(1_000);
            let tag = |ms: i64| format!("{why}-{ms}-{}", table.name);
            // Two in a millisecond: the later one gets the next.
            let free = (now_ms..now_ms + 1_000).map(tag).find(|tag| !self.root.join(tag).exists());
            let tag = free.unwrap_or_else(|| tag(now_ms));
            let taking = Taking { flushes: true, ttl_s: self.auto.ttl_s };
            self.take(&tag, std::slice::from_ref(table), taking)?;
        }
        Ok(())
    }
}

/// `KEYSPACE/TABLE-ID`, as Cassandra names tables' directories.
fn place_of(table: &Table) -> PathBuf {
    Path::new(&*table.keyspace).join(format!("{}-{}", table.name, table.id.0.simple()))
}

fn manifest_of(
    table: &Table,
    exported: &Exported,
    keyspace_cql: String,
    now_ms: i64,
    ttl_s: Option<i64>,
) -> Manifest {
    let file = |(name, bytes): &(String, u64)| manifest::File { name: name.clone(), bytes: *bytes };
    Manifest {
        basalt_snapshot: manifest::VERSION,
        keyspace: table.keyspace.to_string(),
        table: table.name.to_string(),
        table_id: table.id.0.to_string(),
        created_at: instant::format(now_ms),
        expires_at: ttl_s.map(|ttl_s| instant::format(now_ms.saturating_add(ttl_s.saturating_mul(1_000)))),
        ephemeral: false,
        place: exported.place.clone(),
        files: exported.files.iter().map(file).collect(),
        columns: columns_of(table),
        keyspace_cql,
    }
}

/// A tag becomes the name of a directory.
fn check_tag(tag: &str) -> Result<(), SnapshotError> {
    let refused = |text: &str| Err(SnapshotError::Refused(text.to_owned()));
    match tag {
        "" => refused("You must supply a snapshot name."),
        _ if tag.contains('/') => refused("Snapshot name cannot contain /"),
        _ if tag.starts_with('.') || tag.contains('\0') || tag.len() > TAG_BYTES_MAX => {
            refused("Snapshot name cannot begin with a dot, contain NUL or be longer than 255 bytes")
        }
        _ => Ok(()),
    }
}

/// Removes a directory, if it is there.
fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write_synced(path: &Path, content: &[u8]) -> Result<(), SnapshotError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().map_err(system(path))
}

fn sync_directory(path: &Path) -> Result<(), SnapshotError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(system(path))
}
