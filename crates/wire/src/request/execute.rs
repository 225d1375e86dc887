//! EXECUTE (v5 §4.1.6): runs a prepared statement by its id.

use bytes::{Bytes, BytesMut};

use super::QueryParams;
use crate::primitives::{Reader, put_short_bytes};
use crate::{ProtocolVersion, Result};

/// A prepared statement to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute {
    /// The statement's id; 16 bytes if it came from here, but clients send what they like.
    pub id: Bytes,
    /// The id of the result metadata the client holds (v5); `None` before v5.
    pub result_metadata_id: Option<Bytes>,
    /// How to run it.
    pub params: QueryParams,
}

impl Execute {
    pub(super) fn decode(version: ProtocolVersion, body: &mut Reader) -> Result<Execute> {
        let id = body.short_bytes()?;
        let result_metadata_id =
            if version >= ProtocolVersion::V5 { Some(body.short_bytes()?) } else { None };
        Ok(Execute { id, result_metadata_id, params: QueryParams::decode(version, body)? })
    }

    pub(super) fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Result<()> {
        put_short_bytes(out, &self.id);
        if version >= ProtocolVersion::V5 {
            put_short_bytes(out, self.result_metadata_id.as_deref().unwrap_or_default());
        }
        self.params.append(version, out)
    }
}
