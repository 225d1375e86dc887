//! STARTUP (v5 §4.1.1): options that hold for the rest of the connection.

use bytes::BytesMut;

use crate::compression::Compression;
use crate::primitives::{Reader, put_string_map};
use crate::{ProtocolVersion, Result, WireError};

/// The options as sent; names are upper-cased on the way in, as Cassandra does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Startup {
    /// Names and values, in the order sent. Of a name sent twice the last one counts.
    pub options: Vec<(String, String)>,
}

/// What a valid STARTUP asks for (`transport/messages/StartupMessage.execute`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartupOptions {
    /// `COMPRESSION`.
    pub compression: Option<Compression>,
    /// `THROW_ON_OVERLOAD`: whether an overloaded node should answer so (true) or stop reading
    /// (false); `None` leaves it to the node's `native_transport_throw_on_overload`.
    pub throw_on_overload: Option<bool>,
    /// `DRIVER_NAME`.
    pub driver_name: Option<String>,
    /// `DRIVER_VERSION`; only kept together with a name.
    pub driver_version: Option<String>,
}

impl Startup {
    /// A client's STARTUP for CQL 3.
    pub fn new(compression: Option<Compression>) -> Startup {
        let mut options = vec![("CQL_VERSION".to_owned(), "3.0.0".to_owned())];
        if let Some(compression) = compression {
            options.push(("COMPRESSION".to_owned(), compression.name().to_owned()));
        }
        Startup { options }
    }

    /// The value of an option, by its upper-case name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn decode(body: &mut Reader) -> Result<Startup> {
        let mut options = body.string_map()?;
        for (name, _) in &mut options {
            *name = name.to_uppercase();
        }
        Ok(Startup { options })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_string_map(out, &self.options);
    }

    /// Checks the options against what is served in `version`.
    pub fn negotiate(&self, version: ProtocolVersion) -> Result<StartupOptions> {
        let cql_version = self
            .get("CQL_VERSION")
            .ok_or(WireError::protocol("Missing value CQL_VERSION in STARTUP message"))?;
        if is_older_than_cql_3(cql_version)? {
            return Err(WireError::protocol(format!(
                "CQL version {cql_version} is not supported by the binary protocol \
                 (supported version are >= 3.0.0)"
            )));
        }
        let compression = match self.get("COMPRESSION").map(str::to_lowercase).as_deref() {
            None => None,
            Some("snappy") if version >= ProtocolVersion::V5 => {
                return Err(WireError::protocol("Snappy compression is not supported in protocol V5"));
            }
            Some("snappy") => Some(Compression::Snappy),
            Some("lz4") => Some(Compression::Lz4),
            Some(other) => {
                return Err(WireError::protocol(format!("Unknown compression algorithm: {other}")));
            }
        };
        let driver_name = self.get("DRIVER_NAME").map(str::to_owned);
        let driver_version = driver_name.as_ref().and_then(|_| self.get("DRIVER_VERSION")).map(str::to_owned);
        let throw_on_overload = self.get("THROW_ON_OVERLOAD").map(|value| value == "1");
        Ok(StartupOptions { compression, throw_on_overload, driver_name, driver_version })
    }
}

/// Compares with 2.99.0 by `utils/CassandraVersion`'s rules:
/// `major.minor[.patch[.hotfix]][-prerelease][+build]`.
fn is_older_than_cql_3(text: &str) -> Result<bool> {
    let invalid = || WireError::protocol(format!("Invalid version value: {text}"));
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, suffix) = text.split_at_checked(end).ok_or_else(invalid)?;
    let suffix_is_valid =
        suffix.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+'));
    if !suffix_is_valid || suffix.len() == 1 {
        return Err(invalid());
    }
    let mut parts = numbers.split('.').map(|part| part.parse::<u32>().map_err(|_| invalid()));
    let major = parts.next().ok_or_else(invalid)??;
    let minor = parts.next().ok_or_else(invalid)??;
    for rest in parts {
        rest?;
    }
    // A pre-release of 2.99.0 would be older than it; nobody ever sent one.
    Ok((major, minor) < (2, 99))
}
