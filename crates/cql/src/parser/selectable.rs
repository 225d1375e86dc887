//! Selectables.

use super::name::{is_function, is_name};
use super::term::{begins_term, literal_kind};
use super::{Parser, Result};
use crate::ast::{ArithmeticOp, CellAttribute, Selectable, SelectableKind};
use crate::lexer::{Keyword, Kind};

/// Whether the token may follow a column in a selection or GROUP BY.
fn follows_column(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof
        | Kind::Semicolon
        | Kind::Comma
        | Kind::RightParen
        | Kind::RightBracket
        | Kind::RightBrace
        | Kind::Colon
        | Kind::LeftBracket
        | Kind::Plus
        | Kind::Minus
        | Kind::Star
        | Kind::Slash
        | Kind::Percent => true,
        Kind::Key(keyword) => matches!(keyword, From | As | Order | Per | Limit | Allow),
        _ => false,
    }
}

/// Whether a selectable may begin with the token.
pub(super) fn begins_selectable(kind: Kind) -> bool {
    kind == Kind::Minus || begins_operand(kind)
}

/// The same without a sign (`selectionGroupWithoutField`).
fn begins_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Colon
            | Kind::QuestionMark
            | Kind::LeftBracket
            | Kind::LeftBrace
            | Kind::LeftParen
            | Kind::Key(Keyword::Null | Keyword::Token)
    ) || literal_kind(kind).is_some()
        || is_name(kind)
}

