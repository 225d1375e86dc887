//! The notations of v5 §3: integers, strings, values, lists and maps, read and written.
//!
//! Reading never panics and never allocates more than the bytes at hand could describe; values
//! are slices of the message body, not copies.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::*;

use bytes::Bytes;

/// A bound value (v5 §3, `[value]`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Length -1.
    Null,
    /// Length -2 (v4 and later): leave what is stored as it is.
    Unset,
    /// The serialized value.
    Bytes(Bytes),
}

impl Value {
    /// The serialized value, unless null or unset.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Null | Value::Unset => None,
        }
    }
}

impl From<Option<Bytes>> for Value {
    fn from(bytes: Option<Bytes>) -> Value {
        bytes.map_or(Value::Null, Value::Bytes)
    }
}

#[cfg(test)]
mod tests;
