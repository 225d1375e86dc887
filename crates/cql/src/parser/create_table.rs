//! CREATE TABLE, and the column definitions and table options it shares.

use std::collections::BTreeSet;

use super::name::{is_function, is_name};
use super::term::begins_term;
use super::{Parser, Result};
use crate::ast::{ColumnDefinition, ColumnMask, CreateTable, FunctionName, Ident, PrimaryKey, TableOptions};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn create_table(&mut self) -> Result<CreateTable> {
        self.expect_keys(&[Keyword::Create, Keyword::Table])?;
        let if_not_exists = self.if_not_exists()?;
        let table = self.table_name()?;
        self.expect(Kind::LeftParen)?;
        let (mut columns, mut primary_keys) = (Vec::new(), Vec::new());
        self.table_element(&mut columns, &mut primary_keys)?;
        while self.eat(Kind::Comma)? {
            // A comma may stand alone.
            if is_name(self.kind()) || self.at_key(Keyword::Primary) {
                self.table_element(&mut columns, &mut primary_keys)?;
            }
        }
        self.expect(Kind::RightParen)?;
        Ok(CreateTable { table, if_not_exists, columns, primary_keys, options: self.table_options(true)? })
    }

    fn table_element(
        &mut self,
        columns: &mut Vec<ColumnDefinition>,
        primary_keys: &mut Vec<PrimaryKey>,
    ) -> Result<()> {
        if self.at_key(Keyword::Primary) {
            primary_keys.push(self.primary_key()?);
            return Ok(());
        }
        let mut column = self.column_definition()?;
        if self.eat_key(Keyword::Primary)? {
            self.expect_key(Keyword::Key)?;
            column.primary_key = true;
        }
        columns.push(column);
        Ok(())
    }

    /// `name type [STATIC] [MASKED WITH ...]`
    pub(super) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let name = self.ident()?;
        let cql_type = self.cql_type()?;
        let is_static = self.eat_key(Keyword::Static)?;
        let mask = if self.at_key(Keyword::Masked) { Some(self.column_mask()?) } else { None };
        Ok(ColumnDefinition { name, cql_type, is_static, mask, primary_key: false })
    }

    /// `MASKED WITH ...`
    pub(super) fn column_mask(&mut self) -> Result<ColumnMask> {
        if self.peek(1)? != Kind::Key(Keyword::With) {
            return Err(self.no_viable_ahead(1));
        }
        let function = self.peek(2)?;
        if !is_name(function) && !is_function(function) {
            return Err(self.no_viable_ahead(2));
        }
        let default = function == Kind::Key(Keyword::Default)
            && match self.peek(3)? {
                Kind::LeftParen | Kind::Dot => false,
                Kind::Eof
                | Kind::Semicolon
                | Kind::Comma
                | Kind::RightParen
                | Kind::Key(Keyword::Primary) => true,
                _ => return Err(self.no_viable_ahead(3)),
            };
        self.expect_keys(&[Keyword::Masked, Keyword::With])?;
        if default {
            self.advance()?;
            let function =
                FunctionName { keyspace: Some(Ident::new("system")), name: Ident::new("mask_default") };
            return Ok(ColumnMask { function, arguments: Vec::new() });
        }
        let function = self.function_name()?;
        if self.kind() != Kind::LeftParen {
            return Err(self.no_viable());
        }
        let first = self.peek(1)?;
        if first != Kind::RightParen && !begins_term(first) {
            return Err(self.no_viable_ahead(1));
        }
        self.expect(Kind::LeftParen)?;
        let arguments = self.terms()?;
        self.expect(Kind::RightParen)?;
        Ok(ColumnMask { function, arguments })
    }

    /// `PRIMARY KEY (...)`
    pub(super) fn primary_key(&mut self) -> Result<PrimaryKey> {
        let pos = self.token.pos;
        self.expect_keys(&[Keyword::Primary, Keyword::Key])?;
        self.expect(Kind::LeftParen)?;
        let partition = if self.eat(Kind::LeftParen)? {
            let columns = self.comma_separated(Self::ident)?;
            self.expect(Kind::RightParen)?;
            columns
        } else {
            vec![self.ident()?]
        };
        let mut clustering = Vec::new();
        while self.eat(Kind::Comma)? {
            clustering.push(self.ident()?);
        }
        self.expect(Kind::RightParen)?;
        Ok(PrimaryKey { partition, clustering, pos })
    }

    /// `WITH ...` of a table or view, if it is there.
    pub(super) fn table_options(&mut self, compact_storage_allowed: bool) -> Result<TableOptions> {
        let mut options = TableOptions::default();
        if self.eat_key(Keyword::With)? {
            let mut names = BTreeSet::new();
            self.and_separated(|parser| {
                parser.table_option(&mut options, &mut names, compact_storage_allowed)
            })?;
        }
        Ok(options)
    }

    fn table_option(
        &mut self,
        options: &mut TableOptions,
        names: &mut BTreeSet<String>,
        compact_storage_allowed: bool,
    ) -> Result<()> {
        match self.kind() {
            Kind::Key(Keyword::Compact) if self.peek(1)? == Kind::Key(Keyword::Storage) => {
                self.advance()?;
                self.advance()?;
                if !compact_storage_allowed {
                    return Err(
                        self.refused("COMPACT STORAGE tables are not allowed starting with version 4.0")
                    );
                }
                options.compact_storage = true;
            }
            Kind::Key(Keyword::Clustering) if self.peek(1)? == Kind::Key(Keyword::Order) => {
                self.advance()?;
                self.expect_keys(&[Keyword::Order, Keyword::By])?;
                self.expect(Kind::LeftParen)?;
                let order = self.comma_separated(|parser| {
                    let column = parser.ident()?;
                    match parser.optional_direction()? {
                        Some(direction) => Ok((column, direction)),
                        None => Err(parser.no_viable()),
                    }
                })?;
                options.clustering_order.extend(order);
                self.expect(Kind::RightParen)?;
            }
            _ => options.properties.push(self.property(names)?),
        }
        Ok(())
    }
}
