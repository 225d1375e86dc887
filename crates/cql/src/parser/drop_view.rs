//! DROP MATERIALIZED VIEW.

use super::{Parser, Result};
use crate::ast::DropView;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_view(&mut self) -> Result<DropView> {
        self.expect_keys(&[Keyword::Drop, Keyword::Materialized, Keyword::View])?;
        let if_exists = self.if_exists()?;
        Ok(DropView { view: self.table_name()?, if_exists })
    }
}
