//! CREATE FUNCTION.

use super::{CqlType, FunctionName, Ident};

/// `CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name (...) ... RETURNS type LANGUAGE language AS 'body'`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFunction {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The function.
    pub name: FunctionName,
    /// Name and type of each argument.
    pub arguments: Vec<(Ident, CqlType)>,
    /// `CALLED ON NULL INPUT`, not `RETURNS NULL ON NULL INPUT`.
    pub called_on_null_input: bool,
    /// The result's type.
    pub return_type: CqlType,
    /// Folded to lower case.
    pub language: String,
    /// The source text.
    pub body: String,
}
