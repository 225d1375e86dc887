//! The error a client sees: exactly the codes and fields of the native protocol (v5 §8).
//!
//! Crates keep precise error enums of their own and map them to this type at their outer edge;
//! nothing here knows what went wrong inside.

use std::net::SocketAddr;

use crate::Consistency;

/// What kind of write a time-out or failure was met in (v5 §8, `<writeType>`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteType {
    /// A write to one partition.
    Simple,
    /// A logged batch, after the batch log was written.
    Batch,
    /// An unlogged batch.
    UnloggedBatch,
    /// A counter update.
    Counter,
    /// The write of the batch log itself.
    BatchLog,
    /// A compare-and-set.
    Cas,
    /// A materialized view's write.
    View,
    /// A write refused by change data capture.
    Cdc,
}

impl WriteType {
    /// Every write type.
    pub const ALL: [WriteType; 8] = [
        WriteType::Simple,
        WriteType::Batch,
        WriteType::UnloggedBatch,
        WriteType::Counter,
        WriteType::BatchLog,
        WriteType::Cas,
        WriteType::View,
        WriteType::Cdc,
    ];

    /// The text the protocol carries.
    pub fn name(self) -> &'static str {
        match self {
            WriteType::Simple => "SIMPLE",
            WriteType::Batch => "BATCH",
            WriteType::UnloggedBatch => "UNLOGGED_BATCH",
            WriteType::Counter => "COUNTER",
            WriteType::BatchLog => "BATCH_LOG",
            WriteType::Cas => "CAS",
            WriteType::View => "VIEW",
            WriteType::Cdc => "CDC",
        }
    }
}

/// Which replica failed and why (`exceptions/RequestFailureReason` codes; v5 `<reasonmap>`).
pub type FailureReasons = Box<[(SocketAddr, u16)]>;

/// Who failed and why, as it stands in the text (`RequestFailureException.buildFailureString`).
fn failures_text(failures: &[(SocketAddr, u16)]) -> String {
    let reason = |code: u16| match code {
        1 => "READ_TOO_MANY_TOMBSTONES",
        2 => "TIMEOUT",
        3 => "INCOMPATIBLE_SCHEMA",
        4 => "READ_SIZE",
        5 => "NODE_DOWN",
        6 => "INDEX_NOT_AVAILABLE",
        7 => "READ_TOO_MANY_INDEXES",
        _ => "UNKNOWN",
    };
    let texts: Vec<String> =
        failures.iter().map(|(replica, code)| format!("{} from /{replica}", reason(*code))).collect();
    if texts.is_empty() { String::new() } else { format!(": {}", texts.join(", ")) }
}

/// A native-protocol error. One variant per code, with the fields that code carries.
///
/// A time-out means "unknown"; every other variant means "not applied".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CqlError {
    /// 0x0000: a defect of ours; nothing internal is in the text.
    #[error("{0}")]
    Server(Box<str>),
    /// 0x000A: the client broke the protocol.
    #[error("{0}")]
    Protocol(Box<str>),
    /// 0x0100.
    #[error("{0}")]
    BadCredentials(Box<str>),
    /// 0x1000: fewer live replicas than the level needs.
    #[error("Cannot achieve consistency level {consistency}{}", in_datacenter(datacenter.as_deref()))]
    Unavailable {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas the level needs.
        required: i32,
        /// Replicas known to be alive.
        alive: i32,
        /// The datacenter that has too few, where the level asks for some in each. Only in the text.
        datacenter: Option<Box<str>>,
    },
    /// 0x1001.
    #[error("{0}")]
    Overloaded(Box<str>),
    /// 0x1002.
    #[error("{0}")]
    IsBootstrapping(Box<str>),
    /// 0x1003.
    #[error("{0}")]
    Truncate(Box<str>),
    /// 0x1100.
    #[error("Operation timed out - received only {received} responses.")]
    WriteTimeout {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas that answered.
        received: i32,
        /// Replicas the level needs.
        block_for: i32,
        /// What was being written.
        write_type: WriteType,
        /// Paxos contentions met (v5, CAS only).
        contentions: u16,
    },
    /// 0x1200.
    #[error("Operation timed out - received only {received} responses.")]
    ReadTimeout {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas that answered.
        received: i32,
        /// Replicas the level needs.
        block_for: i32,
        /// Whether the replica asked for data answered.
        data_present: bool,
    },
    /// 0x1300.
    #[error("Operation failed - received {received} responses and {} failures{}", failures.len(), failures_text(failures))]
    ReadFailure {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas that answered.
        received: i32,
        /// Replicas the level needs.
        block_for: i32,
        /// Who failed, and why.
        failures: FailureReasons,
        /// Whether the replica asked for data answered.
        data_present: bool,
    },
    /// 0x1400.
    #[error("{0}")]
    FunctionFailure(Box<FunctionFailure>),
    /// 0x1500.
    #[error("Operation failed - received {received} responses and {} failures{}", failures.len(), failures_text(failures))]
    WriteFailure {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas that answered.
        received: i32,
        /// Replicas the level needs.
        block_for: i32,
        /// Who failed, and why.
        failures: FailureReasons,
        /// What was being written.
        write_type: WriteType,
    },
    /// 0x1600.
    #[error("{0}")]
    CdcWriteFailure(Box<str>),
    /// 0x1700 (v5): it is not known whether the compare-and-set was applied.
    #[error("CAS operation result is unknown - proposal accepted by {received} but not a quorum.")]
    CasWriteUnknown {
        /// The level asked for.
        consistency: Consistency,
        /// Replicas that accepted.
        received: i32,
        /// Replicas the level needs.
        block_for: i32,
    },
    /// 0x2000.
    #[error("{0}")]
    Syntax(Box<str>),
    /// 0x2100.
    #[error("{0}")]
    Unauthorized(Box<str>),
    /// 0x2200.
    #[error("{0}")]
    Invalid(Box<str>),
    /// 0x2300.
    #[error("{0}")]
    Config(Box<str>),
    /// 0x2400: the keyspace (empty `table`) or table exists already.
    #[error("{}", already_exists_text(keyspace, table))]
    AlreadyExists {
        /// The keyspace.
        keyspace: Box<str>,
        /// The table; empty when the keyspace is what exists.
        table: Box<str>,
    },
    /// 0x2500: the statement id is not (or no longer) prepared here.
    #[error("Prepared query with ID {} not found (either the query was not prepared on this host (maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)", hex(.0))]
    Unprepared([u8; 16]),
}

