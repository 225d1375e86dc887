//! Statement to plan to rows: what a statement means against a schema. Knows the schema and the
//! coordinator; no sockets, no messages, no RocksDB.

pub mod access;
pub mod processor;
pub mod request;
pub mod result;
pub mod settings;

pub use access::SchemaAccess;
pub use processor::QueryProcessor;
pub use settings::QuerySettings;
