//! Statement to plan to rows: what a statement means against a schema. Knows the schema and the
//! coordinator; no sockets, no messages, no RocksDB.

pub mod access;
mod assign;
mod bind;
mod cache;
mod clock;
mod conditions;
pub mod ddl;
pub mod describe;
mod error;
mod functions;
mod json;
pub mod literals;
mod operations;
mod pager;
mod plan;
mod prepare;
pub mod processor;
mod receiver;
pub mod request;
mod restrictions;
pub mod result;
pub mod schema;
mod selection;
pub mod settings;
pub mod system_tables;
mod terms;
mod text;
mod timeuuid;
mod types;
mod values;

pub use access::SchemaAccess;
pub use processor::QueryProcessor;
pub use schema::SchemaStore;
pub use settings::{QuerySettings, SchemaSettings, StorageCompatibilityMode};

#[cfg(test)]
mod testing;
