//! CREATE TYPE.

use super::name::is_name;
use super::{Parser, Result};
use crate::ast::{CqlType, CreateType, Ident};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn create_type(&mut self) -> Result<CreateType> {
        self.expect_keys(&[Keyword::Create, Keyword::Type])?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.user_type_name()?;
        self.expect(Kind::LeftParen)?;
        let mut fields = vec![self.field()?];
        while self.eat(Kind::Comma)? {
            // A comma may stand alone.
            if is_name(self.kind()) {
                fields.push(self.field()?);
            }
        }
        self.expect(Kind::RightParen)?;
        Ok(CreateType { name, if_not_exists, fields })
    }

    /// `field type`
    pub(super) fn field(&mut self) -> Result<(Ident, CqlType)> {
        Ok((self.ident()?, self.cql_type()?))
    }
}
