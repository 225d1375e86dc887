//! ALTER MATERIALIZED VIEW.

use super::{Parser, Result};
use crate::ast::AlterView;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn alter_view(&mut self) -> Result<AlterView> {
        self.expect_keys(&[Keyword::Alter, Keyword::Materialized, Keyword::View])?;
        let if_exists = self.if_exists()?;
        let view = self.table_name()?;
        self.expect_key(Keyword::With)?;
        Ok(AlterView { view, if_exists, properties: self.properties()? })
    }
}
