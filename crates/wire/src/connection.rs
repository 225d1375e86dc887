//! The protocol of one connection as a state machine: bytes in, requests out, and the other way
//! round. It knows the version, the compression, and whether frames are on; sockets, time and what
//! requests do are somebody else's.

mod client;
mod event;
mod large;
mod outbound;
mod server;

pub use client::{Answer, ClientConnection, ClientError, RequestOptions, ResponseEnvelope};
pub use event::{ClientRequest, Rejection, ServerEvent, Stage};
pub use outbound::ReplyTo;
pub use server::ServerConnection;

#[cfg(test)]
mod tests;
