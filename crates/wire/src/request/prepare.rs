//! PREPARE (v5 §4.1.5): a statement as text, to be run by id later.

use bytes::{BufMut, BytesMut};

use crate::primitives::{Reader, put_long_string, put_string};
use crate::{ProtocolVersion, Result};

/// The one flag of PREPARE (v5): a keyspace follows.
const WITH_KEYSPACE: u32 = 0x01;

/// A statement to prepare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepare {
    /// The CQL text.
    pub query: String,
    /// The keyspace of unqualified names, instead of the connection's (v5).
    pub keyspace: Option<String>,
}

impl Prepare {
    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<Prepare> {
        let query = body.long_string()?;
        let mut keyspace = None;
        if version >= ProtocolVersion::V5 && body.u32()? & WITH_KEYSPACE != 0 {
            keyspace = Some(body.string()?);
        }
        Ok(Prepare { query, keyspace })
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        put_long_string(out, &self.query);
        if version >= ProtocolVersion::V5 {
            match &self.keyspace {
                Some(keyspace) => {
                    out.put_u32(WITH_KEYSPACE);
                    put_string(out, keyspace);
                }
                None => out.put_u32(0),
            }
        }
    }
}
