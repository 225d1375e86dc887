//! The engine's directory: who owns it, which format it has, whether it is new.
//!
//! ```text
//! <dir>/basalt-lock       held (flock) while an engine has the directory open
//! <dir>/basalt-format     "basalt-format <version>\n": written last when a directory is made
//! <dir>/basalt-options    which options the families have: `options_file`
//! <dir>/basalt-creating   there only while a directory is being made: nothing in it counts yet
//! <dir>/basalt-newest-log "basalt-newest-log <number>\n": a log that was the newest a moment ago, if not still
//! <dir>/db/               RocksDB's files
//! <dir>/importing/        there only while files are imported: nothing in it counts
//! ```
//!
//! So a directory is one of: empty (make one), unfinished (nothing was acknowledged: make it
//! anew), ours (open it, never create), anything else (refuse). Knows nothing of what is in `db/`.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::logs;
use crate::open_error::OpenError;

/// The file that says what the directory is.
pub(crate) const FORMAT_FILE: &str = "basalt-format";
/// The format written, and the newest that is read.
pub(crate) const FORMAT: u32 = 1;

const FORMAT_MAGIC: &str = "basalt-format ";
const LOCK_FILE: &str = "basalt-lock";
const NEWEST_LOG_FILE: &str = "basalt-newest-log";
const NEWEST_LOG_MAGIC: &str = "basalt-newest-log ";
const CREATING_FILE: &str = "basalt-creating";
const DATABASE: &str = "db";
/// Where files are made ready to be imported. What a crash left there is removed by opening.
pub(crate) const IMPORTING: &str = "importing";
/// What file systems put into their root.
const IGNORED: [&str; 2] = ["lost+found", LOCK_FILE];

/// A directory that this process owns until it drops this.
pub(crate) struct Directory {
    path: PathBuf,
    is_new: bool,
    _lock: File,
}

impl Directory {
    /// Takes the directory, making it if there is none, and says whether it is new.
    pub(crate) fn take(path: &Path) -> Result<Directory, OpenError> {
        let failed = |what: &'static str| move |error: io::Error| OpenError::from_io(path, what, &error);
        create_durably(path).map_err(failed("create the directory"))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .map_err(failed("open basalt-lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed("lock basalt-lock")(error)),
        }
        let is_new = Directory::is_new(path)?;
        let directory = Directory { path: path.to_owned(), is_new, _lock: lock };
        remove_all(&path.join(IMPORTING)).map_err(failed("remove what was being imported"))?;
        if is_new {
            directory.begin().map_err(failed("prepare the directory"))?;
        } else {
            check_format(path)?;
            let current = Path::new(DATABASE).join("CURRENT");
            let incomplete = |missing: String| OpenError::Incomplete { path: path.to_owned(), missing };
            if !path.join(&current).exists() {
                return Err(incomplete(current.display().to_string()));
            }
            // RocksDB makes a log when it opens and removes it only after making the next, but does
            // not miss the last one itself: what it held would be gone without a word.
            let logs = logs::logs(&path.join(DATABASE)).map_err(failed("list db"))?;
            let Some((newest, _)) = logs.last() else {
                return Err(incomplete(format!("the log ({DATABASE}/*.log)")));
            };
            let noted = noted_log(path).map_err(failed("read basalt-newest-log"))?;
            if let Some(noted) = noted.filter(|noted| noted > newest) {
                return Err(incomplete(format!("the newest log ({DATABASE}/{noted:06}.log)")));
            }
        }
        Ok(directory)
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where RocksDB's files are.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// True if the database has to be made.
    pub(crate) fn must_create(&self) -> bool {
        self.is_new
    }

    /// Declares a new directory complete. From here on its loss is never silent.
    pub(crate) fn finish(&self) -> Result<(), OpenError> {
        let finish = || {
            if !self.is_new {
                return Ok(());
            }
            replace_file(&self.path, FORMAT_FILE, format!("{FORMAT_MAGIC}{FORMAT}\n").as_bytes())?;
            // If a crash leaves it, it means nothing: the format file is looked at first.
            fs::remove_file(self.path.join(CREATING_FILE))
        };
        finish().map_err(|error: io::Error| OpenError::from_io(&self.path, "write basalt-format", &error))
    }

    /// Writes down which log is the newest, so that its loss is noticed. The log's own name is durable first.
    pub(crate) fn note_newest_log(&self) -> io::Result<()> {
        let Some((newest, _)) = logs::logs(&self.database())?.pop() else { return Ok(()) };
        if noted_log(&self.path)?.is_some_and(|noted| noted >= newest) {
            return Ok(());
        }
        sync_directory(&self.database())?;
        let temporary = self.path.join(format!("{NEWEST_LOG_FILE}.tmp"));
        write_synced(&temporary, format!("{NEWEST_LOG_MAGIC}{newest}\n").as_bytes())?;
        fs::rename(&temporary, self.path.join(NEWEST_LOG_FILE))
    }

    fn is_new(path: &Path) -> Result<bool, OpenError> {
        let failed = |error: io::Error| OpenError::from_io(path, "list the directory", &error);
        if path.join(FORMAT_FILE).exists() {
            return Ok(false);
        }
        if path.join(CREATING_FILE).exists() {
            return Ok(true);
        }
        for entry in fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if !IGNORED.contains(&name.as_str()) {
                return Err(OpenError::NotOurs { path: path.to_owned(), found: name });
            }
        }
        Ok(true)
    }

    /// Marks the directory as being made, and removes what an earlier attempt left.
    fn begin(&self) -> io::Result<()> {
        write_synced(&self.path.join(CREATING_FILE), b"")?;
        sync_directory(&self.path)?;
        remove_all(&self.database())
    }
}

/// Removes a directory, if it is there.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads the format file; it must name a version from 1 to [`FORMAT`].
fn check_format(path: &Path) -> Result<(), OpenError> {
    let content = fs::read(path.join(FORMAT_FILE))
        .map_err(|error| OpenError::from_io(path, "read basalt-format", &error))?;
    let version = std::str::from_utf8(&content)
        .ok()
        .and_then(|text| text.strip_prefix(FORMAT_MAGIC)?.strip_suffix('\n')?.parse::<u32>().ok());
    match version {
        Some(found) if found > FORMAT => {
            Err(OpenError::NewerFormat { path: path.to_owned(), found, supported: FORMAT })
        }
        Some(1..) => Ok(()),
        _ => Err(OpenError::Damaged {
            path: path.to_owned(),
            detail: format!("{FORMAT_FILE} does not hold \"{FORMAT_MAGIC}<version>\""),
        }),
    }
}

/// The newest log that was noted; `None` if none was, or what stands there is not readable: then only less is noticed.
fn noted_log(path: &Path) -> io::Result<Option<u64>> {
    let content = match fs::read_to_string(path.join(NEWEST_LOG_FILE)) {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::InvalidData].contains(&error.kind()) => {
            return Ok(None);
        }
        content => content?,
    };
    Ok(content.strip_prefix(NEWEST_LOG_MAGIC).and_then(|rest| rest.strip_suffix('\n')?.parse().ok()))
}

/// Makes a directory and those above it, each on stable storage before something is in it: a power
/// cut must not take back a directory whose contents were acknowledged.
fn create_durably(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    create_durably(parent)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_directory(parent)
}

/// Writes a file of a directory so that it is the old or the new one whenever the power goes.
pub(crate) fn replace_file(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let temporary = directory.join(format!("{name}.tmp"));
    write_synced(&temporary, content)?;
    fs::rename(&temporary, directory.join(name))?;
    sync_directory(directory)
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
