//! Statement to plan to rows: what a statement means against a schema. Knows the schema and the
//! coordinator; no sockets, no messages, no RocksDB.

pub mod request;
pub mod result;
