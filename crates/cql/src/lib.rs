//! CQL text to statement, for the grammar of Apache Cassandra 5.0.
//!
//! [`parse`] turns a text into an [`ast::Statement`] and its bind markers; every tree prints itself (`Display`) as
//! canonical CQL. This crate knows no schema: whether a table, column or function exists, and what a literal is worth,
//! is decided by its callers.

pub mod ast;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod lexer;
mod parser;
mod printer;

pub use basalt_model::quote;

pub use error::SyntaxError;
pub use parser::{MAX_CHAIN, MAX_MARKERS, MAX_NESTING, Parsed, parse, parse_statement, parse_type};
