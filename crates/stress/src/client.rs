//! The client: connections that speak the native protocol, v3 to v5, with or without compression and TLS.
//!
//! A connection is made by a [`Session`], which waits for each answer (start-up, login, schema,
//! preparing), and then goes on as a [`Connection`], which never waits. Neither knows of plans or
//! of time.

mod connection;
mod session;
mod stream;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use basalt_model::{Consistency, CqlError};
use basalt_wire::WireError;
use basalt_wire::connection::ClientError;
use bytes::Bytes;

pub use basalt_wire::ProtocolVersion;
pub use basalt_wire::compression::Compression;
pub use connection::{Arrived, Connection};
pub use session::{Prepared, Session, Table, table};
pub use tls::Tls;
#[cfg(test)]
pub(crate) use tls::tests as tls_tests;

/// The stream of what the workload did not ask for: start-up, statements prepared again.
pub const CONTROL_STREAM: i16 = 0;

/// How to connect and to ask.
#[derive(Clone, Debug)]
pub struct Options {
    /// The version to speak; `None` for the highest that the server speaks.
    pub version: Option<ProtocolVersion>,
    /// Of bodies (v3, v4) or frames (v5).
    pub compression: Option<Compression>,
    /// Encryption; `None` for none.
    pub tls: Option<Tls>,
    /// Name and password, for servers that ask for them.
    pub credentials: Option<(String, String)>,
    /// Of every request of the workload.
    pub consistency: Consistency,
    /// How long connecting, and each step of starting up, may take.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: None,
            compression: None,
            tls: None,
            credentials: None,
            consistency: Consistency::One,
            patience: Duration::from_secs(20),
        }
    }
}

/// Why a connection is of no use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket failed or closed.
    #[error("connection to {0}: {1}")]
    Io(SocketAddr, std::io::Error),
    /// The server broke the protocol.
    #[error("protocol: {0}")]
    Protocol(#[from] ClientError),
    /// A message could not be written or read.
    #[error("message: {0}")]
    Message(#[from] WireError),
    /// A request that must succeed was refused.
    #[error("{0}")]
    Refused(CqlError),
    /// The server wants to know who asks.
    #[error("the server asks for a login ({0}): give a user and a password")]
    LoginNeeded(String),
    /// An answer of another kind than the request calls for.
    #[error("the server answered {0} with something else")]
    Unexpected(&'static str),
}

/// A statement as the server knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreparedId {
    /// Its id.
    pub id: Bytes,
    /// The id of its result metadata (v5).
    pub metadata: Bytes,
    /// The places of the partition key's parts among its values (v4 and later); empty where not all are bound.
    pub partition_key: Vec<u16>,
}

impl From<basalt_wire::response::Prepared> for PreparedId {
    fn from(prepared: basalt_wire::response::Prepared) -> PreparedId {
        PreparedId {
            id: prepared.id,
            metadata: prepared.result_metadata_id.unwrap_or_default(),
            partition_key: prepared.metadata.partition_key_indexes,
        }
    }
}