impl Parser<'_> {
    /// Anything that can be selected or grouped by (`unaliasedSelector`).
    pub(super) fn selectable(&mut self) -> Result<Selectable> {
        self.expression(Self::selectable_sum)
    }

    fn selectable_sum(&mut self) -> Result<Selectable> {
        let mut left = self.selectable_product()?;
        loop {
            let op = match self.kind() {
                Kind::Plus => ArithmeticOp::Add,
                Kind::Minus => ArithmeticOp::Subtract,
                _ => return Ok(left),
            };
            self.advance()?;
            left = self.selectable_binary(op, left, Self::selectable_product)?;
        }
    }

    fn selectable_product(&mut self) -> Result<Selectable> {
        let mut left = self.selectable_signed()?;
        loop {
            let op = match self.kind() {
                Kind::Star => ArithmeticOp::Multiply,
                Kind::Slash => ArithmeticOp::Divide,
                Kind::Percent => ArithmeticOp::Modulo,
                _ => return Ok(left),
            };
            self.advance()?;
            left = self.selectable_binary(op, left, Self::selectable_signed)?;
        }
    }

    fn selectable_binary(
        &mut self,
        op: ArithmeticOp,
        left: Selectable,
        right: fn(&mut Self) -> Result<Selectable>,
    ) -> Result<Selectable> {
        self.chained()?;
        let pos = left.pos;
        let right = right(self)?;
        Ok(Selectable { kind: SelectableKind::Arithmetic(op, Box::new(left), Box::new(right)), pos })
    }

    fn selectable_signed(&mut self) -> Result<Selectable> {
        let pos = self.token.pos;
        if self.eat(Kind::Minus)? {
            let inner = self.nested(Self::selectable_signed)?;
            return Ok(Selectable { kind: SelectableKind::Negation(Box::new(inner)), pos });
        }
        if begins_operand(self.kind()) {
            self.decided_by(1)?;
        }
        let base = self.operand()?;
        if !matches!(self.kind(), Kind::Dot | Kind::LeftBracket) {
            return Ok(base);
        }
        // Where a selection is wrong inside, Cassandra complains about its beginning.
        let unselected = base.clone();
        Ok(self.attempt(|parser| parser.selections(base))?.unwrap_or(unselected))
    }

    /// Any number of `.field`, `[key]` and `[from..to]` behind `base`.
    fn selections(&mut self, mut base: Selectable) -> Result<Selectable> {
        loop {
            let pos = base.pos;
            let kind = match self.kind() {
                Kind::Dot => {
                    self.chained()?;
                    self.advance()?;
                    SelectableKind::Field(Box::new(base), self.ident()?)
                }
                Kind::LeftBracket => {
                    self.chained()?;
                    self.advance()?;
                    let kind = self.element_or_slice(base)?;
                    self.expect(Kind::RightBracket)?;
                    kind
                }
                kind if kind != Kind::Semicolon && follows_column(kind) => return Ok(base),
                _ => return Err(self.no_viable()),
            };
            base = Selectable { kind, pos };
        }
    }

    fn element_or_slice(&mut self, base: Selectable) -> Result<SelectableKind> {
        let base = Box::new(base);
        if self.eat(Kind::Range)? {
            return Ok(SelectableKind::Slice(base, None, Some(self.term()?)));
        }
        let from = self.term()?;
        if !self.eat(Kind::Range)? {
            return Ok(SelectableKind::Element(base, from));
        }
        let to = if begins_term(self.kind()) { Some(self.term()?) } else { None };
        Ok(SelectableKind::Slice(base, Some(from), to))
    }

    /// A selectable without operators and selections (`selectionGroupWithoutField`).
    fn operand(&mut self) -> Result<Selectable> {
        let pos = self.token.pos;
        let kind = match self.kind() {
            kind if literal_kind(kind).is_some() => SelectableKind::Literal(self.literal()?),
            Kind::Key(Keyword::Null) => {
                self.advance()?;
                SelectableKind::Null
            }
            Kind::QuestionMark if self.peek(1)? == Kind::Dot && self.calls_behind_dot()? => {
                self.selectable_function()?
            }
            Kind::QuestionMark if self.peek(1)? != Kind::Dot && !follows_column(self.peek(1)?) => {
                return Err(self.no_viable_ahead(1));
            }
            Kind::QuestionMark => {
                self.decided_by(1)?;
                SelectableKind::Marker(self.marker()?)
            }
            Kind::Colon => SelectableKind::Marker(self.marker()?),
            Kind::LeftBracket => {
                self.advance()?;
                let items = self.selectables()?;
                self.expect(Kind::RightBracket)?;
                SelectableKind::List(items)
            }
            Kind::LeftBrace => self.selectable_braces()?,
            Kind::LeftParen => self.selectable_parentheses()?,
            kind if is_name(kind) || is_function(kind) => self.column_or_function()?,
            _ => return Err(self.no_viable()),
        };
        Ok(Selectable { kind, pos })
    }

    /// Selectables separated by commas, possibly none.
    fn selectables(&mut self) -> Result<Vec<Selectable>> {
        if begins_selectable(self.kind()) { self.comma_separated(Self::selectable) } else { Ok(Vec::new()) }
    }

    fn column_or_function(&mut self) -> Result<SelectableKind> {
        match (self.kind(), self.peek(1)?) {
            (Kind::Key(Keyword::Token), _) => self.selectable_function(),
            (Kind::Key(Keyword::Count), Kind::LeftParen) if self.peek(2)? == Kind::Star => {
                self.advance()?;
                self.expect(Kind::LeftParen)?;
                self.expect(Kind::Star)?;
                self.expect(Kind::RightParen)?;
                Ok(SelectableKind::CountRows)
            }
            (Kind::Key(Keyword::Count), Kind::LeftParen)
                if self.peek(2)? != Kind::RightParen && !begins_selectable(self.peek(2)?) =>
            {
                Err(self.no_viable_ahead(2))
            }
            (Kind::Key(Keyword::Writetime), Kind::LeftParen) => self.cell_attribute(CellAttribute::WriteTime),
            (Kind::Key(Keyword::Maxwritetime), Kind::LeftParen) => {
                self.cell_attribute(CellAttribute::MaxWriteTime)
            }
            (Kind::Key(Keyword::Ttl), Kind::LeftParen) => self.cell_attribute(CellAttribute::Ttl),
            (Kind::Key(Keyword::Cast), Kind::LeftParen) => self.selectable_cast(),
            (kind, Kind::LeftParen) if is_function(kind) => self.selectable_function(),
            (kind, Kind::Dot) if is_name(kind) => {
                if self.calls_behind_dot()? {
                    return self.selectable_function();
                }
                Ok(SelectableKind::Column(self.ident()?))
            }
            (kind, next) if is_name(kind) && follows_column(next) => {
                self.decided_by(1)?;
                Ok(SelectableKind::Column(self.ident()?))
            }
            _ => Err(self.no_viable_ahead(1)),
        }
    }

    /// Whether the `.` behind the current name stands before a function, not before a field.
    fn calls_behind_dot(&mut self) -> Result<bool> {
        let name = self.peek(2)?;
        let (calls, by) = match name {
            Kind::Key(Keyword::Token) => (true, 2),
            _ if is_function(name) => match self.peek(3)? {
                Kind::LeftParen => (true, 3),
                next if follows_column(next) || next == Kind::Dot => (false, 3),
                _ => return Err(self.no_viable_ahead(3)),
            },
            _ if is_name(name) => (false, 2),
            _ => return Err(self.no_viable_ahead(2)),
        };
        self.decided_by(by)?;
        Ok(calls)
    }

    fn selectable_function(&mut self) -> Result<SelectableKind> {
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments = self.selectables()?;
        self.expect(Kind::RightParen)?;
        Ok(SelectableKind::Function(name, arguments))
    }

    fn selectable_cast(&mut self) -> Result<SelectableKind> {
        self.advance()?;
        self.expect(Kind::LeftParen)?;
        let inner = self.selectable()?;
        self.expect_key(Keyword::As)?;
        let native = self.native_type()?;
        self.expect(Kind::RightParen)?;
        Ok(SelectableKind::Cast(Box::new(inner), native))
    }

    fn cell_attribute(&mut self, attribute: CellAttribute) -> Result<SelectableKind> {
        self.advance()?;
        self.expect(Kind::LeftParen)?;
        let pos = self.token.pos;
        let column = Selectable { kind: SelectableKind::Column(self.ident()?), pos };
        if !matches!(self.kind(), Kind::Dot | Kind::LeftBracket) && !follows_column(self.kind()) {
            return Err(self.no_viable());
        }
        let selected = self.selections(column)?;
        self.expect(Kind::RightParen)?;
        Ok(SelectableKind::CellAttribute(attribute, Box::new(selected)))
    }

    /// `{...}`: a set, a map or a user type.
    fn selectable_braces(&mut self) -> Result<SelectableKind> {
        let first = self.peek(1)?;
        if first != Kind::RightBrace && !begins_selectable(first) {
            return Err(self.no_viable_ahead(1));
        }
        self.expect(Kind::LeftBrace)?;
        if self.eat(Kind::RightBrace)? {
            return Ok(SelectableKind::Set(Vec::new()));
        }
        let first = self.selectable()?;
        let kind = match self.kind() {
            Kind::Colon => {
                self.advance()?;
                let mut entries = vec![(first, self.selectable()?)];
                while self.eat(Kind::Comma)? {
                    let key = self.selectable()?;
                    self.expect(Kind::Colon)?;
                    entries.push((key, self.selectable()?));
                }
                SelectableKind::MapOrUserType(entries)
            }
            Kind::Comma | Kind::RightBrace => {
                let mut items = vec![first];
                while self.eat(Kind::Comma)? {
                    items.push(self.selectable()?);
                }
                SelectableKind::Set(items)
            }
            _ => return Err(self.no_viable()),
        };
        self.expect(Kind::RightBrace)?;
        Ok(kind)
    }

    /// `(...)`: parentheses, a tuple, or the type of what follows.
    fn selectable_parentheses(&mut self) -> Result<SelectableKind> {
        self.decided_by(1)?;
        // Where it is read as a type and that goes wrong, Cassandra takes the parentheses for a tuple.
        if let Some(hint) = self.attempt(Self::selectable_type_hint)? {
            return Ok(hint);
        }
        self.expect(Kind::LeftParen)?;
        let items = self.comma_separated(Self::selectable)?;
        self.expect(Kind::RightParen)?;
        Ok(SelectableKind::ParenthesesOrTuple(items))
    }

    fn selectable_type_hint(&mut self) -> Result<SelectableKind> {
        self.expect(Kind::LeftParen)?;
        let cql_type = self.cql_type()?;
        self.expect(Kind::RightParen)?;
        let operand = self.nested(Self::operand)?;
        Ok(SelectableKind::TypeHint(cql_type, Box::new(operand)))
    }
}
