//! ADD and DROP IDENTITY.

use super::{Parser, Result};
use crate::ast::{AddIdentity, DropIdentity};
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn add_identity(&mut self) -> Result<AddIdentity> {
        self.expect_keys(&[Keyword::Add, Keyword::Identity])?;
        let if_not_exists = self.if_not_exists()?;
        let identity = self.identity_name()?;
        self.expect_keys(&[Keyword::To, Keyword::Role])?;
        Ok(AddIdentity { identity, if_not_exists, role: self.identity_name()? })
    }

    pub(super) fn drop_identity(&mut self) -> Result<DropIdentity> {
        self.expect_keys(&[Keyword::Drop, Keyword::Identity])?;
        let if_exists = self.if_exists()?;
        Ok(DropIdentity { identity: self.identity_name()?, if_exists })
    }
}
