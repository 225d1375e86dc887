//! AUTHENTICATE, AUTH_CHALLENGE, AUTH_SUCCESS (v5 §4.2.3, §4.2.7, §4.2.8): the server's side of SASL.

use bytes::{Bytes, BytesMut};

use crate::primitives::{Reader, put_bytes, put_string};
use crate::{Result, WireError};

/// Credentials are wanted (v5 §4.2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticate {
    /// Full class name of the authenticator, e.g. `org.apache.cassandra.auth.PasswordAuthenticator`.
    pub authenticator: String,
}

impl Authenticate {
    pub(super) fn decode(body: &mut Reader) -> Result<Authenticate> {
        Ok(Authenticate { authenticator: body.string()? })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_string(out, &self.authenticator);
    }
}

/// Another round is wanted (v5 §4.2.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthChallenge {
    /// The authenticator's token.
    pub token: Bytes,
}

impl AuthChallenge {
    pub(super) fn decode(body: &mut Reader) -> Result<AuthChallenge> {
        let token = body.bytes()?.ok_or(WireError::protocol("Missing token in AUTH_CHALLENGE message"))?;
        Ok(AuthChallenge { token })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_bytes(out, Some(&self.token));
    }
}

/// The client is who it says (v5 §4.2.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSuccess {
    /// The authenticator's last word, if it has one.
    pub token: Option<Bytes>,
}

impl AuthSuccess {
    pub(super) fn decode(body: &mut Reader) -> Result<AuthSuccess> {
        Ok(AuthSuccess { token: body.bytes()? })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_bytes(out, self.token.as_deref());
    }
}
