//! CREATE KEYSPACE.

use super::{Parser, Result};
use crate::ast::CreateKeyspace;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn create_keyspace(&mut self) -> Result<CreateKeyspace> {
        self.expect_keys(&[Keyword::Create, Keyword::Keyspace])?;
        let if_not_exists = self.if_not_exists()?;
        let keyspace = self.keyspace_name()?;
        self.expect_key(Keyword::With)?;
        Ok(CreateKeyspace { keyspace, if_not_exists, properties: self.properties()? })
    }
}
