//! SUPPORTED (v5 §4.2.4): what STARTUP may say.

use bytes::BytesMut;

use crate::compression::Compression;
use crate::primitives::{Reader, put_string_multimap};
use crate::{ProtocolVersion, Result};

/// Options and the values each may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// In the order sent.
    pub options: Vec<(String, Vec<String>)>,
}

impl Supported {
    /// What this crate supports, for a server of this CQL version (e.g. `3.4.7`). Snappy is listed
    /// whatever the version asked in, as Cassandra does; STARTUP refuses it in v5.
    pub fn of_server(cql_version: &str) -> Supported {
        let compressions = [Compression::Snappy, Compression::Lz4];
        Supported {
            options: vec![
                ("PROTOCOL_VERSIONS".to_owned(), ProtocolVersion::supported_texts()),
                ("COMPRESSION".to_owned(), compressions.iter().map(|c| c.name().to_owned()).collect()),
                ("CQL_VERSION".to_owned(), vec![cql_version.to_owned()]),
            ],
        }
    }

    pub(super) fn decode(body: &mut Reader) -> Result<Supported> {
        Ok(Supported { options: body.string_multimap()? })
    }

    pub(super) fn append(&self, out: &mut BytesMut) {
        put_string_multimap(out, &self.options);
    }
}
