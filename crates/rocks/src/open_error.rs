//! Why an engine cannot be opened: one variant for each thing an operator would do about it.

use std::io;
use std::path::{Path, PathBuf};

use rocksdb::ErrorKind;

use crate::error::is_out_of_space;

/// Why a directory was not opened. Nothing in it was changed. Each prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (or another engine of this one) has it open.
    #[error("{} is in use by another process", .0.display())]
    Locked(PathBuf),
    /// A newer version of Basalt wrote it.
    #[error("{} has format {found}, written by a newer version; this one reads up to {supported}", .path.display())]
    NewerFormat {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        supported: u32,
    },
    /// There are files, but none that says they are Basalt's.
    #[error("{} is not empty and was not made by Basalt: it has {found:?} but no {}", .path.display(), crate::directory::FORMAT_FILE)]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// One of the files in it.
        found: String,
    },
    /// There was data, and a file that is needed to read it is gone.
    #[error("{} is incomplete: {missing} is missing; not starting empty where data was", .path.display())]
    Incomplete {
        /// The directory.
        path: PathBuf,
        /// What is missing.
        missing: String,
    },
    /// Stored bytes contradict themselves.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What contradicts what.
        detail: String,
    },
    /// The operating system does not let this process read or write there.
    #[error("no permission for {}: {detail}", .path.display())]
    Permission {
        /// The directory.
        path: PathBuf,
        /// What was refused.
        detail: String,
    },
    /// No room is left on the device.
    #[error("no space left for {}: {detail}", .path.display())]
    OutOfSpace {
        /// The directory.
        path: PathBuf,
        /// What needed the space.
        detail: String,
    },
    /// Any other failure of the operating system.
    #[error("cannot open {}: {detail}", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What failed.
        detail: String,
    },
}

/// RocksDB's texts may have several lines; ours are one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl OpenError {
    /// An error of the operating system on `what` in `path`.
    pub(crate) fn from_io(path: &Path, what: &str, error: &io::Error) -> OpenError {
        let (path, detail) = (path.to_owned(), format!("{what}: {error}"));
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::Permission { path, detail }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                OpenError::OutOfSpace { path, detail }
            }
            _ => OpenError::Io { path, detail },
        }
    }

    /// An error of RocksDB while opening `path`.
    pub(crate) fn from_rocksdb(path: &Path, error: rocksdb::Error) -> OpenError {
        let kind = error.kind();
        let (path, detail) = (path.to_owned(), one_line(&error.into_string()));
        let says = |words: &str| detail.contains(words);
        match kind {
            ErrorKind::Corruption => OpenError::Damaged { path, detail },
            _ if says("lock hold by current process") || says("While lock file") => OpenError::Locked(path),
            _ if says("Permission denied") || says("Read-only file system") => {
                OpenError::Permission { path, detail }
            }
            _ if is_out_of_space(&detail) => OpenError::OutOfSpace { path, detail },
            _ if says("No such file or directory") || says("does not exist") => {
                OpenError::Incomplete { path, missing: detail }
            }
            // Options, comparators and merge operators that are not those the files were made with.
            ErrorKind::InvalidArgument => OpenError::Damaged { path, detail },
            _ => OpenError::Io { path, detail },
        }
    }
}
