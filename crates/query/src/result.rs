//! What a statement gives back, before any message encoding.

use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::packed::unpack;
use bytes::Bytes;

/// A column of a result, or a bind marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The table's keyspace.
    pub keyspace: Arc<str>,
    /// The table.
    pub table: Arc<str>,
    /// The column's name, alias, or the text of the selected term.
    pub name: Arc<str>,
    /// Its type.
    pub data_type: DataType,
}

/// Columns of a result (`ResultSet.ResultMetadata`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultMetadata {
    /// In order.
    pub columns: Vec<ColumnSpec>,
    /// What v5 clients compare to learn of changed columns.
    pub id: [u8; 16],
}

/// Rows of a result.
#[derive(Clone, Debug)]
pub struct ResultSet {
    /// Its columns.
    pub metadata: Arc<ResultMetadata>,
    /// Row by row, `metadata.columns.len()` values each.
    pub values: Vec<Option<Bytes>>,
    /// The rows instead, if there are any here: packed as [`basalt_model::packed`] says.
    pub packed: Vec<Bytes>,
    /// Number of rows.
    pub row_count: usize,
    /// Where the next page starts, if there is one.
    pub paging_state: Option<Bytes>,
}

impl ResultSet {
    /// The values row by row, however the rows came.
    pub fn all_values(&self) -> Vec<Option<Bytes>> {
        let unpacked = |bytes: &Bytes| {
            let mut rest = bytes.clone();
            std::iter::from_fn(move || unpack(&mut rest))
        };
        self.packed.iter().flat_map(unpacked).chain(self.values.iter().cloned()).collect()
    }
}

/// What of the schema a statement changed (v5 §4.2.6, `SCHEMA_CHANGE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// What happened.
    pub change: Change,
    /// To what.
    pub target: ChangeTarget,
    /// In which keyspace.
    pub keyspace: Arc<str>,
}

/// What happened to a schema object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Created,
    /// It changed.
    Updated,
    /// It is gone.
    Dropped,
}

/// A schema object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeTarget {
    /// The keyspace itself.
    Keyspace,
    /// A table (or view) of that name.
    Table(Arc<str>),
    /// A user-defined type of that name.
    Type(Arc<str>),
}

/// The kinds of RESULT (v5 §4.2.5).
#[derive(Clone, Debug)]
pub enum StatementResult {
    /// Nothing to say.
    Void,
    /// USE: the connection's keyspace from now on.
    SetKeyspace(Arc<str>),
    /// Rows.
    Rows(ResultSet),
    /// The schema changed.
    SchemaChange(SchemaChange),
}

/// A statement's result with what goes beside it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result.
    pub result: StatementResult,
    /// Client warnings (v4 and later).
    pub warnings: Vec<String>,
}

/// What PREPARE answers (v5 §4.2.5.4).
#[derive(Clone, Debug)]
pub struct PreparedStatement {
    /// MD5 of keyspace and text (`QueryProcessor.computeId`).
    pub id: [u8; 16],
    /// Bind markers.
    pub variables: Vec<ColumnSpec>,
    /// For each partition key column, the marker that gives it; empty when not all are markers (v4).
    pub partition_key_indices: Vec<u16>,
    /// Columns of the result; `None` when the statement returns none.
    pub result_metadata: Option<Arc<ResultMetadata>>,
    /// Warnings met while preparing.
    pub warnings: Vec<String>,
}
