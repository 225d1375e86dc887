//! What RocksDB answers, as [`EngineError`].

use basalt_model::TableId;
use basalt_storage::engine::EngineError;
use rocksdb::ErrorKind;

/// How glibc and musl put `ENOSPC`; RocksDB appends it to "IO error: ...".
const NO_SPACE: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// True if the text of an error says that the device is full.
pub(crate) fn is_out_of_space(text: &str) -> bool {
    NO_SPACE.iter().any(|words| text.contains(words))
}

/// An error of a read of `table`.
pub(crate) fn of_read(table: Option<TableId>, error: rocksdb::Error) -> EngineError {
    match error.kind() {
        ErrorKind::Incomplete => EngineError::WouldBlock,
        _ => other(table, error),
    }
}

/// An error of a write.
pub(crate) fn of_write(error: rocksdb::Error) -> EngineError {
    match error.kind() {
        ErrorKind::Incomplete => EngineError::WouldStall,
        _ => other(None, error),
    }
}

/// An error of anything else.
pub(crate) fn other(table: Option<TableId>, error: rocksdb::Error) -> EngineError {
    let kind = error.kind();
    let detail = error.into_string();
    match kind {
        ErrorKind::Corruption => EngineError::Corruption { table, detail },
        ErrorKind::ShutdownInProgress => EngineError::Closed,
        _ if is_out_of_space(&detail) => EngineError::OutOfSpace { detail },
        _ => EngineError::Io { detail },
    }
}
