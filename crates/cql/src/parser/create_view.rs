//! CREATE MATERIALIZED VIEW.

use super::{Parser, Result};
use crate::ast::CreateView;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn create_view(&mut self) -> Result<CreateView> {
        self.expect_keys(&[Keyword::Create, Keyword::Materialized, Keyword::View])?;
        let if_not_exists = self.if_not_exists()?;
        let view = self.table_name()?;
        self.expect_keys(&[Keyword::As, Keyword::Select])?;
        let selectors = self.selectors()?;
        self.expect_key(Keyword::From)?;
        let base = self.table_name()?;
        let where_clause = self.optional_where()?;
        let primary_key = self.primary_key()?;
        let options = self.table_options(false)?;
        Ok(CreateView { view, if_not_exists, selectors, base, where_clause, primary_key, options })
    }
}
