//! Terms.

use super::name::{is_function, is_name, is_type, unquoted};
use super::types::native;
use super::{MAX_MARKERS, Parser, Result, float};
use crate::ast::{ArithmeticOp, Literal, LiteralKind, Marker, Term, TermKind};
use crate::lexer::{Keyword, Kind};

/// How a token is a literal, if it is one.
pub(super) fn literal_kind(kind: Kind) -> Option<LiteralKind> {
    Some(match kind {
        Kind::String => LiteralKind::String,
        Kind::Integer => LiteralKind::Integer,
        Kind::Float
        | Kind::PositiveNan
        | Kind::NegativeNan
        | Kind::PositiveInfinity
        | Kind::NegativeInfinity => LiteralKind::Float,
        Kind::Boolean => LiteralKind::Boolean,
        Kind::Duration => LiteralKind::Duration,
        Kind::Uuid => LiteralKind::Uuid,
        Kind::Hex => LiteralKind::Hex,
        _ => return None,
    })
}

/// Whether a term may begin with the token.
pub(super) fn begins_term(kind: Kind) -> bool {
    kind == Kind::Minus || begins_simple_term(kind)
}

fn begins_simple_term(kind: Kind) -> bool {
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

fn is_operator(kind: Kind) -> bool {
    matches!(kind, Kind::Plus | Kind::Minus | Kind::Star | Kind::Slash | Kind::Percent)
}

/// Whether the name may stand before `(`: a function's, or CAST.
fn may_be_called(kind: Kind) -> bool {
    is_function(kind) || kind == Kind::Key(Keyword::Cast)
}

/// Whether the token may follow a term somewhere in the grammar.
fn follows_term(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof
        | Kind::Semicolon
        | Kind::Comma
        | Kind::RightParen
        | Kind::RightBracket
        | Kind::RightBrace
        | Kind::Colon
        | Kind::Range => true,
        kind if is_operator(kind) => true,
        Kind::Key(keyword) => matches!(
            keyword,
            And | If
                | Where
                | Group
                | Order
                | Per
                | Limit
                | Allow
                | Asc
                | Desc
                | Apply
                | Insert
                | Update
                | Delete
                | Primary
        ),
        _ => false,
    }
}

