//! DROP TYPE.

use super::{Parser, Result};
use crate::ast::DropType;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_type(&mut self) -> Result<DropType> {
        self.expect_keys(&[Keyword::Drop, Keyword::Type])?;
        let if_exists = self.if_exists()?;
        Ok(DropType { name: self.user_type_name()?, if_exists })
    }
}
