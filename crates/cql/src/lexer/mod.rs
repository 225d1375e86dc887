//! Text to tokens, borrowed and on demand. Knows the lexical rules of Cassandra's grammar, no statement.

mod keyword;
mod number;
mod token;

pub(crate) use keyword::{Class, Keyword};
pub(crate) use token::{Kind, Token};

use crate::SyntaxError;
use crate::ast::Pos;

/// The state of reading: where the next token begins. Copying it marks a place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    offset: usize,
    pos: Pos,
}

/// Why no token could be read, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    /// Byte offset of the character that does not fit; the text's length for its end.
    at: usize,
    what: Expected,
}

/// What the lexer wanted instead.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// Nothing begins with this character.
    Anything,
    /// This very character.
    Char(char),
    /// One of a set.
    Set,
    /// At least one digit.
    Digits,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, offset: 0, pos: Pos { line: 1, column: 0 } }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The next token that is not hidden.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, SyntaxError> {
        loop {
            let token = self.next_or_hidden()?;
            if token.kind != Kind::Hidden {
                return Ok(token);
            }
        }
    }

    /// The next token, white space and comments included.
    pub(crate) fn next_or_hidden(&mut self) -> Result<Token<'a>, SyntaxError> {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        let (kind, len) = match scan(rest) {
            Ok(found) => found,
            Err(trouble) => return Err(self.error(trouble)),
        };
        let (text, _) = rest.split_at_checked(len).unwrap_or((rest, ""));
        let pos = if kind == Kind::Eof { Pos::default() } else { self.pos };
        let token = Token { kind, text, offset: self.offset, pos };
        self.advance(text);
        Ok(token)
    }

    /// Moves behind `passed`, counting lines and UTF-16 units.
    fn advance(&mut self, passed: &str) {
        self.offset += passed.len();
        self.pos = moved(self.pos, passed);
    }

    #[cold]
    fn error(&self, trouble: Trouble) -> SyntaxError {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        let (before, at) = rest.split_at_checked(trouble.at).unwrap_or((rest, ""));
        let pos = moved(self.pos, before);
        let found = at.chars().next().map_or_else(|| "<EOF>".to_owned(), display_char);
        let message = match trouble.what {
            Expected::Anything => format!("no viable alternative at character '{found}'"),
            Expected::Digits => {
                format!("required (...)+ loop did not match anything at character '{found}'")
            }
            Expected::Char(c) => format!("mismatched character '{found}' expecting '{}'", display_char(c)),
            Expected::Set => format!("mismatched character '{found}' expecting set null"),
        };
        SyntaxError { message: format!("line {}:{} {message}", pos.line, pos.column), pos }
    }
}

/// The place behind `passed`, which begins at `pos`.
fn moved(pos: Pos, passed: &str) -> Pos {
    match passed.rfind('\n') {
        None => Pos { line: pos.line, column: pos.column.saturating_add(units(passed)) },
        Some(last) => {
            let lines = passed.bytes().filter(|&b| b == b'\n').count();
            let tail = passed.get(last + 1..).unwrap_or_default();
            Pos {
                line: pos.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)),
                column: units(tail),
            }
        }
    }
}

/// The length of `text` in UTF-16 code units.
fn units(text: &str) -> u32 {
    let count = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A character as the messages show it.
fn display_char(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        _ => c.to_string(),
    }
}

/// The kind and length of the token that `text` begins with.
fn scan(text: &str) -> Result<(Kind, usize), Trouble> {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else {
        return Ok((Kind::Eof, 0));
    };
    let second = bytes.get(1).copied();
    let one = |kind| Ok((kind, 1));
    let two = |kind| Ok((kind, 2));
    match first {
        b' ' | b'\t' | b'\n' | b'\r' => {
            Ok((Kind::Hidden, run(bytes, |b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))))
        }
        b'a'..=b'z' | b'A'..=b'Z' => number::word(text),
        b'0'..=b'9' => number::number(text),
        b'\'' => string(bytes),
        b'"' => quoted_name(bytes),
        b'$' => dollar_string(text),
        b'-' => match second {
            Some(b'-') => line_comment(bytes),
            Some(b'=') => two(Kind::MinusEq),
            _ => number::negative(text),
        },
        b'/' => match second {
            Some(b'/') => line_comment(bytes),
            Some(b'*') => block_comment(text),
            _ => one(Kind::Slash),
        },
        b'+' if second == Some(b'=') => two(Kind::PlusEq),
        b'.' if second == Some(b'.') => two(Kind::Range),
        b'<' if second == Some(b'=') => two(Kind::LessEq),
        b'>' if second == Some(b'=') => two(Kind::GreaterEq),
        b'!' if second == Some(b'=') => two(Kind::NotEq),
        b'!' => Err(Trouble { at: 1, what: Expected::Char('=') }),
        _ => punctuation(first).map_or(Err(Trouble { at: 0, what: Expected::Anything }), one),
    }
}

