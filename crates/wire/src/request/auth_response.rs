//! AUTH_RESPONSE (v5 §4.1.2): one SASL token.

use bytes::{Bytes, BytesMut};

use crate::primitives::{Reader, put_bytes};
use crate::{Result, WireError};

/// The client's answer to AUTHENTICATE or AUTH_CHALLENGE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthResponse {
    /// The token; what it holds is the authenticator's affair.
    pub token: Bytes,
}

impl AuthResponse {
    pub(super) fn decode(body: &mut Reader) -> Result<AuthResponse> {
        // Cassandra fails on a null token, too.
        let token = body.bytes()?.ok_or(WireError::protocol("Missing token in AUTH_RESPONSE message"))?;
        Ok(AuthResponse { token })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_bytes(out, Some(&self.token));
    }
}
