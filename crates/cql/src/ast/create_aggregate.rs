//! CREATE AGGREGATE.

use super::{CqlType, FunctionName, Ident, Term};

/// `CREATE [OR REPLACE] AGGREGATE [IF NOT EXISTS] name (types) SFUNC f STYPE type [FINALFUNC f] [INITCOND term]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateAggregate {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The aggregate.
    pub name: FunctionName,
    /// The arguments' types.
    pub argument_types: Vec<CqlType>,
    /// `SFUNC`, in the aggregate's keyspace.
    pub state_function: Ident,
    /// `STYPE`
    pub state_type: CqlType,
    /// `FINALFUNC`, in the aggregate's keyspace.
    pub final_function: Option<Ident>,
    /// `INITCOND`
    pub initial_condition: Option<Term>,
}
