//! The schema's keeper: what `system_schema` stores, read into one picture and changed by DDL.
//! Knows rows and their timestamps; not CQL text, not where bytes lie.

mod access;
pub mod assemble;
pub mod change;
pub mod column_ids;
pub mod compatible;
pub mod digest;
pub mod encode;
pub mod error;
pub mod load;
mod mask_values;
mod open;
pub mod read;
mod recreate;
pub(crate) mod replace_type;
pub mod rows;
pub mod store;
pub mod stored;
mod time_uuid;
pub mod types;

pub use error::SchemaError;
pub use recreate::KnownColumn;
pub use store::{ChangeListener, SchemaStore, SchemaStoreParts, Scratch};

#[cfg(test)]
mod tests;
