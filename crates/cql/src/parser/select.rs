//! SELECT.

use super::{Parser, Result};
use crate::ast::{Direction, Ordering, Select, Selector, Selectors};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Result<Select> {
        self.expect_key(Keyword::Select)?;
        let (json, distinct, selectors) = self.selection()?;
        self.expect_key(Keyword::From)?;
        let table = self.table_name()?;
        let where_clause = self.optional_where()?;
        let mut group_by = Vec::new();
        if self.eat_key(Keyword::Group)? {
            self.expect_key(Keyword::By)?;
            group_by = self.comma_separated(Self::selectable)?;
        }
        let mut order_by = Vec::new();
        if self.eat_key(Keyword::Order)? {
            self.expect_key(Keyword::By)?;
            order_by = self.comma_separated(Self::ordering)?;
        }
        let mut per_partition_limit = None;
        if self.eat_key(Keyword::Per)? {
            self.expect_keys(&[Keyword::Partition, Keyword::Limit])?;
            per_partition_limit = Some(self.integer()?);
        }
        let limit = if self.eat_key(Keyword::Limit)? { Some(self.integer()?) } else { None };
        let allow_filtering = self.eat_key(Keyword::Allow)?;
        if allow_filtering {
            self.expect_key(Keyword::Filtering)?;
        }
        Ok(Select {
            json,
            distinct,
            selectors,
            table,
            where_clause,
            group_by,
            order_by,
            per_partition_limit,
            limit,
            allow_filtering,
        })
    }

    /// `[JSON] [DISTINCT] selectors`
    fn selection(&mut self) -> Result<(bool, bool, Selectors)> {
        let json = self.selection_word(Keyword::Json, |parser| parser.select_clause().map(|_| ()))?;
        let (distinct, selectors) = self.select_clause()?;
        Ok((json, distinct, selectors))
    }

    /// `[DISTINCT] selectors`
    fn select_clause(&mut self) -> Result<(bool, Selectors)> {
        let distinct = self.selection_word(Keyword::Distinct, |parser| parser.selectors().map(|_| ()))?;
        Ok((distinct, self.selectors()?))
    }

    /// Passes `JSON` or `DISTINCT`, unless it is the name of a column: it is the word wherever `rest` can follow.
    fn selection_word(
        &mut self,
        word: Keyword,
        mut rest: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<bool> {
        if !self.at_key(word) {
            return Ok(false);
        }
        self.decided_by(1)?;
        let mark = self.mark();
        let found = self.attempt(|parser| parser.advance().and_then(|_| rest(parser)))?.is_some();
        self.reset(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// `*` or selectors.
    pub(super) fn selectors(&mut self) -> Result<Selectors> {
        if self.eat(Kind::Star)? {
            return Ok(Selectors::All);
        }
        Ok(Selectors::List(self.comma_separated(Self::selector)?))
    }

    fn selector(&mut self) -> Result<Selector> {
        let selectable = self.selectable()?;
        let alias = if self.eat_key(Keyword::As)? { Some(self.ident()?) } else { None };
        Ok(Selector { selectable, alias })
    }

    fn ordering(&mut self) -> Result<Ordering> {
        let column = self.column()?;
        let mut ann_of = None;
        if self.eat_key(Keyword::Ann)? {
            self.expect_key(Keyword::Of)?;
            ann_of = Some(self.term()?);
        }
        Ok(Ordering { column, ann_of, direction: self.optional_direction()?.unwrap_or_default() })
    }

    /// `ASC` or `DESC`, if it is there.
    pub(super) fn optional_direction(&mut self) -> Result<Option<Direction>> {
        Ok(if self.eat_key(Keyword::Asc)? {
            Some(Direction::Asc)
        } else if self.eat_key(Keyword::Desc)? {
            Some(Direction::Desc)
        } else {
            None
        })
    }
}
