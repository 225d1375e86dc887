//! What a server's connection hands out: requests to answer, and what was refused.

use basalt_model::CqlError;

use super::outbound::ReplyTo;
use crate::Request;
use crate::prelude::CustomPayload;

/// How far a connection is (`transport/ConnectionStage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Only OPTIONS and STARTUP are understood.
    Established,
    /// STARTUP was handed out; nothing more is until it is answered, for the answer decides what
    /// the bytes behind it mean.
    Starting,
    /// AUTHENTICATE was sent: only AUTH_RESPONSE is accepted.
    Authenticating,
    /// Everything but STARTUP is accepted.
    Ready,
}

/// A request to be answered with [`ServerConnection::respond`] or its siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequest {
    /// Where the answer belongs.
    pub reply_to: ReplyTo,
    /// The message. Values are slices of the bytes received: whoever keeps one beyond the request
    /// keeps the whole read buffer, and should copy.
    pub request: Request,
    /// Whether the client wants it traced.
    pub tracing: bool,
    /// The custom payload, if any; Cassandra's own query handler ignores it.
    pub custom_payload: Option<CustomPayload>,
    /// Length of the body as received, bytes: what it counts for against
    /// `native_transport_max_request_data_in_flight`.
    pub body_len: u32,
}

/// A request that was refused, or bytes that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// What the client was told (or would have been).
    pub error: CqlError,
    /// Whether it was told: an answer is in the output.
    pub is_answered: bool,
    /// Whether to close once the output is sent. Nothing more is read then.
    pub close: bool,
    /// A driver's usual probe of versions: not worth a log line.
    pub is_expected: bool,
}

/// What the bytes fed so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// Answer this.
    Request(ClientRequest),
    /// Take note of this, and close if it says so.
    Rejected(Rejection),
}
