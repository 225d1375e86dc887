//! Bytes to client messages and back: the CQL native protocol, versions 3, 4 and 5, both directions.
//!
//! Nothing here opens a socket, waits, or reads a clock: bytes go in, messages come out, and the
//! other way round. The server side is [`connection::ServerConnection`], the client side (load
//! generator, tests) [`connection::ClientConnection`]; below them, one file holds one message.
//! This crate does not know what a request does, nor what a value's bytes mean.
//!
//! Sections are cited as `v5 §4.1.4`: Apache Cassandra's `doc/native_protocol_v5.spec` (v3 and v4
//! alike). Where the specification is silent or contradicts itself, Cassandra 5.0 decides, and the
//! comment names its class.
//!
//! Words: a *frame* is the checksummed outer block of v5; an *envelope* is the 9-byte header with
//! its body, in every version.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod compression;
pub mod connection;
pub mod envelope;
mod error;
pub mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod limits;
pub mod negotiation;
pub mod prelude;
pub mod primitives;
pub mod request;
pub mod response;
pub mod types;

pub use envelope::{Direction, Envelope, Flags, Header, Opcode};
pub use error::{Result, WireError};
pub use negotiation::ProtocolVersion;
pub use primitives::{Reader, Value};
pub use request::Request;
pub use response::Response;
