//! Tokens to trees: the cursor over the tokens and the choice of the statement. One file a statement family.
//!
//! Reads once, left to right, with a bounded look ahead. Cassandra's parser is generated; where its choices look ahead
//! shows in its error messages, so the choices here look equally far.

mod error;
mod float;
mod name;
mod property;
mod relation;
mod selectable;
mod term;
mod types;

mod alter_keyspace;
mod alter_table;
mod alter_type;
mod alter_view;
mod batch;
mod create_aggregate;
mod create_function;
mod create_index;
mod create_keyspace;
mod create_table;
mod create_trigger;
mod create_type;
mod create_view;
mod delete;
mod describe;
mod drop_aggregate;
mod drop_function;
mod drop_index;
mod drop_keyspace;
mod drop_table;
mod drop_trigger;
mod drop_type;
mod drop_view;
mod grant;
mod identity;
mod insert;
mod list;
mod role;
mod select;
mod statement;
mod truncate;
mod update;
mod use_;

use crate::SyntaxError;
use crate::ast::{CqlType, Marker, Statement};
use crate::lexer::{Keyword, Kind, Lexer, Token};

/// How deeply terms, selectables, types and relations may nest. Cassandra has no number, only its stack; a level takes
/// up to 24 KiB of ours without optimisation.
pub const MAX_NESTING: u32 = 64;

/// How many operators, field and element selections one expression may chain: each makes its tree one higher, and
/// takes up to 5 KiB of stack without optimisation.
pub const MAX_CHAIN: u32 = 256;

/// How many bind markers a statement may have: they are counted in 16 bits by the native protocol.
pub const MAX_MARKERS: usize = u16::MAX as usize;

type Result<T> = std::result::Result<T, SyntaxError>;

/// A statement with its bind markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its bind markers in the order of the text; `markers[i].index == i`.
    pub markers: Vec<Marker>,
}

/// Parses one statement, which may end in semicolons.
///
/// Takes time and memory linear in the length of `text`.
pub fn parse(text: &str) -> Result<Parsed> {
    let mut parser = Parser::new(text)?;
    let statement = parser.statement()?;
    while parser.eat(Kind::Semicolon)? {}
    parser.expect_end()?;
    Ok(Parsed { statement, markers: parser.markers })
}

/// Parses one statement and forgets its bind markers.
pub fn parse_statement(text: &str) -> Result<Statement> {
    parse(text).map(|parsed| parsed.statement)
}

/// Parses a type alone, e.g. `frozen<map<text, int>>`, as the schema tables store them: every name may stand there
/// without quotes that could be given with them.
pub fn parse_type(text: &str) -> Result<CqlType> {
    let mut parser = Parser::new(text)?;
    parser.stored = true;
    let cql_type = parser.cql_type()?;
    parser.expect_end()?;
    Ok(cql_type)
}

/// A cursor over the tokens of a text.
struct Parser<'a> {
    /// Stands behind `token`.
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// The offset of the furthest token looked at: error messages show none behind it.
    seen: usize,
    /// A text was met that is no token, or a limit: that error stands, whatever is tried instead.
    hopeless: bool,
    /// How many trials are running: errors are not worded while another reading may be right.
    trials: u32,
    markers: Vec<Marker>,
    depth: u32,
    chain: u32,
    /// The text is a type that was stored.
    stored: bool,
}

