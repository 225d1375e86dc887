//! QUERY (v5 §4.1.4): a statement as text, with its parameters.

use bytes::BytesMut;

use super::QueryParams;
use crate::primitives::{Reader, put_long_string};
use crate::{ProtocolVersion, Result};

/// A statement to parse and run once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The CQL text.
    pub query: String,
    /// How to run it.
    pub params: QueryParams,
}

impl Query {
    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<Query> {
        Ok(Query { query: body.long_string()?, params: QueryParams::decode(version, body)? })
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Result<()> {
        put_long_string(out, &self.query);
        self.params.append(version, out)
    }
}
