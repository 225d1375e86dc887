//! Statement to plan to rows: what a statement means against a schema. Knows the schema and the
//! coordinator; no sockets, no messages, no RocksDB.

pub mod access;
pub mod ddl;
pub mod describe;
pub mod literals;
pub mod processor;
pub mod request;
pub mod result;
pub mod schema;
pub mod settings;
pub mod system_tables;

pub use access::SchemaAccess;
pub use processor::QueryProcessor;
pub use schema::SchemaStore;
pub use settings::QuerySettings;

#[cfg(test)]
mod testing;
