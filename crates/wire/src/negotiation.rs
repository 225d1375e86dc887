//! Which protocol versions are spoken, and how the others are turned away.
//!
//! Drivers begin high and step down on a protocol error whose text contains "unsupported protocol
//! version"; text and answering version are Cassandra's (`transport/ProtocolVersion`).

use std::fmt;

use crate::{Result, WireError};

/// A version this server speaks.
///
/// Version 6 is Cassandra's open beta: in Cassandra 5.0 no byte differs from version 5, and it is
/// spoken only with a client that sets the beta flag (v5 §2.4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProtocolVersion {
    /// Version 3.
    V3 = 3,
    /// Version 4.
    V4 = 4,
    /// Version 5.
    V5 = 5,
    /// Version 6, beta.
    V6 = 6,
}

impl ProtocolVersion {
    /// All versions spoken, lowest first.
    pub const SUPPORTED: [ProtocolVersion; 4] =
        [ProtocolVersion::V3, ProtocolVersion::V4, ProtocolVersion::V5, ProtocolVersion::V6];

    /// The highest version that is not a beta; also the version in which a connection that has
    /// none yet is answered.
    pub const CURRENT: ProtocolVersion = ProtocolVersion::V5;

    /// The version with this number, if it is spoken.
    pub fn from_number(number: u8) -> Option<ProtocolVersion> {
        match number {
            3 => Some(ProtocolVersion::V3),
            4 => Some(ProtocolVersion::V4),
            5 => Some(ProtocolVersion::V5),
            6 => Some(ProtocolVersion::V6),
            _ => None,
        }
    }

    /// The number in the header's first byte, direction bit aside.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether a client must opt in with the beta flag (v5 §2.4.1.2).
    pub fn is_beta(self) -> bool {
        self == ProtocolVersion::V6
    }

    /// Whether envelopes travel in checksummed frames after the handshake (v5 §2).
    pub fn is_framed(self) -> bool {
        self >= ProtocolVersion::V5
    }

    /// What SUPPORTED lists under `PROTOCOL_VERSIONS`, e.g. `5/v5` (v5 §4.2.4).
    pub fn supported_texts() -> Vec<String> {
        ProtocolVersion::SUPPORTED.iter().map(ToString::to_string).collect()
    }

    /// The version a header's first byte asks for (direction bit ignored), or how to refuse it.
    pub fn negotiate(first_byte: u8, allow_older: bool) -> std::result::Result<ProtocolVersion, Refusal> {
        let number = first_byte & 0x7f;
        match ProtocolVersion::from_number(number) {
            Some(version) if allow_older || version >= ProtocolVersion::CURRENT => Ok(version),
            Some(version) => Err(Refusal {
                error: WireError::protocol(format!(
                    "Rejecting Protocol Version {version} < {}.",
                    ProtocolVersion::CURRENT
                )),
                answer_version: None,
                is_expected: false,
            }),
            None => Err(Refusal::unsupported(number)),
        }
    }

    /// Checks that a beta version was asked for on purpose (`Envelope.Decoder.decodeFlags`).
    pub fn check_beta(self, opted_in: bool) -> Result<()> {
        if self.is_beta() && !opted_in {
            return Err(WireError::protocol(format!(
                "Beta version of the protocol used ({self}), but USE_BETA flag is unset"
            )));
        }
        Ok(())
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.is_beta() { "-beta" } else { "" };
        write!(f, "{0}/v{0}{suffix}", self.number())
    }
}

/// A version that is not spoken here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the client is told.
    pub error: WireError,
    /// The version number the answer must carry; `None` for the connection's own
    /// ([`ProtocolVersion::CURRENT`] before STARTUP). Versions 1 and 2 are answered in their own
    /// form, so that drivers of that age can read the text.
    pub answer_version: Option<u8>,
    /// Whether this is a probe that known drivers send (65 and 66, DataStax's own versions), not
    /// worth a log line.
    pub is_expected: bool,
}

impl Refusal {
    fn unsupported(number: u8) -> Refusal {
        Refusal {
            error: WireError::protocol(format!(
                "Invalid or unsupported protocol version ({number}); supported versions are ({})",
                ProtocolVersion::supported_texts().join(", ")
            )),
            answer_version: matches!(number, 1 | 2).then_some(number),
            is_expected: matches!(number, 65 | 66),
        }
    }
}

#[cfg(test)]
mod tests;
