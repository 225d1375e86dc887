//! DROP TRIGGER.

use super::{Parser, Result};
use crate::ast::DropTrigger;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_trigger(&mut self) -> Result<DropTrigger> {
        self.expect_keys(&[Keyword::Drop, Keyword::Trigger])?;
        let if_exists = self.if_exists()?;
        let name = self.ident()?;
        self.expect_key(Keyword::On)?;
        Ok(DropTrigger { name, if_exists, table: self.table_name()? })
    }
}