/// Fields of a function failure (0x1400).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FunctionFailure {
    /// The function's keyspace.
    pub keyspace: String,
    /// The function's name.
    pub function: String,
    /// The types of its arguments, as CQL text.
    pub argument_types: Vec<String>,
    /// What happened.
    pub message: String,
}

const _: () = assert!(size_of::<CqlError>() <= 64);

impl CqlError {
    /// An `Invalid` (0x2200) error.
    pub fn invalid(text: impl Into<Box<str>>) -> CqlError {
        CqlError::Invalid(text.into())
    }

    /// A `Syntax` (0x2000) error.
    pub fn syntax(text: impl Into<Box<str>>) -> CqlError {
        CqlError::Syntax(text.into())
    }

    /// A `Config` (0x2300) error.
    pub fn config(text: impl Into<Box<str>>) -> CqlError {
        CqlError::Config(text.into())
    }

    /// A `Protocol` (0x000A) error.
    pub fn protocol(text: impl Into<Box<str>>) -> CqlError {
        CqlError::Protocol(text.into())
    }

    /// A `Server` (0x0000) error; the text must not name internals.
    pub fn server(text: impl Into<Box<str>>) -> CqlError {
        CqlError::Server(text.into())
    }

    /// A feature that is known and not built yet: never silently ignored.
    pub fn unsupported(what: impl std::fmt::Display) -> CqlError {
        CqlError::Invalid(format!("{what} is not supported yet").into())
    }

    /// The protocol's code of this error (`exceptions/ExceptionCode`).
    pub fn code(&self) -> i32 {
        match self {
            CqlError::Server(_) => 0x0000,
            CqlError::Protocol(_) => 0x000A,
            CqlError::BadCredentials(_) => 0x0100,
            CqlError::Unavailable { .. } => 0x1000,
            CqlError::Overloaded(_) => 0x1001,
            CqlError::IsBootstrapping(_) => 0x1002,
            CqlError::Truncate(_) => 0x1003,
            CqlError::WriteTimeout { .. } => 0x1100,
            CqlError::ReadTimeout { .. } => 0x1200,
            CqlError::ReadFailure { .. } => 0x1300,
            CqlError::FunctionFailure(_) => 0x1400,
            CqlError::WriteFailure { .. } => 0x1500,
            CqlError::CdcWriteFailure(_) => 0x1600,
            CqlError::CasWriteUnknown { .. } => 0x1700,
            CqlError::Syntax(_) => 0x2000,
            CqlError::Unauthorized(_) => 0x2100,
            CqlError::Invalid(_) => 0x2200,
            CqlError::Config(_) => 0x2300,
            CqlError::AlreadyExists { .. } => 0x2400,
            CqlError::Unprepared(_) => 0x2500,
        }
    }
}

fn in_datacenter(datacenter: Option<&str>) -> String {
    datacenter.map(|name| format!(" in DC {name}")).unwrap_or_default()
}

fn already_exists_text(keyspace: &str, table: &str) -> String {
    if table.is_empty() {
        format!("Cannot add existing keyspace \"{keyspace}\"")
    } else {
        format!("Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
