//! TRUNCATE.

use super::{Parser, Result};
use crate::ast::Truncate;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn truncate(&mut self) -> Result<Truncate> {
        self.expect_key(Keyword::Truncate)?;
        self.eat_key(Keyword::Table)?;
        Ok(Truncate { table: self.table_name()? })
    }
}
