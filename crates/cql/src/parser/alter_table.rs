//! ALTER TABLE.

use super::name::{is_column, is_name};
use super::{Parser, Result};
use crate::ast::{AlterTable, Ident, TableChange};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn alter_table(&mut self) -> Result<AlterTable> {
        self.expect_keys(&[Keyword::Alter, Keyword::Table])?;
        let if_exists = self.if_exists()?;
        let table = self.table_name()?;
        let change = match self.kind() {
            Kind::Key(Keyword::Alter) => self.alter_column()?,
            Kind::Key(Keyword::Add) => self.add_columns()?,
            Kind::Key(Keyword::Drop) => self.drop_columns()?,
            Kind::Key(Keyword::Rename) => {
                self.advance()?;
                TableChange::Rename { if_exists: self.if_exists()?, columns: self.renames()? }
            }
            Kind::Key(Keyword::With) => {
                self.advance()?;
                TableChange::With(self.properties()?)
            }
            _ => return Err(self.no_viable()),
        };
        Ok(AlterTable { table, if_exists, change })
    }

    fn alter_column(&mut self) -> Result<TableChange> {
        self.check_alter_column()?;
        self.advance()?;
        let if_exists = self.if_exists()?;
        let column = self.column()?;
        match self.kind() {
            Kind::Key(Keyword::Type) if !if_exists => {
                self.advance()?;
                Ok(TableChange::AlterType { column, cql_type: self.cql_type()? })
            }
            Kind::Key(Keyword::Masked) => {
                Ok(TableChange::Mask { if_exists, column, mask: Some(self.column_mask()?) })
            }
            Kind::Key(Keyword::Drop) => {
                self.expect_keys(&[Keyword::Drop, Keyword::Masked])?;
                Ok(TableChange::Mask { if_exists, column, mask: None })
            }
            _ => Err(self.no_viable()),
        }
    }

    /// Cassandra chooses the kind of change at ALTER already.
    fn check_alter_column(&mut self) -> Result<()> {
        let next = self.peek(1)?;
        if next == Kind::Key(Keyword::If) {
            return Ok(());
        }
        if !is_column(next) {
            return Err(self.no_viable_ahead(1));
        }
        match self.peek(2)? {
            Kind::Key(Keyword::Type | Keyword::Masked | Keyword::Drop) => Ok(()),
            _ => Err(self.no_viable_ahead(2)),
        }
    }

    fn add_columns(&mut self) -> Result<TableChange> {
        self.advance()?;
        let if_not_exists = self.if_not_exists()?;
        let columns = if self.eat(Kind::LeftParen)? {
            let columns = self.comma_separated(Self::column_definition)?;
            self.expect(Kind::RightParen)?;
            columns
        } else {
            vec![self.column_definition()?]
        };
        Ok(TableChange::Add { if_not_exists, columns })
    }

    fn drop_columns(&mut self) -> Result<TableChange> {
        match self.peek(1)? {
            Kind::Key(Keyword::Compact) => self.check_drop_compact()?,
            next if is_name(next) || matches!(next, Kind::LeftParen | Kind::Key(Keyword::If)) => {}
            _ => return Err(self.no_viable_ahead(1)),
        }
        if self.peek(1)? == Kind::Key(Keyword::Compact) && self.peek(2)? == Kind::Key(Keyword::Storage) {
            self.expect_keys(&[Keyword::Drop, Keyword::Compact, Keyword::Storage])?;
            return Ok(TableChange::DropCompactStorage);
        }
        self.advance()?;
        let if_exists = self.if_exists()?;
        let columns = if self.eat(Kind::LeftParen)? {
            let columns = self.comma_separated(Self::ident)?;
            self.expect(Kind::RightParen)?;
            columns
        } else if is_name(self.kind()) {
            vec![self.ident()?]
        } else {
            return Err(self.no_viable());
        };
        let mut timestamp = None;
        if self.eat_key(Keyword::Using)? {
            self.expect_key(Keyword::Timestamp)?;
            let token = self.expect(Kind::Integer)?;
            let parsed = token.text.parse().map_err(|_| {
                self.failed(&format!("NumberFormatException For input string: \"{}\"", token.text))
            })?;
            timestamp = Some(parsed);
        }
        Ok(TableChange::Drop { if_exists, columns, timestamp })
    }

    /// `DROP compact` may go on as the name of a column or as `COMPACT STORAGE`, in no other way.
    fn check_drop_compact(&mut self) -> Result<()> {
        match self.peek(2)? {
            Kind::Key(Keyword::Storage | Keyword::Using) | Kind::Eof | Kind::Semicolon => Ok(()),
            _ => Err(self.no_viable_ahead(2)),
        }
    }

    /// `a TO b AND ...`
    pub(super) fn renames(&mut self) -> Result<Vec<(Ident, Ident)>> {
        self.and_separated(|parser| {
            let from = parser.ident()?;
            parser.expect_key(Keyword::To)?;
            Ok((from, parser.ident()?))
        })
    }
}
