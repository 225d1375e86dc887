//! The nouns every other crate shares: types, values, schema, rows, mutations, read commands,
//! consistency, errors, and the [`env::Env`] seam through which time and randomness arrive.
//!
//! Data and what follows from data alone (order, size, validity) live here. This crate knows no
//! CQL text, no message, no disk layout and performs no I/O.

pub mod clustering;
pub mod command;
pub mod consistency;
pub mod counter_context;
pub mod deadline;
pub mod deletion;
pub mod env;
pub mod error;
pub mod ids;
pub mod key;
pub mod mutation;
pub mod packed;
pub mod paging_state;
pub mod quote;
#[cfg(test)]
#[path = "../../../tests/golden/recorded.rs"]
mod recorded;
pub mod row;
pub mod schema;
pub mod token;
pub mod types;

pub use clustering::{Bound, BoundKind, Clustering, Slice};
pub use command::ReadCommand;
pub use consistency::{Consistency, SerialConsistency};
pub use counter_context::{CounterContext, CounterId};
pub use deadline::Deadline;
pub use deletion::{Deletion, Liveness};
pub use error::CqlError;
pub use key::DecoratedKey;
pub use mutation::{Mutation, PartitionUpdate};
pub use row::{Cell, Row};
pub use schema::{Column, ColumnId, Keyspace, Schema, Table, TableId};
pub use token::Token;
pub use types::DataType;
