//! What clients send (v5 §4.1): one message, one file.

mod auth_response;
mod batch;
mod encoded;
mod execute;
mod options;
mod prepare;
mod query;
mod query_params;
mod register;
mod startup;

pub use auth_response::AuthResponse;
pub use batch::{Batch, BatchKind, BatchStatement};
pub use encoded::{EncodedBatch, EncodedExecute, EncodedValues};
pub use execute::Execute;
pub use prepare::Prepare;
pub use query::Query;
pub use query_params::{BoundValues, QueryParams};
pub use register::{EventType, Register};
pub use startup::{Startup, StartupOptions};

use bytes::{Bytes, BytesMut};

use crate::primitives::Reader;
use crate::{Opcode, ProtocolVersion, Result, WireError};

/// A decoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// v5 §4.1.1.
    Startup(Startup),
    /// v5 §4.1.2.
    AuthResponse(AuthResponse),
    /// v5 §4.1.3.
    Options,
    /// v5 §4.1.4.
    Query(Query),
    /// v5 §4.1.5.
    Prepare(Prepare),
    /// v5 §4.1.6.
    Execute(Execute),
    /// v5 §4.1.7.
    Batch(Batch),
    /// v5 §4.1.8.
    Register(Register),
}

impl Request {
    /// Decodes what follows the prelude of a request's body. Bytes after the message are ignored
    /// (v5 §2.4).
    pub fn decode(opcode: Opcode, version: ProtocolVersion, body: &mut Reader) -> Result<Request> {
        match opcode {
            Opcode::Startup => Startup::decode(body).map(Request::Startup),
            Opcode::AuthResponse => AuthResponse::decode(body).map(Request::AuthResponse),
            Opcode::Options => options::decode(body).map(|()| Request::Options),
            Opcode::Query => Query::decode(version, body).map(Request::Query),
            Opcode::Prepare => Prepare::decode(version, body).map(Request::Prepare),
            Opcode::Execute => Execute::decode(version, body).map(Request::Execute),
            Opcode::Batch => Batch::decode(version, body).map(Request::Batch),
            Opcode::Register => Register::decode(body).map(Request::Register),
            Opcode::Credentials => Err(WireError::protocol("Unsupported message")),
            other => {
                Err(WireError::protocol(format!("Unexpected RESPONSE message {other}, expecting REQUEST")))
            }
        }
    }

    /// Decodes a whole body that has no prelude.
    pub fn decode_body(opcode: Opcode, version: ProtocolVersion, body: Bytes) -> Result<Request> {
        Request::decode(opcode, version, &mut Reader::new(body))
    }

    /// The opcode of this request.
    pub fn opcode(&self) -> Opcode {
        match self {
            Request::Startup(_) => Opcode::Startup,
            Request::AuthResponse(_) => Opcode::AuthResponse,
            Request::Options => Opcode::Options,
            Request::Query(_) => Opcode::Query,
            Request::Prepare(_) => Opcode::Prepare,
            Request::Execute(_) => Opcode::Execute,
            Request::Batch(_) => Opcode::Batch,
            Request::Register(_) => Opcode::Register,
        }
    }

    /// Appends the message (without prelude) to a body.
    pub fn append(&self, version: ProtocolVersion, out: &mut BytesMut) -> Result<()> {
        match self {
            Request::Startup(message) => message.append(out),
            Request::AuthResponse(message) => message.append(out),
            Request::Options => {}
            Request::Query(message) => message.append(version, out)?,
            Request::Prepare(message) => message.append(version, out),
            Request::Execute(message) => message.append(version, out)?,
            Request::Batch(message) => message.append(version, out)?,
            Request::Register(message) => message.append(out),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
