//! DROP FUNCTION.

use super::{CqlType, FunctionName};

/// `DROP FUNCTION [IF EXISTS] name [(types)]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropFunction {
    /// The function.
    pub name: FunctionName,
    /// `None`: any signature, if there is only one.
    pub argument_types: Option<Vec<CqlType>>,
    /// `IF EXISTS`
    pub if_exists: bool,
}
