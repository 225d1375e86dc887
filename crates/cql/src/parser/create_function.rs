//! CREATE FUNCTION.

use super::name::is_name;
use super::{Parser, Result};
use crate::ast::CreateFunction;
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn create_function(&mut self) -> Result<CreateFunction> {
        let or_replace = self.create_or_replace()?;
        self.expect_key(Keyword::Function)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments = if is_name(self.kind()) { self.comma_separated(Self::field)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        let called_on_null_input = self.eat_key(Keyword::Called)?;
        if !called_on_null_input {
            if !self.at_key(Keyword::Returns) {
                return Err(self.no_viable());
            }
            self.expect_keys(&[Keyword::Returns, Keyword::Null])?;
        }
        self.expect_keys(&[Keyword::On, Keyword::Null, Keyword::Input, Keyword::Returns])?;
        let return_type = self.cql_type()?;
        self.expect_key(Keyword::Language)?;
        let language = self.expect(Kind::Ident)?.text.to_ascii_lowercase();
        self.expect_key(Keyword::As)?;
        let body = self.string()?;
        Ok(CreateFunction {
            or_replace,
            if_not_exists,
            name,
            arguments,
            called_on_null_input,
            return_type,
            language,
            body,
        })
    }

    /// `CREATE [OR REPLACE]`; whether it replaces.
    pub(super) fn create_or_replace(&mut self) -> Result<bool> {
        self.expect_key(Keyword::Create)?;
        let found = self.eat_key(Keyword::Or)?;
        if found {
            self.expect_key(Keyword::Replace)?;
        }
        Ok(found)
    }
}
