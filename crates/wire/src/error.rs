//! What decoding can say: the client broke the protocol, or asked for what is not allowed.
//!
//! Texts are Cassandra's wherever Cassandra has one. Where Cassandra lets a Java exception escape
//! (a message body that ends early, mostly) it answers a server error naming Java classes; this
//! crate answers a protocol error instead.

use std::borrow::Cow;

use basalt_model::CqlError;

/// Result of a codec operation.
pub type Result<T> = std::result::Result<T, WireError>;

/// Why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Answered as a protocol error (0x000A).
    #[error("{0}")]
    Protocol(Cow<'static, str>),
    /// Answered as an invalid request (0x2200): well-formed, but over a limit.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
}

impl WireError {
    /// A protocol error with this text.
    pub fn protocol(text: impl Into<Cow<'static, str>>) -> WireError {
        WireError::Protocol(text.into())
    }

    /// An invalid request with this text.
    pub fn invalid(text: impl Into<Cow<'static, str>>) -> WireError {
        WireError::Invalid(text.into())
    }
}

impl From<WireError> for CqlError {
    fn from(error: WireError) -> CqlError {
        match error {
            WireError::Protocol(text) => CqlError::Protocol(text.into()),
            WireError::Invalid(text) => CqlError::Invalid(text.into()),
        }
    }
}
