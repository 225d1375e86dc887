//! DROP KEYSPACE.

use super::{Parser, Result};
use crate::ast::DropKeyspace;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn drop_keyspace(&mut self) -> Result<DropKeyspace> {
        self.expect_keys(&[Keyword::Drop, Keyword::Keyspace])?;
        let if_exists = self.if_exists()?;
        Ok(DropKeyspace { keyspace: self.keyspace_name()?, if_exists })
    }
}
