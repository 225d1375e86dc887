//! ALTER KEYSPACE.

use super::{Parser, Result};
use crate::ast::AlterKeyspace;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn alter_keyspace(&mut self) -> Result<AlterKeyspace> {
        self.expect_keys(&[Keyword::Alter, Keyword::Keyspace])?;
        let if_exists = self.if_exists()?;
        let keyspace = self.keyspace_name()?;
        self.expect_key(Keyword::With)?;
        Ok(AlterKeyspace { keyspace, if_exists, properties: self.properties()? })
    }
}
