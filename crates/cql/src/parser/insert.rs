//! INSERT, and the USING clause.

use super::{Parser, Result};
use crate::ast::{Insert, InsertValues, QualifiedName, Term, TermKind, Using};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Insert> {
        self.expect_keys(&[Keyword::Insert, Keyword::Into])?;
        let table = self.table_name()?;
        match self.kind() {
            Kind::LeftParen => self.insert_values(table),
            Kind::Key(Keyword::Json) => self.insert_json(table),
            _ => Err(self.no_viable()),
        }
    }

    fn insert_values(&mut self, table: QualifiedName) -> Result<Insert> {
        self.expect(Kind::LeftParen)?;
        let columns = self.comma_separated(Self::column)?;
        self.expect(Kind::RightParen)?;
        self.expect_key(Keyword::Values)?;
        self.expect(Kind::LeftParen)?;
        let terms = self.comma_separated(Self::term)?;
        self.expect(Kind::RightParen)?;
        self.insert_tail(table, InsertValues::Columns(columns, terms))
    }

    fn insert_json(&mut self, table: QualifiedName) -> Result<Insert> {
        self.expect_key(Keyword::Json)?;
        let pos = self.token.pos;
        let value = match self.kind() {
            Kind::String => Term { kind: TermKind::Literal(self.literal()?), pos },
            _ => self.marker_term()?,
        };
        let mut default_unset = false;
        if self.eat_key(Keyword::Default)? {
            default_unset = self.eat_key(Keyword::Unset)?;
            if !default_unset && !self.eat_key(Keyword::Null)? {
                return Err(self.no_viable());
            }
        }
        self.insert_tail(table, InsertValues::Json { value, default_unset })
    }

    fn insert_tail(&mut self, table: QualifiedName, values: InsertValues) -> Result<Insert> {
        let if_not_exists = self.if_not_exists()?;
        Ok(Insert { table, values, if_not_exists, using: self.using()? })
    }

    /// `USING ...`, if it is there.
    pub(super) fn using(&mut self) -> Result<Using> {
        let mut using = Using::default();
        if self.eat_key(Keyword::Using)? {
            self.and_separated(|parser| parser.using_item(&mut using))?;
        }
        Ok(using)
    }

    fn using_item(&mut self, using: &mut Using) -> Result<()> {
        if self.eat_key(Keyword::Timestamp)? {
            using.timestamp = Some(self.integer()?);
        } else if self.eat_key(Keyword::Ttl)? {
            using.ttl = Some(self.integer()?);
        } else {
            return Err(self.no_viable());
        }
        Ok(())
    }
}