/// The tokens of one character.
fn punctuation(byte: u8) -> Option<Kind> {
    Some(match byte {
        b'?' => Kind::QuestionMark,
        b'%' => Kind::Percent,
        b'(' => Kind::LeftParen,
        b')' => Kind::RightParen,
        b'+' => Kind::Plus,
        b',' => Kind::Comma,
        b'.' => Kind::Dot,
        b':' => Kind::Colon,
        b';' => Kind::Semicolon,
        b'<' => Kind::Less,
        b'=' => Kind::Equal,
        b'>' => Kind::Greater,
        b'[' => Kind::LeftBracket,
        b'*' => Kind::Star,
        b']' => Kind::RightBracket,
        b'{' => Kind::LeftBrace,
        b'}' => Kind::RightBrace,
        _ => return None,
    })
}

/// How many leading bytes fit.
fn run(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&b| fits(b)).count()
}

/// `'...'` with `''` for a quote.
fn string(bytes: &[u8]) -> Result<(Kind, usize), Trouble> {
    match closing(bytes, b'\'') {
        Some(len) => Ok((Kind::String, len)),
        None => Err(Trouble { at: bytes.len(), what: Expected::Char('\'') }),
    }
}

/// `"..."` with `""` for a quote.
fn quoted_name(bytes: &[u8]) -> Result<(Kind, usize), Trouble> {
    match closing(bytes, b'"') {
        Some(2) => Ok((Kind::EmptyQuotedName, 2)),
        None if bytes.len() == 1 => Err(Trouble { at: 1, what: Expected::Anything }),
        Some(len) => Ok((Kind::QuotedName, len)),
        None => Err(Trouble { at: bytes.len(), what: Expected::Char('"') }),
    }
}

/// The length of a text in quotes, the quotes included; a doubled quote stands for itself.
fn closing(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        at += bytes.get(at..)?.iter().position(|&b| b == quote)? + 1;
        if bytes.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

/// `$$...$$`
fn dollar_string(text: &str) -> Result<(Kind, usize), Trouble> {
    let Some(body) = text.strip_prefix("$$") else {
        return Err(Trouble { at: 1, what: Expected::Char('$') });
    };
    match body.find("$$") {
        Some(len) => Ok((Kind::String, len + 4)),
        // Cassandra's lexer takes the last character for the first `$` of the end.
        None => {
            let last = body.char_indices().next_back().filter(|(_, c)| *c != '$');
            Err(Trouble { at: last.map_or(text.len(), |(i, _)| i + 2), what: Expected::Char('$') })
        }
    }
}

/// `-- ...` or `// ...`; the end of the line is required.
fn line_comment(bytes: &[u8]) -> Result<(Kind, usize), Trouble> {
    let len = run(bytes, |b| b != b'\n' && b != b'\r');
    if len == bytes.len() {
        Err(Trouble { at: len, what: Expected::Set })
    } else {
        Ok((Kind::Hidden, len + 1))
    }
}

/// `/* ... */`
fn block_comment(text: &str) -> Result<(Kind, usize), Trouble> {
    match text.get(2..).and_then(|body| body.find("*/")) {
        Some(len) => Ok((Kind::Hidden, len + 4)),
        None => {
            let wanted = if text.ends_with('*') && text.len() > 2 { '/' } else { '*' };
            Err(Trouble { at: text.len(), what: Expected::Char(wanted) })
        }
    }
}

#[cfg(test)]
mod tests;
