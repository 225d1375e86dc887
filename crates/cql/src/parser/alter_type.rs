//! ALTER TYPE.

use super::{Parser, Result};
use crate::ast::{AlterType, TypeChange};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn alter_type(&mut self) -> Result<AlterType> {
        self.expect_keys(&[Keyword::Alter, Keyword::Type])?;
        let if_exists = self.if_exists()?;
        let name = self.user_type_name()?;
        let change = match self.kind() {
            Kind::Key(Keyword::Alter) => {
                self.advance()?;
                let field = self.ident()?;
                self.expect_key(Keyword::Type)?;
                TypeChange::AlterField { field, cql_type: self.cql_type()? }
            }
            Kind::Key(Keyword::Add) => {
                self.advance()?;
                let if_not_exists = self.if_not_exists()?;
                let (field, cql_type) = self.field()?;
                TypeChange::Add { if_not_exists, field, cql_type }
            }
            Kind::Key(Keyword::Rename) => {
                self.advance()?;
                TypeChange::Rename { if_exists: self.if_exists()?, fields: self.renames()? }
            }
            _ => return Err(self.no_viable()),
        };
        Ok(AlterType { name, if_exists, change })
    }
}
