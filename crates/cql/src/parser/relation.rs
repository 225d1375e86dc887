//! WHERE relations and IF conditions.

use super::name::{is_column, is_name};
use super::term::begins_term;
use super::{Parser, Result};
use crate::ast::{
    ColumnPart, Condition, ConditionTest, Ident, IfClause, InValues, Operator, Relation, RelationKind, Term,
};
use crate::lexer::{Keyword, Kind};

/// The comparison a token is.
fn comparison(kind: Kind) -> Option<Operator> {
    Some(match kind {
        Kind::Equal => Operator::Eq,
        Kind::NotEq => Operator::Neq,
        Kind::Less => Operator::Lt,
        Kind::LessEq => Operator::Lte,
        Kind::Greater => Operator::Gt,
        Kind::GreaterEq => Operator::Gte,
        _ => return None,
    })
}

/// Whether the token may follow the column of a relation.
fn follows_relation_column(kind: Kind) -> bool {
    comparison(kind).is_some()
        || matches!(
            kind,
            Kind::LeftBracket | Kind::Key(Keyword::Like | Keyword::Is | Keyword::In | Keyword::Contains)
        )
}

impl Parser<'_> {
    /// `WHERE ...`, if it is there.
    pub(super) fn optional_where(&mut self) -> Result<Vec<Relation>> {
        if self.eat_key(Keyword::Where)? { self.and_separated(Self::relation) } else { Ok(Vec::new()) }
    }

    /// `WHERE ...`
    pub(super) fn where_clause(&mut self) -> Result<Vec<Relation>> {
        self.expect_key(Keyword::Where)?;
        self.and_separated(Self::relation)
    }

    fn relation(&mut self) -> Result<Relation> {
        let pos = self.token.pos;
        if self.kind() == Kind::Expr {
            self.advance()?;
            let index = self.bare_index_name()?;
            self.expect(Kind::Comma)?;
            let value = self.term()?;
            self.expect(Kind::RightParen)?;
            return Ok(Relation { kind: RelationKind::CustomIndex { index, value }, pos });
        }
        self.column_relation()
    }

    fn column_relation(&mut self) -> Result<Relation> {
        let pos = self.token.pos;
        let kind = match self.kind() {
            Kind::Key(Keyword::Token) => {
                self.advance()?;
                let columns = self.tuple_of_columns()?;
                let op = self.comparison()?;
                RelationKind::Token { columns, op, value: self.term()? }
            }
            Kind::LeftParen if self.parenthesized_relation()? => {
                self.advance()?;
                let relation = self.nested(Self::column_relation)?;
                self.expect(Kind::RightParen)?;
                return Ok(relation);
            }
            Kind::LeftParen => {
                let columns = self.tuple_of_columns()?;
                self.tuple_relation(columns)?
            }
            kind if is_column(kind) => self.single_column_relation()?,
            _ => return Err(self.no_viable()),
        };
        Ok(Relation { kind, pos })
    }

    /// Whether the current parenthesis stands around a relation, not around columns.
    fn parenthesized_relation(&mut self) -> Result<bool> {
        match self.peek(1)? {
            Kind::LeftParen | Kind::Key(Keyword::Token) => self.decided_by(1).map(|()| true),
            kind if is_column(kind) => match self.peek(2)? {
                Kind::Comma | Kind::RightParen => self.decided_by(2).map(|()| false),
                next if follows_relation_column(next) => self.decided_by(2).map(|()| true),
                _ => Err(self.no_viable_ahead(2)),
            },
            _ => Err(self.no_viable_ahead(1)),
        }
    }

    fn single_column_relation(&mut self) -> Result<RelationKind> {
        let next = self.peek(1)?;
        if !follows_relation_column(next) {
            return Err(self.no_viable_ahead(1));
        }
        if next == Kind::Key(Keyword::In)
            && !matches!(self.peek(2)?, Kind::LeftParen | Kind::QuestionMark | Kind::Colon)
        {
            return Err(self.no_viable_ahead(2));
        }
        self.decided_by(if next == Kind::Key(Keyword::In) { 2 } else { 1 })?;
        let column = self.column()?;
        match self.kind() {
            Kind::Key(Keyword::Is) => {
                self.advance()?;
                self.expect_keys(&[Keyword::Not, Keyword::Null])?;
                Ok(RelationKind::IsNotNull { column })
            }
            Kind::Key(Keyword::In) => {
                self.advance()?;
                Ok(RelationKind::In { column, values: self.in_values()? })
            }
            Kind::Key(Keyword::Like) => {
                self.advance()?;
                Ok(RelationKind::Column { column, op: Operator::Like, value: self.term()? })
            }
            Kind::Key(Keyword::Contains) => {
                let op = self.contains()?;
                Ok(RelationKind::Column { column, op, value: self.term()? })
            }
            Kind::LeftBracket => {
                self.advance()?;
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                let op = self.comparison()?;
                Ok(RelationKind::Element { column, key, op, value: self.term()? })
            }
            _ => {
                let op = self.comparison()?;
                Ok(RelationKind::Column { column, op, value: self.term()? })
            }
        }
    }

    fn tuple_relation(&mut self, columns: Vec<Ident>) -> Result<RelationKind> {
        if self.eat_key(Keyword::In)? {
            return Ok(RelationKind::TupleIn { columns, values: self.tuple_in_values()? });
        }
        if comparison(self.kind()).is_none() {
            return Err(self.no_viable());
        }
        match self.peek(1)? {
            Kind::LeftParen => {
                self.decided_by(1)?;
                let op = self.comparison()?;
                Ok(RelationKind::Tuple { columns, op, value: self.tuple_term()? })
            }
            Kind::QuestionMark | Kind::Colon => {
                self.decided_by(1)?;
                let op = self.comparison()?;
                Ok(RelationKind::Tuple { columns, op, value: self.marker_term()? })
            }
            _ => Err(self.no_viable_ahead(1)),
        }
    }

    /// What follows IN behind a tuple of columns.
    fn tuple_in_values(&mut self) -> Result<InValues> {
        match self.kind() {
            Kind::QuestionMark | Kind::Colon => return Ok(InValues::Marker(self.marker()?)),
            Kind::LeftParen => {}
            _ => return Err(self.no_viable()),
        }
        let item: fn(&mut Self) -> Result<Term> = match self.peek(1)? {
            Kind::RightParen => {
                self.advance()?;
                self.advance()?;
                return Ok(InValues::List(Vec::new()));
            }
            Kind::LeftParen => Self::tuple_term,
            Kind::QuestionMark | Kind::Colon => Self::marker_term,
            _ => return Err(self.no_viable_ahead(1)),
        };
        self.advance()?;
        let values = self.comma_separated(item)?;
        self.expect(Kind::RightParen)?;
        Ok(InValues::List(values))
    }

    /// What follows IN behind a column.
    fn in_values(&mut self) -> Result<InValues> {
        match self.kind() {
            Kind::QuestionMark | Kind::Colon => Ok(InValues::Marker(self.marker()?)),
            Kind::LeftParen => {
                self.advance()?;
                let values = self.terms()?;
                self.expect(Kind::RightParen)?;
                Ok(InValues::List(values))
            }
            _ => Err(self.no_viable()),
        }
    }

    fn comparison(&mut self) -> Result<Operator> {
        match comparison(self.kind()) {
            Some(op) => {
                self.advance()?;
                Ok(op)
            }
            None => Err(self.no_viable()),
        }
    }

    /// `CONTAINS [KEY]`
    fn contains(&mut self) -> Result<Operator> {
        self.expect_key(Keyword::Contains)?;
        // A term cannot begin with a bare `key`, but a function's keyspace may have that name.
        if self.at_key(Keyword::Key) && begins_term(self.peek(1)?) {
            self.advance()?;
            return Ok(Operator::ContainsKey);
        }
        Ok(Operator::Contains)
    }

    fn tuple_of_columns(&mut self) -> Result<Vec<Ident>> {
        self.expect(Kind::LeftParen)?;
        let columns = self.comma_separated(Self::column)?;
        self.expect(Kind::RightParen)?;
        Ok(columns)
    }

    /// `IF ...` of UPDATE and DELETE, if it is there.
    pub(super) fn if_clause(&mut self) -> Result<Option<IfClause>> {
        if !self.eat_key(Keyword::If)? {
            return Ok(None);
        }
        // A column may be named `exists`.
        if self.at_key(Keyword::Exists) && !self.tests_column_named_exists()? {
            self.advance()?;
            return Ok(Some(IfClause::Exists));
        }
        Ok(Some(IfClause::Conditions(self.and_separated(Self::condition)?)))
    }

    fn tests_column_named_exists(&mut self) -> Result<bool> {
        let next = self.peek(1)?;
        match next {
            Kind::Eof
            | Kind::Semicolon
            | Kind::Key(Keyword::Apply | Keyword::Insert | Keyword::Update | Keyword::Delete) => Ok(false),
            Kind::LeftBracket | Kind::Dot | Kind::Key(Keyword::In | Keyword::Contains) => Ok(true),
            _ if comparison(next).is_some() => Ok(true),
            _ => Err(self.no_viable_ahead(1)),
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        let column = self.column()?;
        let part = match self.kind() {
            Kind::LeftBracket => {
                self.advance()?;
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                ColumnPart::Element(key)
            }
            Kind::Dot => {
                self.advance()?;
                ColumnPart::Field(self.ident()?)
            }
            _ => ColumnPart::Whole,
        };
        let test = match self.kind() {
            Kind::Key(Keyword::Contains) if part == ColumnPart::Whole => {
                ConditionTest::Compare(self.contains()?, self.term()?)
            }
            Kind::Key(Keyword::In) => {
                self.advance()?;
                ConditionTest::In(self.in_values()?)
            }
            _ => ConditionTest::Compare(self.comparison()?, self.term()?),
        };
        Ok(Condition { column, part, test })
    }

    /// `c`, `c[t]` or `c.f` of DELETE.
    pub(super) fn column_part(&mut self) -> Result<(Ident, ColumnPart)> {
        if !is_column(self.kind()) {
            return Err(self.no_viable());
        }
        let next = self.peek(1)?;
        if matches!(next, Kind::LeftBracket | Kind::Dot | Kind::Comma | Kind::Key(Keyword::From)) {
            self.decided_by(1)?;
        }
        match next {
            Kind::LeftBracket => {
                let column = self.column()?;
                self.expect(Kind::LeftBracket)?;
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                Ok((column, ColumnPart::Element(key)))
            }
            Kind::Dot => {
                let column = self.column()?;
                self.expect(Kind::Dot)?;
                if !is_name(self.kind()) {
                    return Err(self.no_viable());
                }
                Ok((column, ColumnPart::Field(self.ident()?)))
            }
            Kind::Comma | Kind::Key(Keyword::From) => Ok((self.column()?, ColumnPart::Whole)),
            _ => Err(self.no_viable_ahead(1)),
        }
    }
}
