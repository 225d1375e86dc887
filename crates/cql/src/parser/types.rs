//! Types.

use super::name::{is_name, is_type};
use super::{Parser, Result};
use crate::ast::{CqlType, NativeType, QualifiedName};
use crate::lexer::{Keyword, Kind, Token};

/// Names that user types may not have unless they are quoted (`reservedTypeNames`).
const RESERVED_TYPE_NAMES: [&str; 7] =
    ["byte", "complex", "enum", "date", "interval", "macaddr", "bitstring"];

/// The native type a token names.
pub(super) fn native(kind: Kind) -> Option<NativeType> {
    let Kind::Key(keyword) = kind else {
        return None;
    };
    Some(match keyword {
        Keyword::Ascii => NativeType::Ascii,
        Keyword::Bigint => NativeType::Bigint,
        Keyword::Blob => NativeType::Blob,
        Keyword::Boolean => NativeType::Boolean,
        Keyword::Counter => NativeType::Counter,
        Keyword::Date => NativeType::Date,
        Keyword::Decimal => NativeType::Decimal,
        Keyword::Double => NativeType::Double,
        Keyword::Duration => NativeType::Duration,
        Keyword::Float => NativeType::Float,
        Keyword::Inet => NativeType::Inet,
        Keyword::Int => NativeType::Int,
        Keyword::Smallint => NativeType::Smallint,
        Keyword::Text => NativeType::Text,
        Keyword::Time => NativeType::Time,
        Keyword::Timestamp => NativeType::Timestamp,
        Keyword::Timeuuid => NativeType::Timeuuid,
        Keyword::Tinyint => NativeType::Tinyint,
        Keyword::Uuid => NativeType::Uuid,
        Keyword::Varchar => NativeType::Varchar,
        Keyword::Varint => NativeType::Varint,
        _ => return None,
    })
}

/// Whether the token may follow a type somewhere in the grammar.
fn follows_type(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof | Kind::Semicolon | Kind::Comma | Kind::RightParen | Kind::Greater => true,
        Kind::Key(keyword) => matches!(keyword, Static | Masked | Primary | Language | Finalfunc | Initcond),
        _ => false,
    }
}

/// Whether the word is a type with parameters in `<...>`; `set` is reserved and looked for apart.
fn takes_parameters(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::List | Keyword::Map | Keyword::Tuple | Keyword::Vector | Keyword::Frozen)
}

/// Whether `frozen<...>` may stand around the type.
fn can_freeze(cql_type: &CqlType) -> bool {
    !matches!(cql_type, CqlType::Native(_) | CqlType::Custom(_))
}

impl Parser<'_> {
    /// A type (`comparatorType`).
    pub(super) fn cql_type(&mut self) -> Result<CqlType> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Result<CqlType> {
        if self.kind() == Kind::String {
            return Ok(CqlType::Custom(self.string()?));
        }
        if self.at_key(Keyword::Set) {
            return self.parameterized(Keyword::Set);
        }
        if !is_name(self.kind()) {
            return Err(self.no_viable());
        }
        let next = self.peek(1)?;
        if next != Kind::Dot
            && let Some(native) = native(self.kind())
        {
            if !follows_type(next) {
                return Err(self.no_viable_ahead(1));
            }
            self.decided_by(1)?;
            self.advance()?;
            return Ok(CqlType::Native(native));
        }
        match (self.kind(), next) {
            (Kind::Key(keyword), Kind::Less) if takes_parameters(keyword) => self.parameterized(keyword),
            // Without parameters it is the name of a user type.
            (Kind::Key(keyword), next)
                if takes_parameters(keyword) && next != Kind::Dot && !follows_type(next) =>
            {
                Err(self.no_viable_ahead(1))
            }
            (Kind::Key(keyword), _) if takes_parameters(keyword) => {
                self.decided_by(1)?;
                Ok(CqlType::User(self.user_type_name()?))
            }
            _ => Ok(CqlType::User(self.user_type_name()?)),
        }
    }

    fn parameterized(&mut self, keyword: Keyword) -> Result<CqlType> {
        let begin = |parser: &mut Self| {
            parser.advance()?;
            parser.expect(Kind::Less)
        };
        let cql_type = match keyword {
            Keyword::List => {
                begin(self)?;
                CqlType::List(Box::new(self.cql_type()?))
            }
            Keyword::Set => {
                begin(self)?;
                CqlType::Set(Box::new(self.cql_type()?))
            }
            Keyword::Map => {
                begin(self)?;
                let key = self.cql_type()?;
                self.expect(Kind::Comma)?;
                CqlType::Map(Box::new(key), Box::new(self.cql_type()?))
            }
            Keyword::Tuple => {
                begin(self)?;
                CqlType::Tuple(self.comma_separated(Self::cql_type)?)
            }
            Keyword::Vector => {
                begin(self)?;
                let element = self.cql_type()?;
                self.expect(Kind::Comma)?;
                let dimension = self.expect(Kind::Integer)?;
                self.expect(Kind::Greater)?;
                return Ok(CqlType::Vector(Box::new(element), self.dimension(dimension)?));
            }
            Keyword::Frozen => {
                begin(self)?;
                let inner = self.cql_type()?;
                self.expect(Kind::Greater)?;
                if !can_freeze(&inner) {
                    return Err(self.refused(format!(
                        "frozen<> is only allowed on collections, tuples, and user-defined types (got {inner})"
                    )));
                }
                return Ok(CqlType::Frozen(Box::new(inner)));
            }
            _ => return Err(self.no_viable_ahead(1)),
        };
        self.expect(Kind::Greater)?;
        Ok(cql_type)
    }

    fn dimension(&self, token: Token<'_>) -> Result<i32> {
        token
            .text
            .parse()
            .map_err(|_| self.failed(&format!("NumberFormatException For input string: \"{}\"", token.text)))
    }

    /// `[keyspace.]type`
    pub(super) fn user_type_name(&mut self) -> Result<QualifiedName> {
        if !is_name(self.kind()) {
            return Err(self.no_viable());
        }
        let mut keyspace = None;
        if self.peek(1)? == Kind::Dot {
            keyspace = Some(self.ident()?);
            self.expect(Kind::Dot)?;
        } else if !is_type(self.kind()) {
            // Only a keyspace has such a name.
            self.advance()?;
            return Err(self.mismatched(Kind::Dot));
        }
        if !is_type(self.kind()) {
            return Err(self.no_viable());
        }
        if !self.stored && self.kind() == Kind::Ident && RESERVED_TYPE_NAMES.contains(&self.token.text) {
            return Err(self.refused(format!("Invalid (reserved) user type name {}", self.token.text)));
        }
        Ok(QualifiedName { keyspace, name: self.ident()? })
    }

    /// A native type alone, as CAST takes it.
    pub(super) fn native_type(&mut self) -> Result<NativeType> {
        match native(self.kind()) {
            Some(native) => {
                self.advance()?;
                Ok(native)
            }
            None => Err(self.no_viable()),
        }
    }

    /// `(type, ...)`, possibly empty.
    pub(super) fn argument_types(&mut self) -> Result<Vec<CqlType>> {
        self.expect(Kind::LeftParen)?;
        let begins_type =
            is_name(self.kind()) || matches!(self.kind(), Kind::String | Kind::Key(Keyword::Set));
        let types = if begins_type { self.comma_separated(Self::cql_type)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        Ok(types)
    }
}
