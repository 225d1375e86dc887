//! Syntax errors in the words of Cassandra's parser (ANTLR 3's messages and `ErrorCollector`'s snippets).

use super::Parser;
use super::name::unquoted;
use crate::SyntaxError;
use crate::ast::Pos;
use crate::lexer::{Kind, Lexer, Token};

/// How many tokens, white space counted, a snippet shows before and after the offending one.
const BEFORE: usize = 10;
const AFTER: usize = 2;

impl Parser<'_> {
    /// Nothing in the grammar goes on with the current token.
    #[cold]
    pub(super) fn no_viable(&self) -> SyntaxError {
        self.complain(self.token, |found| format!("no viable alternative at input {found}"))
    }

    /// From the current token on, nothing in the grammar goes on with the `n`th token behind it.
    #[cold]
    pub(super) fn no_viable_ahead(&mut self, n: usize) -> SyntaxError {
        match self.peek_token(n) {
            Ok(token) => self.complain(token, |found| format!("no viable alternative at input {found}")),
            Err(error) => error,
        }
    }

    /// Only `wanted` may stand here.
    #[cold]
    pub(super) fn mismatched(&self, wanted: Kind) -> SyntaxError {
        self.complain(self.token, |found| {
            format!("mismatched input {found} expecting {}", wanted.token_name())
        })
    }

    /// The form is right, but it is refused: Cassandra shows no place then.
    #[cold]
    pub(super) fn refused(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { message: message.into(), pos: self.token.pos }
    }

    /// A limit is reached.
    #[cold]
    pub(super) fn too_much(&mut self, message: String) -> SyntaxError {
        self.hopeless = true;
        self.refused(message)
    }

    /// Cassandra's parser trips over what the grammar accepts.
    #[cold]
    pub(super) fn failed(&self, reason: &str) -> SyntaxError {
        self.refused(format!("Failed parsing statement: [{}] reason: {reason}", self.lexer.text()))
    }

    fn complain(&self, found: Token<'_>, what: impl FnOnce(&str) -> String) -> SyntaxError {
        if self.trials > 0 {
            return SyntaxError { message: String::new(), pos: found.pos };
        }
        let shown = match found.kind {
            Kind::Eof => "'<EOF>'".to_owned(),
            _ => format!("'{}'", escaped(&unquoted(found))),
        };
        let place = match found.kind {
            Kind::Eof => "line 0:-1".to_owned(),
            _ => format!("line {}:{}", found.pos.line, found.pos.column),
        };
        let snippet = self.snippet().unwrap_or_default();
        SyntaxError { message: format!("{place} {}{snippet}", what(&shown)), pos: found.pos }
    }

    /// ` (...the text around the [current] token...)`; nothing if it would reach the end of the text.
    fn snippet(&self) -> Option<String> {
        let mut tokens = Vec::new();
        let mut lexer = Lexer::new(self.lexer.text());
        let mut current = 0;
        while let Ok(token) = lexer.next_or_hidden() {
            if token.offset == self.token.offset {
                current = tokens.len();
            }
            let last = token.offset >= self.seen || token.kind == Kind::Eof;
            tokens.push(token);
            if last {
                break;
            }
        }
        let from = tokens.get(current.saturating_sub(BEFORE))?;
        let to = tokens.get((current + AFTER).min(tokens.len() - 1))?;
        let offending = tokens.get(current)?;
        if [from, to, offending].iter().any(|token| token.kind == Kind::Eof) {
            return None;
        }
        Some(render(self.lexer.text(), from, to, offending))
    }
}

/// The snippet from `from` to `to` with `offending` in brackets; lines are joined without their ends.
fn render(text: &str, from: &Token<'_>, to: &Token<'_>, offending: &Token<'_>) -> String {
    let text = text.trim_end_matches('\n');
    let mut lines: Vec<Vec<u16>> = text.split('\n').map(|line| line.encode_utf16().collect()).collect();
    let row = |token: &Token<'_>| (token.pos.line as usize).saturating_sub(1);
    let column = |token: &Token<'_>| token.pos.column as usize;
    let end = |token: &Token<'_>| column(token) + unquoted(*token).encode_utf16().count();

    let at_start = from.pos.line == 1 && from.pos.column == 0;
    let at_end = row(to) + 1 == lines.len() && lines.last().is_some_and(|last| end(to) == last.len());
    if let Some(line) = lines.get_mut(row(to)) {
        line.truncate(end(to));
    }
    if let Some(line) = lines.get_mut(row(offending)) {
        line.insert(end(offending).min(line.len()), u16::from(b']'));
        line.insert(column(offending).min(line.len()), u16::from(b'['));
    }
    if let Some(line) = lines.get_mut(row(from)) {
        line.drain(..column(from).min(line.len()));
    }
    let shown: Vec<u16> = lines.into_iter().take(row(to) + 1).skip(row(from)).flatten().collect();
    let dots = |at_edge: bool| if at_edge { "" } else { "..." };
    // Half of a surrogate pair leaves Java as a question mark.
    let shown: String = char::decode_utf16(shown).map(|unit| unit.unwrap_or('?')).collect();
    format!(" ({}{shown}{})", dots(at_start), dots(at_end))
}

/// `text` with line ends and tabs made visible.
fn escaped(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// A place in words, for messages that name one.
impl std::fmt::Display for Pos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}:{}", self.line, self.column)
    }
}
