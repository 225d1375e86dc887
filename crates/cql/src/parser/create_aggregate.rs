//! CREATE AGGREGATE.

use super::{Parser, Result};
use crate::ast::CreateAggregate;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn create_aggregate(&mut self) -> Result<CreateAggregate> {
        let or_replace = self.create_or_replace()?;
        self.expect_key(Keyword::Aggregate)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        let argument_types = self.argument_types()?;
        self.expect_key(Keyword::Sfunc)?;
        let state_function = self.bare_function_name()?;
        self.expect_key(Keyword::Stype)?;
        let state_type = self.cql_type()?;
        let final_function =
            if self.eat_key(Keyword::Finalfunc)? { Some(self.bare_function_name()?) } else { None };
        let initial_condition = if self.eat_key(Keyword::Initcond)? { Some(self.term()?) } else { None };
        Ok(CreateAggregate {
            or_replace,
            if_not_exists,
            name,
            argument_types,
            state_function,
            state_type,
            final_function,
            initial_condition,
        })
    }
}
