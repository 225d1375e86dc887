//! The schema's keeper: what `system_schema` stores, read into one picture and changed by DDL.
//! Knows rows and their timestamps; not CQL text, not where bytes lie.

mod access;
pub mod error;
pub mod store;

pub use error::SchemaError;
pub use store::{SchemaStore, SchemaStoreParts, Scratch};