/// A place to come back to.
struct Mark<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    markers: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Parser {
            lexer,
            token,
            seen: token.offset,
            hopeless: false,
            trials: 0,
            markers: Vec::new(),
            depth: 0,
            chain: 0,
            stored: false,
        })
    }

    /// The kind of the current token.
    fn kind(&self) -> Kind {
        self.token.kind
    }

    fn at_key(&self, keyword: Keyword) -> bool {
        self.token.kind == Kind::Key(keyword)
    }

    /// The kind of the `n`th token behind the current one.
    fn peek(&mut self, n: usize) -> Result<Kind> {
        Ok(self.peek_token(n)?.kind)
    }

    fn peek_token(&mut self, n: usize) -> Result<Token<'a>> {
        let mut lexer = self.lexer;
        let mut token = self.token;
        for _ in 0..n {
            token = self.read(&mut lexer)?;
        }
        Ok(token)
    }

    /// Where Cassandra's parser chooses by a table, it has read the token behind the one that decides: the `n`th.
    fn decided_by(&mut self, n: usize) -> Result<()> {
        self.peek_token(n + 1).map(|_| ())
    }

    /// The next token of `lexer`, and that it was seen.
    fn read(&mut self, lexer: &mut Lexer<'a>) -> Result<Token<'a>> {
        match lexer.next() {
            Ok(token) => {
                self.seen = self.seen.max(token.offset);
                Ok(token)
            }
            Err(error) => {
                self.hopeless = true;
                Err(error)
            }
        }
    }

    /// Moves on and returns the token passed.
    fn advance(&mut self) -> Result<Token<'a>> {
        let mut lexer = self.lexer;
        let next = self.read(&mut lexer)?;
        self.lexer = lexer;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn eat(&mut self, kind: Kind) -> Result<bool> {
        let found = self.token.kind == kind;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn eat_key(&mut self, keyword: Keyword) -> Result<bool> {
        self.eat(Kind::Key(keyword))
    }

    fn expect(&mut self, kind: Kind) -> Result<Token<'a>> {
        if self.token.kind == kind { self.advance() } else { Err(self.mismatched(kind)) }
    }

    fn expect_key(&mut self, keyword: Keyword) -> Result<()> {
        self.expect(Kind::Key(keyword)).map(|_| ())
    }

    fn expect_keys(&mut self, keywords: &[Keyword]) -> Result<()> {
        keywords.iter().try_for_each(|&keyword| self.expect_key(keyword))
    }

    fn expect_end(&self) -> Result<()> {
        if self.token.kind == Kind::Eof { Ok(()) } else { Err(self.mismatched(Kind::Eof)) }
    }

    /// `IF NOT EXISTS`, if there is an IF.
    fn if_not_exists(&mut self) -> Result<bool> {
        let found = self.eat_key(Keyword::If)?;
        if found {
            self.expect_keys(&[Keyword::Not, Keyword::Exists])?;
        }
        Ok(found)
    }

    /// `IF EXISTS`, if there is an IF.
    fn if_exists(&mut self) -> Result<bool> {
        let found = self.eat_key(Keyword::If)?;
        if found {
            self.expect_key(Keyword::Exists)?;
        }
        Ok(found)
    }

    /// One or more of `item`, separated by commas.
    fn comma_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Kind::Comma)? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// One or more of `item`, separated by AND.
    fn and_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_key(Keyword::And)? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_NESTING {
            return Err(self.too_much(format!("The statement nests deeper than {MAX_NESTING} levels")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts one more operator or selection of a chain.
    fn chained(&mut self) -> Result<()> {
        if self.chain >= MAX_CHAIN {
            return Err(self.too_much(format!("An expression has more than {MAX_CHAIN} operators")));
        }
        self.chain += 1;
        Ok(())
    }

    /// Runs `outermost` with a fresh count of [`chained`](Self::chained), unless it stands inside another expression.
    fn expression<T>(&mut self, outermost: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == 0 {
            self.chain = 0;
        }
        self.nested(outermost)
    }

    /// Tries `reading`; if the text cannot be read so, goes back to where it began and returns `None`.
    fn attempt<T>(&mut self, reading: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        let mark = self.mark();
        let depth = self.depth;
        self.trials += 1;
        let result = reading(self);
        self.trials -= 1;
        match result {
            Ok(read) => Ok(Some(read)),
            Err(error) if self.hopeless => Err(error),
            Err(_) => {
                self.depth = depth;
                self.reset(mark);
                Ok(None)
            }
        }
    }

    fn mark(&self) -> Mark<'a> {
        Mark { lexer: self.lexer, token: self.token, markers: self.markers.len() }
    }

    fn reset(&mut self, mark: Mark<'a>) {
        self.lexer = mark.lexer;
        self.token = mark.token;
        self.markers.truncate(mark.markers);
    }
}

#[cfg(test)]
mod tests;
