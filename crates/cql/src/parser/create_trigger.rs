//! CREATE TRIGGER.

use super::{Parser, Result};
use crate::ast::CreateTrigger;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn create_trigger(&mut self) -> Result<CreateTrigger> {
        self.expect_keys(&[Keyword::Create, Keyword::Trigger])?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.ident()?;
        self.expect_key(Keyword::On)?;
        let table = self.table_name()?;
        self.expect_key(Keyword::Using)?;
        Ok(CreateTrigger { name, if_not_exists, table, class: self.string()? })
    }
}
