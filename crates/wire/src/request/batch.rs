//! BATCH (v5 §4.1.7): several statements, by text or by id, run as one.

use bytes::{BufMut, Bytes, BytesMut};

use super::QueryParams;
use super::query_params::{append_values, decode_values};
use crate::limits::MAX_SHORT_COUNT;
use crate::primitives::{self, Reader, Value};
use crate::{ProtocolVersion, Result, WireError};

/// The `<type>` of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BatchKind {
    /// Atomic through the batch log.
    Logged,
    /// Not atomic across partitions.
    Unlogged,
    /// Counter updates only.
    Counter,
}

impl BatchKind {
    /// As a request carries it.
    pub(super) fn code(self) -> u8 {
        match self {
            BatchKind::Logged => 0,
            BatchKind::Unlogged => 1,
            BatchKind::Counter => 2,
        }
    }
}

/// One statement of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStatement {
    /// As text.
    Query {
        /// The CQL text.
        query: String,
        /// Values for its markers, by position.
        values: Vec<Value>,
    },
    /// By a prepared statement's id.
    Prepared {
        /// The id.
        id: Bytes,
        /// Values for its markers, by position.
        values: Vec<Value>,
    },
}

/// Statements to run as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Which guarantee is asked for.
    pub kind: BatchKind,
    /// The statements, in order.
    pub statements: Vec<BatchStatement>,
    /// How to run them. Values, page size and paging state do not apply; named values cannot be
    /// told apart (CASSANDRA-10246), so Cassandra reads the flag and then ignores it.
    pub params: QueryParams,
}

impl Batch {
    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<Batch> {
        let kind = body.u8()?;
        let count = usize::from(body.u16()?);
        let mut statements = Vec::with_capacity(body.capacity(count, 5));
        for _ in 0..count {
            statements.push(BatchStatement::decode(version, body)?);
        }
        let params = QueryParams::decode(version, body)?;
        // Cassandra looks at the type last.
        let kind = match kind {
            0 => BatchKind::Logged,
            1 => BatchKind::Unlogged,
            2 => BatchKind::Counter,
            other => {
                let text = format!("Invalid BATCH message type {}", other.cast_signed());
                return Err(WireError::protocol(text));
            }
        };
        Ok(Batch { kind, statements, params })
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Result<()> {
        out.put_u8(self.kind.code());
        if self.statements.len() > MAX_SHORT_COUNT {
            return Err(WireError::protocol("A batch has more than 65535 statements"));
        }
        primitives::put_count(out, self.statements.len());
        for statement in &self.statements {
            statement.append(out)?;
        }
        self.params.append(version, out)
    }
}

impl BatchStatement {
    fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<BatchStatement> {
        match body.u8()? {
            0 => Ok(BatchStatement::Query {
                query: body.long_string()?,
                values: decode_values(version, body)?,
            }),
            1 => Ok(BatchStatement::Prepared {
                id: body.short_bytes()?,
                values: decode_values(version, body)?,
            }),
            other => Err(WireError::protocol(format!(
                "Invalid query kind in BATCH messages. Must be 0 or 1 but got {}",
                other.cast_signed()
            ))),
        }
    }

    fn append(&self, out: &mut BytesMut) -> Result<()> {
        match self {
            BatchStatement::Query { query, values } => {
                out.put_u8(0);
                primitives::put_long_string(out, query);
                append_values(values, out)
            }
            BatchStatement::Prepared { id, values } => {
                out.put_u8(1);
                primitives::put_short_bytes(out, id);
                append_values(values, out)
            }
        }
    }

    /// Values for the statement's markers, by position.
    pub fn values(&self) -> &[Value] {
        match self {
            BatchStatement::Query { values, .. } | BatchStatement::Prepared { values, .. } => values,
        }
    }
}
