//! RESULT (v5 §4.2.5): the answer to QUERY, PREPARE, EXECUTE and BATCH, one kind a file.

mod metadata;
mod prepared;
mod rows;
mod rows_writer;

pub use metadata::{ColumnSpec, EncodedColumns, RowsMetadata};
pub use prepared::{Prepared, PreparedMetadata};
pub use rows::Rows;
pub use rows_writer::{RowsHead, RowsWriter};

use bytes::{BufMut, BytesMut};

use super::SchemaChange;
use crate::primitives::{Reader, put_string};
use crate::{ProtocolVersion, Result, WireError};

const VOID: i32 = 1;
const ROWS: i32 = 2;
const SET_KEYSPACE: i32 = 3;
const PREPARED: i32 = 4;
const SCHEMA_CHANGE: i32 = 5;

/// A result of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryResult {
    /// Done, nothing to say (v5 §4.2.5.1).
    Void,
    /// Rows (v5 §4.2.5.2). A server writes them with [`RowsWriter`], without this struct.
    Rows(Rows),
    /// The connection's keyspace is now this one (v5 §4.2.5.3).
    SetKeyspace(String),
    /// A statement is prepared (v5 §4.2.5.4).
    Prepared(Prepared),
    /// The schema has changed (v5 §4.2.5.5).
    SchemaChange(SchemaChange),
}

impl QueryResult {
    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match self {
            QueryResult::Void => out.put_i32(VOID),
            QueryResult::Rows(rows) => rows.append(version, out),
            QueryResult::SetKeyspace(keyspace) => {
                out.put_i32(SET_KEYSPACE);
                put_string(out, keyspace);
            }
            QueryResult::Prepared(prepared) => {
                out.put_i32(PREPARED);
                prepared.append(version, out);
            }
            QueryResult::SchemaChange(change) => {
                out.put_i32(SCHEMA_CHANGE);
                change.append(version, out);
            }
        }
    }

    pub(super) fn decode(version: ProtocolVersion, mut body: Reader) -> Result<QueryResult> {
        match body.i32()? {
            VOID => Ok(QueryResult::Void),
            ROWS => Rows::decode(version, body).map(QueryResult::Rows),
            SET_KEYSPACE => body.string().map(QueryResult::SetKeyspace),
            PREPARED => Prepared::decode(version, &mut body).map(QueryResult::Prepared),
            SCHEMA_CHANGE => SchemaChange::decode(&mut body).map(QueryResult::SchemaChange),
            other => Err(WireError::protocol(format!("Unknown kind id {other} in RESULT message"))),
        }
    }
}
