//! JSON and CQL values (`cql3/Json`, `AbstractType.fromJSONObject`, `toJSONString`): text to a
//! tree (`parse`), a tree to terms of a type (`read`), a document to the columns of a table
//! (`document`), values to text (`print`). Knows nothing of statements.

pub(crate) mod document;
mod parse;
mod print;
mod read;

pub(crate) use parse::parse;
pub(crate) use print::{print, put_string, shown_name, written};
pub(crate) use read::{ReadError, read};

#[cfg(test)]
mod tests;