impl Parser<'_> {
    /// A term.
    pub(super) fn term(&mut self) -> Result<Term> {
        self.expression(Self::addition)
    }

    fn addition(&mut self) -> Result<Term> {
        let mut left = self.multiplication()?;
        loop {
            let op = match self.kind() {
                Kind::Plus if self.adds_column()? => return Ok(left),
                Kind::Plus => ArithmeticOp::Add,
                Kind::Minus => ArithmeticOp::Subtract,
                kind if follows_term(kind) => {
                    self.decided_by(0)?;
                    return Ok(left);
                }
                _ => return Err(self.no_viable()),
            };
            self.advance()?;
            left = self.binary(op, left, Self::multiplication)?;
        }
    }

    /// Whether the current `+` is that of `SET c = [1] + c`, not one between terms.
    fn adds_column(&mut self) -> Result<bool> {
        let next = self.peek(1)?;
        let (adds, by) = match next {
            Kind::EmptyQuotedName => (true, 1),
            _ if is_name(next) => match self.peek(2)? {
                Kind::LeftParen if may_be_called(next) => (false, 2),
                Kind::Dot => (false, 2),
                Kind::Comma | Kind::Key(Keyword::Where) => (true, 2),
                _ => return Err(self.no_viable_ahead(2)),
            },
            _ if begins_term(next) => (false, 1),
            _ => return Err(self.no_viable_ahead(1)),
        };
        self.decided_by(by)?;
        Ok(adds)
    }

    fn multiplication(&mut self) -> Result<Term> {
        let mut left = self.signed()?;
        loop {
            let op = match self.kind() {
                Kind::Star => ArithmeticOp::Multiply,
                Kind::Slash => ArithmeticOp::Divide,
                Kind::Percent => ArithmeticOp::Modulo,
                _ => return Ok(left),
            };
            self.advance()?;
            left = self.binary(op, left, Self::signed)?;
        }
    }

    fn binary(&mut self, op: ArithmeticOp, left: Term, right: fn(&mut Self) -> Result<Term>) -> Result<Term> {
        self.chained()?;
        let pos = left.pos;
        let right = right(self)?;
        Ok(Term { kind: TermKind::Arithmetic(op, Box::new(left), Box::new(right)), pos })
    }

    fn signed(&mut self) -> Result<Term> {
        let pos = self.token.pos;
        if self.eat(Kind::Minus)? {
            let term = self.simple_term()?;
            return Ok(Term { kind: TermKind::Negation(Box::new(term)), pos });
        }
        self.simple_term()
    }

    fn simple_term(&mut self) -> Result<Term> {
        let pos = self.token.pos;
        let kind = match self.kind() {
            kind if literal_kind(kind).is_some() => TermKind::Literal(self.literal()?),
            Kind::Key(Keyword::Null) => {
                self.advance()?;
                TermKind::Null
            }
            Kind::Colon => TermKind::Marker(self.marker()?),
            Kind::QuestionMark => match self.peek(1)? {
                Kind::Dot => self.function()?,
                next if follows_term(next) || next == Kind::Key(Keyword::As) => {
                    self.decided_by(1)?;
                    TermKind::Marker(self.marker()?)
                }
                _ => return Err(self.no_viable_ahead(1)),
            },
            Kind::LeftBracket => {
                self.advance()?;
                let items = self.terms()?;
                self.expect(Kind::RightBracket)?;
                TermKind::List(items)
            }
            Kind::LeftBrace => self.braces()?,
            Kind::LeftParen => self.parentheses()?,
            Kind::Key(Keyword::Cast) if self.peek(1)? == Kind::LeftParen => self.cast()?,
            kind if is_name(kind) || is_function(kind) => self.function()?,
            _ => return Err(self.no_viable()),
        };
        Ok(Term { kind, pos })
    }

    /// Terms separated by commas, possibly none.
    pub(super) fn terms(&mut self) -> Result<Vec<Term>> {
        if begins_term(self.kind()) { self.comma_separated(Self::term) } else { Ok(Vec::new()) }
    }

    fn function(&mut self) -> Result<TermKind> {
        let open = match self.peek(1)? {
            Kind::LeftParen if is_function(self.kind()) => 1,
            Kind::Dot if is_name(self.kind()) || self.kind() == Kind::QuestionMark => {
                if !is_function(self.peek(2)?) {
                    return Err(self.no_viable_ahead(2));
                }
                if self.peek(3)? != Kind::LeftParen {
                    return Err(self.no_viable_ahead(3));
                }
                3
            }
            _ => return Err(self.no_viable_ahead(1)),
        };
        let first = self.peek(open + 1)?;
        if first != Kind::RightParen && !begins_term(first) {
            return Err(self.no_viable_ahead(open + 1));
        }
        self.decided_by(open + 1)?;
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments = self.terms()?;
        self.expect(Kind::RightParen)?;
        Ok(TermKind::Function(name, arguments))
    }

    fn cast(&mut self) -> Result<TermKind> {
        self.advance()?;
        self.expect(Kind::LeftParen)?;
        let term = self.nested(Self::simple_term)?;
        self.expect_key(Keyword::As)?;
        let native = self.native_type()?;
        self.expect(Kind::RightParen)?;
        Ok(TermKind::Cast(Box::new(term), native))
    }

    /// `{...}`: a set, a map, or a user type if plain names stand before the colons.
    fn braces(&mut self) -> Result<TermKind> {
        let first = self.peek(1)?;
        if is_name(first) {
            match self.peek(2)? {
                Kind::Colon => {
                    self.decided_by(2)?;
                    return self.user_type();
                }
                Kind::LeftParen if may_be_called(first) => self.decided_by(2)?,
                Kind::Dot => self.decided_by(2)?,
                _ => return Err(self.no_viable_ahead(2)),
            }
        } else if begins_term(first) || first == Kind::RightBrace {
            self.decided_by(1)?;
        } else {
            return Err(self.no_viable_ahead(1));
        }
        self.advance()?;
        if self.eat(Kind::RightBrace)? {
            return Ok(TermKind::Set(Vec::new()));
        }
        let first = self.term()?;
        match self.kind() {
            Kind::Colon => {
                self.advance()?;
                let mut entries = vec![(first, self.term()?)];
                if self.eat(Kind::Comma)? {
                    entries.extend(self.comma_separated(Self::map_entry)?);
                }
                self.expect(Kind::RightBrace)?;
                Ok(TermKind::Map(entries))
            }
            Kind::Comma | Kind::RightBrace => {
                let mut items = vec![first];
                if self.eat(Kind::Comma)? {
                    items.extend(self.comma_separated(Self::term)?);
                }
                self.expect(Kind::RightBrace)?;
                Ok(TermKind::Set(items))
            }
            _ => Err(self.no_viable()),
        }
    }

    /// `key: value`
    pub(super) fn map_entry(&mut self) -> Result<(Term, Term)> {
        let key = self.term()?;
        self.expect(Kind::Colon)?;
        Ok((key, self.term()?))
    }

    fn user_type(&mut self) -> Result<TermKind> {
        self.expect(Kind::LeftBrace)?;
        let fields = self.comma_separated(|parser| {
            let field = parser.ident()?;
            parser.expect(Kind::Colon)?;
            Ok((field, parser.term()?))
        })?;
        self.expect(Kind::RightBrace)?;
        Ok(TermKind::UserType(fields))
    }

    /// `(...)`: a tuple, or the type of what follows.
    fn parentheses(&mut self) -> Result<TermKind> {
        if self.hints_type()? {
            self.expect(Kind::LeftParen)?;
            let cql_type = self.cql_type()?;
            self.expect(Kind::RightParen)?;
            let term = self.nested(Self::simple_term)?;
            return Ok(TermKind::TypeHint(cql_type, Box::new(term)));
        }
        self.tuple()
    }

    /// Whether the parenthesis holds the type of what follows.
    fn hints_type(&mut self) -> Result<bool> {
        let first = self.peek(1)?;
        let (hints, by) = match first {
            Kind::String => self.string_hints_type()?,
            Kind::Key(Keyword::Set) => (true, 1),
            _ if is_name(first) => self.name_hints_type(first)?,
            _ if begins_term(first) => (false, 1),
            _ => return Err(self.no_viable_ahead(1)),
        };
        self.decided_by(by)?;
        Ok(hints)
    }

    /// The same where a name stands in the parenthesis, and which token tells.
    fn name_hints_type(&mut self, name: Kind) -> Result<(bool, usize)> {
        use Keyword::*;
        let type_word = matches!(name, Kind::Key(List | Map | Tuple | Vector | Frozen));
        match self.peek(2)? {
            Kind::LeftParen if may_be_called(name) => Ok((false, 2)),
            Kind::RightParen if is_type(name) || native(name).is_some() => Ok((true, 2)),
            Kind::Less if type_word => Ok((true, 2)),
            Kind::Dot => match self.peek(3)? {
                Kind::Key(Token | Count) => Ok((false, 3)),
                Kind::Key(Key) => Ok((true, 3)),
                name if native(name).is_some() => Ok((false, 3)),
                name if is_type(name) => match self.peek(4)? {
                    Kind::LeftParen => Ok((false, 4)),
                    Kind::RightParen => Ok((true, 4)),
                    _ => Err(self.no_viable_ahead(4)),
                },
                _ => Err(self.no_viable_ahead(3)),
            },
            _ => Err(self.no_viable_ahead(2)),
        }
    }

    /// The same where a string stands in the parenthesis: a Java class, or a text in a tuple.
    fn string_hints_type(&mut self) -> Result<(bool, usize)> {
        match self.peek(2)? {
            Kind::RightParen => {}
            next if next == Kind::Comma || is_operator(next) => return Ok((false, 2)),
            _ => return Err(self.no_viable_ahead(2)),
        }
        let next = self.peek(3)?;
        let behind = match next {
            Kind::Colon | Kind::Key(Keyword::As | Keyword::Group | Keyword::Per) => self.peek(4)?,
            _ if begins_simple_term(next) => return Ok((true, 3)),
            _ if follows_term(next) => return Ok((false, 3)),
            _ => return Err(self.no_viable_ahead(3)),
        };
        match (next, behind) {
            // `{('a') : 1}` is a map with a tuple for a key, `('a') :a` a named marker of type `a`.
            (Kind::Colon, name) if is_name(name) => match self.peek(5)? {
                Kind::LeftParen if may_be_called(name) => Ok((false, 5)),
                Kind::Dot => Ok((false, 5)),
                end if follows_term(end) || end == Kind::Key(Keyword::As) => Ok((true, 5)),
                _ => Err(self.no_viable_ahead(5)),
            },
            (Kind::Colon, value) if begins_term(value) => Ok((false, 4)),
            (Kind::Colon, _) => Err(self.no_viable_ahead(4)),
            (_, Kind::LeftParen | Kind::Dot) => Ok((true, 4)),
            (Kind::Key(Keyword::As), word) if native(word).is_some() => Ok((false, 4)),
            (Kind::Key(Keyword::Group), Kind::Key(Keyword::By)) => Ok((false, 4)),
            (Kind::Key(Keyword::Per), Kind::Key(Keyword::Partition)) => Ok((false, 4)),
            _ => Err(self.no_viable_ahead(4)),
        }
    }

    /// `(a, b)`
    fn tuple(&mut self) -> Result<TermKind> {
        self.expect(Kind::LeftParen)?;
        let items = self.comma_separated(Self::term)?;
        self.expect(Kind::RightParen)?;
        Ok(TermKind::Tuple(items))
    }

    /// A tuple where nothing else may stand.
    pub(super) fn tuple_term(&mut self) -> Result<Term> {
        let pos = self.token.pos;
        let kind = self.expression(Self::tuple)?;
        Ok(Term { kind, pos })
    }

    /// A constant.
    pub(super) fn literal(&mut self) -> Result<Literal> {
        let Some(kind) = literal_kind(self.kind()) else {
            return Err(self.no_viable());
        };
        let token = self.advance()?;
        let text = match token.kind {
            Kind::PositiveNan | Kind::NegativeNan => "NaN".to_owned(),
            Kind::PositiveInfinity => "Infinity".to_owned(),
            Kind::NegativeInfinity => "-Infinity".to_owned(),
            _ => unquoted(token).into_owned(),
        };
        if token.kind == Kind::Float
            && let Err(why) = float::check(&text)
        {
            return Err(self.failed(&format!("NumberFormatException {why}")));
        }
        Ok(Literal { kind, text, pos: token.pos })
    }

    /// `?` or `:name`
    pub(super) fn marker(&mut self) -> Result<Marker> {
        let pos = self.token.pos;
        if self.markers.len() >= MAX_MARKERS {
            return Err(self.refused(format!("The statement has more than {MAX_MARKERS} bind markers")));
        }
        let name = match self.kind() {
            Kind::QuestionMark => {
                self.advance()?;
                None
            }
            Kind::Colon => {
                self.advance()?;
                Some(self.ident()?)
            }
            _ => return Err(self.no_viable()),
        };
        let index = u16::try_from(self.markers.len()).unwrap_or(u16::MAX);
        let marker = Marker { index, name, pos };
        self.markers.push(marker.clone());
        Ok(marker)
    }

    /// A marker as a term.
    pub(super) fn marker_term(&mut self) -> Result<Term> {
        let pos = self.token.pos;
        Ok(Term { kind: TermKind::Marker(self.marker()?), pos })
    }

    /// An integer or a marker, as LIMIT and USING take them.
    pub(super) fn integer(&mut self) -> Result<Term> {
        let pos = self.token.pos;
        if self.kind() == Kind::Integer {
            return Ok(Term { kind: TermKind::Literal(self.literal()?), pos });
        }
        self.marker_term()
    }
}
