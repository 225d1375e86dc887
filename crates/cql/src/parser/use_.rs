//! USE.

use super::{Parser, Result};
use crate::ast::Use;
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn use_(&mut self) -> Result<Use> {
        self.expect_key(Keyword::Use)?;
        Ok(Use { keyspace: self.keyspace_name()? })
    }
}
