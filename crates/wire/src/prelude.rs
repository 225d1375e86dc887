//! What may stand in a body before the message: trace id, warnings, custom payload, in that order
//! (v5 §4, `transport/Message.encode`).

use bytes::{Bytes, BytesMut};
use uuid::Uuid;

use crate::envelope::{Direction, Flags, Header};
use crate::primitives::{self, Reader};
use crate::{ProtocolVersion, Result, WireError};

/// A custom payload: names and values that a custom query handler would understand, in the order
/// sent (v5 §2.4.1.2).
pub type CustomPayload = Vec<(String, Option<Bytes>)>;

/// What precedes the message in a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prelude {
    /// The trace's id (responses). In a request, see [`Flags::TRACING`].
    pub tracing_id: Option<Uuid>,
    /// Warnings for the client (responses, v4 and later).
    pub warnings: Vec<String>,
    /// The custom payload (v4 and later).
    pub custom_payload: Option<CustomPayload>,
}

impl Prelude {
    /// Nothing before the message.
    pub const EMPTY: Prelude = Prelude { tracing_id: None, warnings: Vec::new(), custom_payload: None };

    /// Only warnings.
    pub fn with_warnings(warnings: Vec<String>) -> Prelude {
        Prelude { warnings, ..Prelude::EMPTY }
    }

    /// Appends what this version can carry and returns the flags that say so. Version 3 has no
    /// warnings and no custom payload (v4 §10): they are left out.
    pub fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Flags {
        let mut flags = Flags::default();
        if let Some(id) = self.tracing_id {
            primitives::put_uuid(out, id);
            flags.insert(Flags::TRACING);
        }
        if version >= ProtocolVersion::V4 {
            if !self.warnings.is_empty() {
                primitives::put_string_list(out, &self.warnings);
                flags.insert(Flags::WARNING);
            }
            if let Some(payload) = &self.custom_payload {
                primitives::put_bytes_map(out, payload);
                flags.insert(Flags::CUSTOM_PAYLOAD);
            }
        }
        flags
    }

    /// Reads what the header's flags announce. A request's tracing and warning flags announce
    /// nothing in the body.
    pub fn read(header: &Header, body: &mut Reader) -> Result<Prelude> {
        let is_response = header.opcode.direction() == Direction::Response;
        let mut prelude = Prelude::default();
        if is_response && header.flags.contains(Flags::TRACING) {
            prelude.tracing_id = Some(body.uuid()?);
        }
        if is_response && header.flags.contains(Flags::WARNING) {
            prelude.warnings = body.string_list()?;
        }
        if header.flags.contains(Flags::CUSTOM_PAYLOAD) {
            let payload = body.bytes_map()?;
            if header.version < ProtocolVersion::V4 {
                return Err(WireError::protocol(
                    "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4",
                ));
            }
            prelude.custom_payload = Some(payload);
        }
        Ok(prelude)
    }
}
