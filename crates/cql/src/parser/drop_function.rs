//! DROP FUNCTION.

use super::{Parser, Result};
use crate::ast::{CqlType, DropFunction};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn drop_function(&mut self) -> Result<DropFunction> {
        self.expect_keys(&[Keyword::Drop, Keyword::Function])?;
        let if_exists = self.if_exists()?;
        let name = self.function_name()?;
        Ok(DropFunction { name, argument_types: self.optional_argument_types()?, if_exists })
    }

    /// `(type, ...)`, if it is there.
    pub(super) fn optional_argument_types(&mut self) -> Result<Option<Vec<CqlType>>> {
        if self.kind() == Kind::LeftParen { self.argument_types().map(Some) } else { Ok(None) }
    }
}
