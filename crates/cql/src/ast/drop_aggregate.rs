//! DROP AGGREGATE.

use super::{CqlType, FunctionName};

/// `DROP AGGREGATE [IF EXISTS] name [(types)]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropAggregate {
    /// The aggregate.
    pub name: FunctionName,
    /// `None`: any signature, if there is only one.
    pub argument_types: Option<Vec<CqlType>>,
    /// `IF EXISTS`
    pub if_exists: bool,
}
