//! DROP INDEX.

use super::{Parser, Result};
use crate::ast::DropIndex;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_index(&mut self) -> Result<DropIndex> {
        self.expect_keys(&[Keyword::Drop, Keyword::Index])?;
        let if_exists = self.if_exists()?;
        Ok(DropIndex { index: self.index_name()?, if_exists })
    }
}
