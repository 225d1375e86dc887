//! CREATE INDEX.

use super::name::{is_column, is_name};
use super::{Parser, Result};
use crate::ast::{CreateIndex, IndexTarget, IndexTargetKind};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn create_index(&mut self) -> Result<CreateIndex> {
        self.expect_key(Keyword::Create)?;
        let custom = self.eat_key(Keyword::Custom)?;
        self.expect_key(Keyword::Index)?;
        let if_not_exists = self.if_not_exists()?;
        let named = is_name(self.kind()) || self.kind() == Kind::QuestionMark;
        let name = if named { Some(self.bare_index_name()?) } else { None };
        self.expect_key(Keyword::On)?;
        let table = self.table_name()?;
        self.expect(Kind::LeftParen)?;
        let targeted = is_column(self.kind()) || self.at_key(Keyword::Entries) || self.at_key(Keyword::Full);
        let targets = if targeted { self.comma_separated(Self::index_target)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        let class = if self.eat_key(Keyword::Using)? { Some(self.string()?) } else { None };
        let properties = self.optional_properties()?;
        Ok(CreateIndex { custom, if_not_exists, name, table, targets, class, properties })
    }

    fn index_target(&mut self) -> Result<IndexTarget> {
        let kind = match self.kind() {
            Kind::Key(Keyword::Entries) => IndexTargetKind::Entries,
            Kind::Key(Keyword::Full) => IndexTargetKind::Full,
            Kind::Key(Keyword::Values) if self.peek(1)? == Kind::LeftParen => IndexTargetKind::Values,
            Kind::Key(Keyword::Keys) if self.peek(1)? == Kind::LeftParen => IndexTargetKind::Keys,
            Kind::Key(Keyword::Values | Keyword::Keys)
                if !matches!(self.peek(1)?, Kind::Comma | Kind::RightParen) =>
            {
                return Err(self.no_viable_ahead(1));
            }
            kind if is_column(kind) => IndexTargetKind::Simple,
            _ => return Err(self.no_viable()),
        };
        if kind == IndexTargetKind::Simple {
            return Ok(IndexTarget { kind, column: self.column()? });
        }
        self.advance()?;
        self.expect(Kind::LeftParen)?;
        let column = self.column()?;
        self.expect(Kind::RightParen)?;
        Ok(IndexTarget { kind, column })
    }
}
