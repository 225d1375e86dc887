//! DROP AGGREGATE.

use super::{Parser, Result};
use crate::ast::DropAggregate;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_aggregate(&mut self) -> Result<DropAggregate> {
        self.expect_keys(&[Keyword::Drop, Keyword::Aggregate])?;
        let if_exists = self.if_exists()?;
        let name = self.function_name()?;
        Ok(DropAggregate { name, argument_types: self.optional_argument_types()?, if_exists })
    }
}
