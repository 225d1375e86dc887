//! Shorthand for the errors this crate gives. Texts are Cassandra's; nothing internal is in them.

use basalt_model::CqlError;
use basalt_model::types::validate::MarshalError;

/// What most functions of this crate return.
pub(crate) type CqlResult<T> = Result<T, CqlError>;

/// An `Invalid` error as a result.
pub(crate) fn invalid<T>(text: impl Into<Box<str>>) -> CqlResult<T> {
    Err(CqlError::Invalid(text.into()))
}

/// Refuses with `text()` unless `holds`.
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> CqlResult<()> {
    if holds { Ok(()) } else { Err(CqlError::Invalid(text().into())) }
}

/// Bytes that are not a value of their type.
pub(crate) fn marshal(error: MarshalError) -> CqlError {
    CqlError::Invalid(error.0.into())
}

macro_rules! bail {
    ($($arg:tt)*) => { return Err(basalt_model::CqlError::Invalid(format!($($arg)*).into())) };
}
pub(crate) use bail;
