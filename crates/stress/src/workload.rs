//! What is asked of the server: one workload, one file.

pub mod apm;

use bytes::Bytes;

/// What a request does, for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads one record.
    Read,
    /// Writes one record.
    Insert,
}

impl Kind {
    /// Every kind, in the order reports show them.
    pub const ALL: [Kind; 2] = [Kind::Read, Kind::Insert];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Insert => "insert",
        }
    }
}

/// One request: which prepared statement, with which values.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does; names the statement as well.
    pub kind: Kind,
    /// The statement's values, in order.
    pub values: Vec<Bytes>,
}
