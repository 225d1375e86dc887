//! Names: which tokens may be one where, and how they are folded.

use std::borrow::Cow;

use super::{Parser, Result};
use crate::ast::{FunctionName, Ident, QualifiedName};
use crate::lexer::{Class, Keyword, Kind, Token};

/// The text a token stands for: quotes removed, doubled ones halved.
pub(super) fn unquoted(token: Token<'_>) -> Cow<'_, str> {
    let inner =
        |n: usize| token.text.len().checked_sub(n).and_then(|end| token.text.get(n..end)).unwrap_or_default();
    let halved = |doubled: &str, single: &str| {
        let inner = inner(1);
        if inner.contains(doubled) {
            Cow::Owned(inner.replace(doubled, single))
        } else {
            Cow::Borrowed(inner)
        }
    };
    match token.kind {
        Kind::String if token.text.starts_with('$') => Cow::Borrowed(inner(2)),
        Kind::String => halved("''", "'"),
        Kind::QuotedName => halved("\"\"", "\""),
        _ => Cow::Borrowed(token.text),
    }
}

/// Whether the token may name anything (`noncol_ident`, `ident`, `fident`, ...).
pub(super) fn is_name(kind: Kind) -> bool {
    match kind {
        Kind::Ident | Kind::QuotedName => true,
        Kind::Key(keyword) => keyword.class() != Class::Reserved,
        _ => false,
    }
}

/// Whether the token may name a column of an existing table (`cident`), which may be the legacy name `""`.
pub(super) fn is_column(kind: Kind) -> bool {
    kind == Kind::EmptyQuotedName || is_name(kind)
}

/// Whether the token may name a function (`allowedFunctionName`).
pub(super) fn is_function(kind: Kind) -> bool {
    match kind {
        Kind::Ident | Kind::QuotedName | Kind::Key(Keyword::Token | Keyword::Count) => true,
        Kind::Key(keyword) => matches!(keyword.class(), Class::Basic | Class::Native),
        _ => false,
    }
}

/// Whether the token may name a user type (`non_type_ident`).
pub(super) fn is_type(kind: Kind) -> bool {
    match kind {
        Kind::Ident | Kind::QuotedName | Kind::Key(Keyword::Key) => true,
        Kind::Key(keyword) => keyword.class() == Class::Basic,
        _ => false,
    }
}

/// Whether the token may follow a table's name somewhere in the grammar.
fn follows_table(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof | Kind::Semicolon | Kind::LeftParen => true,
        Kind::Key(keyword) => matches!(
            keyword,
            Where
                | Group
                | Order
                | Per
                | Limit
                | Allow
                | Json
                | Using
                | Set
                | As
                | From
                | Primary
                | Alter
                | Add
                | Drop
                | Rename
                | With
                | To
                | Of
                | Norecursive
        ),
        _ => false,
    }
}

/// What a name is for, in the messages that refuse a bind marker in its place.
#[derive(Clone, Copy)]
pub(super) enum NameOf {
    Keyspace,
    Table,
    Index,
    Role,
}

impl NameOf {
    fn plural(self) -> &'static str {
        match self {
            NameOf::Keyspace => "keyspace names",
            NameOf::Table => "table names",
            NameOf::Index => "index names",
            NameOf::Role => "role names",
        }
    }
}

/// The name a token stands for, folded unless it is quoted.
fn folded(token: Token<'_>) -> Ident {
    let name = match token.kind {
        Kind::QuotedName | Kind::String => unquoted(token).into_owned(),
        Kind::EmptyQuotedName => String::new(),
        _ => token.text.to_ascii_lowercase(),
    };
    Ident { name, pos: token.pos }
}

