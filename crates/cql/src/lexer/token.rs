//! What the lexer hands out.

use super::keyword::Keyword;
use crate::ast::Pos;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The end of the text.
    Eof,
    /// White space or a comment; the parser never sees it.
    Hidden,
    /// A keyword, in any case.
    Key(Keyword),
    Ident,
    QuotedName,
    /// `""`
    EmptyQuotedName,
    String,
    Integer,
    Float,
    Boolean,
    Duration,
    Uuid,
    Hex,
    PositiveNan,
    NegativeNan,
    PositiveInfinity,
    NegativeInfinity,
    QuestionMark,
    /// `..`
    Range,
    /// `expr(`, in lower case and without space: one token in Cassandra's grammar.
    Expr,
    NotEq,
    Percent,
    LeftParen,
    RightParen,
    Plus,
    PlusEq,
    Comma,
    Minus,
    MinusEq,
    Dot,
    Slash,
    Colon,
    Semicolon,
    Less,
    LessEq,
    Equal,
    Greater,
    GreaterEq,
    LeftBracket,
    Star,
    RightBracket,
    LeftBrace,
    RightBrace,
}

impl Kind {
    /// The name Cassandra's messages give to the token.
    pub(crate) fn token_name(self) -> &'static str {
        match self {
            Kind::Eof => "EOF",
            Kind::Hidden => "WS",
            Kind::Key(keyword) => keyword.token_name(),
            Kind::Ident => "IDENT",
            Kind::QuotedName => "QUOTED_NAME",
            Kind::EmptyQuotedName => "EMPTY_QUOTED_NAME",
            Kind::String => "STRING_LITERAL",
            Kind::Integer => "INTEGER",
            Kind::Float => "FLOAT",
            Kind::Boolean => "BOOLEAN",
            Kind::Duration => "DURATION",
            Kind::Uuid => "UUID",
            Kind::Hex => "HEXNUMBER",
            Kind::PositiveNan => "K_POSITIVE_NAN",
            Kind::NegativeNan => "K_NEGATIVE_NAN",
            Kind::PositiveInfinity => "K_POSITIVE_INFINITY",
            Kind::NegativeInfinity => "K_NEGATIVE_INFINITY",
            Kind::QuestionMark => "QMARK",
            Kind::Range => "RANGE",
            Kind::Expr => "'expr('",
            Kind::NotEq => "'!='",
            Kind::Percent => "'%'",
            Kind::LeftParen => "'('",
            Kind::RightParen => "')'",
            Kind::Plus => "'+'",
            Kind::PlusEq => "'+='",
            Kind::Comma => "','",
            Kind::Minus => "'-'",
            Kind::MinusEq => "'-='",
            Kind::Dot => "'.'",
            Kind::Slash => "'/'",
            Kind::Colon => "':'",
            Kind::Semicolon => "';'",
            Kind::Less => "'<'",
            Kind::LessEq => "'<='",
            Kind::Equal => "'='",
            Kind::Greater => "'>'",
            Kind::GreaterEq => "'>='",
            Kind::LeftBracket => "'['",
            Kind::Star => "'\\\\*'",
            Kind::RightBracket => "']'",
            Kind::LeftBrace => "'{'",
            Kind::RightBrace => "'}'",
        }
    }
}

/// A token: its kind and its part of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    /// As written, with quotes.
    pub(crate) text: &'a str,
    /// Bytes before it.
    pub(crate) offset: usize,
    pub(crate) pos: Pos,
}
