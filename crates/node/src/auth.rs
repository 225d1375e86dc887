//! Who may enter (`auth/IAuthenticator`): the seam, and the one way that exists yet, letting everyone
//! in. Knows tokens of SASL; not messages.

use std::sync::Arc;

use basalt_model::CqlError;
use bytes::Bytes;

/// Decides who enters.
pub trait Authenticator: Send + Sync {
    /// The class drivers are told, when credentials are wanted; `None` lets everyone in.
    fn class_name(&self) -> Option<&str>;

    /// Begins a conversation with one client.
    fn begin(&self) -> Box<dyn Negotiation>;
}

/// A conversation about who a client is.
pub trait Negotiation {
    /// Takes the client's token.
    ///
    /// # Errors
    /// `BadCredentials`, for one.
    fn step(&mut self, token: &Bytes) -> Result<Step, CqlError>;
}

/// Where a conversation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another token is wanted for this one.
    Challenge(Bytes),
    /// The client is this role.
    Done(Arc<str>),
}

/// `AllowAllAuthenticator`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authenticator for AllowAll {
    fn class_name(&self) -> Option<&str> {
        None
    }

    fn begin(&self) -> Box<dyn Negotiation> {
        Box::new(AllowAll)
    }
}

impl Negotiation for AllowAll {
    fn step(&mut self, _token: &Bytes) -> Result<Step, CqlError> {
        Ok(Step::Done("anonymous".into()))
    }
}
