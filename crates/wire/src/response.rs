//! What servers send (v5 §4.2): one message, one file.

mod auth;
mod error;
mod event;
pub mod result;
mod supported;

pub use auth::{AuthChallenge, AuthSuccess, Authenticate};
pub use event::{Event, SchemaChange, SchemaChangeKind, SchemaTarget, StatusChange, TopologyChange};
pub use result::{Prepared, QueryResult, Rows};
pub use supported::Supported;

use basalt_model::CqlError;
use bytes::{Bytes, BytesMut};

use crate::primitives::Reader;
use crate::{Opcode, ProtocolVersion, Result, WireError};

/// A response.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// v5 §4.2.1 and §8.
    Error(CqlError),
    /// v5 §4.2.2: the connection can be used. Its body is empty.
    Ready,
    /// v5 §4.2.3.
    Authenticate(Authenticate),
    /// v5 §4.2.4.
    Supported(Supported),
    /// v5 §4.2.5.
    Result(QueryResult),
    /// v5 §4.2.6.
    Event(Event),
    /// v5 §4.2.7.
    AuthChallenge(AuthChallenge),
    /// v5 §4.2.8.
    AuthSuccess(AuthSuccess),
}

impl Response {
    /// The opcode of this response.
    pub fn opcode(&self) -> Opcode {
        match self {
            Response::Error(_) => Opcode::Error,
            Response::Ready => Opcode::Ready,
            Response::Authenticate(_) => Opcode::Authenticate,
            Response::Supported(_) => Opcode::Supported,
            Response::Result(_) => Opcode::Result,
            Response::Event(_) => Opcode::Event,
            Response::AuthChallenge(_) => Opcode::AuthChallenge,
            Response::AuthSuccess(_) => Opcode::AuthSuccess,
        }
    }

    /// Appends the message (without prelude) to a body, in the form this version knows: newer
    /// error codes, types and schema targets become the older ones Cassandra chooses.
    pub fn append(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match self {
            Response::Error(error) => error::append(error, version, out),
            Response::Ready => {}
            Response::Authenticate(message) => message.append(out),
            Response::Supported(message) => message.append(out),
            Response::Result(message) => message.append(version, out),
            Response::Event(message) => message.append(version, out),
            Response::AuthChallenge(message) => message.append(out),
            Response::AuthSuccess(message) => message.append(out),
        }
    }

    /// Decodes what follows the prelude of a response's body.
    pub fn decode(opcode: Opcode, version: ProtocolVersion, body: Bytes) -> Result<Response> {
        let mut body = Reader::new(body);
        match opcode {
            Opcode::Error => error::decode(version, &mut body).map(Response::Error),
            Opcode::Ready => Ok(Response::Ready),
            Opcode::Authenticate => Authenticate::decode(&mut body).map(Response::Authenticate),
            Opcode::Supported => Supported::decode(&mut body).map(Response::Supported),
            Opcode::Result => QueryResult::decode(version, body).map(Response::Result),
            Opcode::Event => Event::decode(&mut body).map(Response::Event),
            Opcode::AuthChallenge => AuthChallenge::decode(&mut body).map(Response::AuthChallenge),
            Opcode::AuthSuccess => AuthSuccess::decode(&mut body).map(Response::AuthSuccess),
            other => {
                Err(WireError::protocol(format!("Unexpected REQUEST message {other}, expecting RESPONSE")))
            }
        }
    }
}

#[cfg(test)]
mod tests;