impl Parser<'_> {
    /// Any name.
    pub(super) fn ident(&mut self) -> Result<Ident> {
        if is_name(self.kind()) { Ok(folded(self.advance()?)) } else { Err(self.no_viable()) }
    }

    /// The name of a column of an existing table.
    pub(super) fn column(&mut self) -> Result<Ident> {
        if is_column(self.kind()) { Ok(folded(self.advance()?)) } else { Err(self.no_viable()) }
    }

    /// A name for which Cassandra's grammar takes `?`, to refuse it with a better message.
    fn name_of(&mut self, what: NameOf) -> Result<Ident> {
        if self.kind() == Kind::QuestionMark {
            self.decided_by(0)?;
            return Err(self.refused(format!("Bind variables cannot be used for {}", what.plural())));
        }
        self.ident()
    }

    pub(super) fn keyspace_name(&mut self) -> Result<Ident> {
        self.name_of(NameOf::Keyspace)
    }

    /// An index's name without keyspace.
    pub(super) fn bare_index_name(&mut self) -> Result<Ident> {
        self.name_of(NameOf::Index)
    }

    /// A role's name, which may be a string.
    pub(super) fn role_name(&mut self) -> Result<Ident> {
        if self.kind() == Kind::String {
            return Ok(folded(self.advance()?));
        }
        self.name_of(NameOf::Role)
    }

    /// A user's or identity's name: no keyword, and the case is kept.
    pub(super) fn user_name(&mut self) -> Result<Ident> {
        if self.kind() == Kind::QuotedName {
            return Err(self.refused(
                "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE",
            ));
        }
        self.bare_name()
    }

    /// An identity, or the role it is for: as a user's name.
    pub(super) fn identity_name(&mut self) -> Result<String> {
        if self.kind() == Kind::QuotedName {
            return Err(self.refused("Quoted strings are are not supported for identity"));
        }
        Ok(self.bare_name()?.name)
    }

    fn bare_name(&mut self) -> Result<Ident> {
        match self.kind() {
            Kind::Ident | Kind::String => {
                let token = self.advance()?;
                Ok(Ident { name: unquoted(token).into_owned(), pos: token.pos })
            }
            _ => Err(self.no_viable()),
        }
    }

    /// `[keyspace.]table`
    pub(super) fn table_name(&mut self) -> Result<QualifiedName> {
        self.qualified(NameOf::Table, follows_table)
    }

    /// `[keyspace.]index`
    pub(super) fn index_name(&mut self) -> Result<QualifiedName> {
        self.qualified(NameOf::Index, |kind| matches!(kind, Kind::Eof | Kind::Semicolon))
    }

    pub(super) fn qualified(&mut self, what: NameOf, follows: fn(Kind) -> bool) -> Result<QualifiedName> {
        if !is_name(self.kind()) && self.kind() != Kind::QuestionMark {
            return Err(self.no_viable());
        }
        let keyspace = match self.peek(1)? {
            Kind::Dot => {
                let keyspace = self.keyspace_name()?;
                self.expect(Kind::Dot)?;
                Some(keyspace)
            }
            next if follows(next) => {
                self.decided_by(1)?;
                None
            }
            _ => return Err(self.no_viable_ahead(1)),
        };
        Ok(QualifiedName { keyspace, name: self.name_of(what)? })
    }

    /// `[keyspace.]function`
    pub(super) fn function_name(&mut self) -> Result<FunctionName> {
        let keyspace = if self.names_keyspace_of_function()? {
            let keyspace = self.keyspace_name()?;
            self.expect(Kind::Dot)?;
            Some(keyspace)
        } else {
            None
        };
        Ok(FunctionName { keyspace, name: self.bare_function_name()? })
    }

    fn names_keyspace_of_function(&mut self) -> Result<bool> {
        match self.kind() {
            Kind::Key(Keyword::Token) => Ok(false),
            Kind::QuestionMark => Ok(true),
            kind if is_function(kind) => match self.peek(1)? {
                Kind::Dot => Ok(true),
                Kind::LeftParen | Kind::Semicolon | Kind::Eof | Kind::Key(Keyword::With) => {
                    self.decided_by(1)?;
                    Ok(false)
                }
                _ => Err(self.no_viable_ahead(1)),
            },
            // Other words name keyspaces only.
            kind if is_name(kind) => Ok(true),
            _ => Err(self.no_viable()),
        }
    }

    /// A function's name without keyspace. A keyword keeps its case, unless it is a native type.
    pub(super) fn bare_function_name(&mut self) -> Result<Ident> {
        if !is_function(self.kind()) {
            return Err(self.no_viable());
        }
        let token = self.advance()?;
        match token.kind {
            Kind::Key(keyword) if keyword.class() == Class::Basic => {
                Ok(Ident { name: token.text.to_owned(), pos: token.pos })
            }
            _ => Ok(folded(token)),
        }
    }

    /// A string literal's text.
    pub(super) fn string(&mut self) -> Result<String> {
        Ok(unquoted(self.expect(Kind::String)?).into_owned())
    }
}
