//! DROP TABLE.

use super::{Parser, Result};
use crate::ast::DropTable;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_table(&mut self) -> Result<DropTable> {
        self.expect_keys(&[Keyword::Drop, Keyword::Table])?;
        let if_exists = self.if_exists()?;
        Ok(DropTable { table: self.table_name()?, if_exists })
    }
}
