//! Tokens against what Cassandra's lexer makes of the same texts.

use super::*;

fn kinds(text: &str) -> Vec<(Kind, &str)> {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    loop {
        let token = lexer.next().expect("the text has tokens only");
        if token.kind == Kind::Eof {
            return found;
        }
        found.push((token.kind, token.text));
    }
}

fn error(text: &str) -> String {
    let mut lexer = Lexer::new(text);
    loop {
        match lexer.next() {
            Ok(token) => assert_ne!(token.kind, Kind::Eof, "no error in {text}"),
            Err(error) => return error.message,
        }
    }
}

#[test]
fn numbers_of_all_forms() {
    for (text, kind) in [
        ("0", Kind::Integer),
        ("-12", Kind::Integer),
        ("1.", Kind::Float),
        ("-1.5e-3", Kind::Float),
        ("1e3", Kind::Float),
        ("0x", Kind::Hex),
        ("0Xa1F", Kind::Hex),
        ("1y2mo3w4d5h6m7s8ms9us10ns", Kind::Duration),
        ("-1\u{b5}s", Kind::Duration),
        ("P1Y2M3DT4H5M6S", Kind::Duration),
        ("PT1H", Kind::Duration),
        ("-P3W", Kind::Duration),
        ("P0001-02-03T04:05:06", Kind::Duration),
        ("P1", Kind::Ident),
        ("P1Yx", Kind::Ident),
        ("123e4567-e89b-12d3-a456-426614174000", Kind::Uuid),
        ("deadbeef-e89b-12d3-a456-426614174000", Kind::Uuid),
        ("deadbeef", Kind::Ident),
        ("NaN", Kind::PositiveNan),
        ("-nan", Kind::NegativeNan),
        ("-Infinity", Kind::NegativeInfinity),
        ("TRUE", Kind::Boolean),
        ("truex", Kind::Ident),
    ] {
        assert_eq!(kinds(text), [(kind, text)], "{text}");
    }
}

#[test]
fn ranges_are_no_floats() {
    assert_eq!(kinds("1..2"), [(Kind::Integer, "1"), (Kind::Range, ".."), (Kind::Integer, "2")]);
    assert_eq!(kinds("1.5..2"), [(Kind::Float, "1.5"), (Kind::Range, ".."), (Kind::Integer, "2")]);
    assert_eq!(kinds("a-1"), [(Kind::Ident, "a"), (Kind::Integer, "-1")]);
}

#[test]
fn comments_and_quotes() {
    assert_eq!(kinds("/* a\n'b */ c -- d\n// e\r"), [(Kind::Ident, "c")]);
    assert_eq!(kinds("'it''s'''"), [(Kind::String, "'it''s'''")]);
    assert_eq!(kinds("$$a$b$$"), [(Kind::String, "$$a$b$$")]);
    assert_eq!(kinds("\"\" \"\"\"\""), [(Kind::EmptyQuotedName, "\"\""), (Kind::QuotedName, "\"\"\"\"")]);
    assert_eq!(kinds("expr( expr ("), [(Kind::Expr, "expr("), (Kind::Ident, "expr"), (Kind::LeftParen, "(")]);
}

#[test]
fn places_count_lines_and_utf16_units() {
    let mut lexer = Lexer::new("a '\u{1f600}\u{e9}' b\n  c");
    let places: Vec<_> = std::iter::from_fn(|| lexer.next().ok().filter(|token| token.kind != Kind::Eof))
        .map(|token| (token.pos.line, token.pos.column))
        .collect();
    assert_eq!(places, [(1, 0), (1, 2), (1, 8), (2, 2)]);
}

#[test]
fn what_is_no_token_is_an_error_in_cassandras_words() {
    for (text, message) in [
        ("SELECT deadbeef-1 FROM t", "line 1:17 mismatched character ' ' expecting set null"),
        ("SELECT deadbeef-1234 FROM t", "line 1:20 mismatched character ' ' expecting '-'"),
        ("SELECT 1e FROM t", "line 1:9 no viable alternative at character ' '"),
        ("SELECT a FROM t -- foo", "line 1:22 mismatched character '<EOF>' expecting set null"),
        ("SELECT a FROM t /* foo", "line 1:22 mismatched character '<EOF>' expecting '*'"),
        ("SELECT a FROM t WHERE b = 'foo", "line 1:30 mismatched character '<EOF>' expecting '''"),
        ("SELECT a FROM t WHERE b = \"foo", "line 1:30 mismatched character '<EOF>' expecting '\"'"),
        ("SELECT 'a@' @ FROM t", "line 1:12 no viable alternative at character '@'"),
        ("SELECT a ! b FROM t", "line 1:10 mismatched character ' ' expecting '='"),
        ("SELECT $a FROM t", "line 1:8 mismatched character 'a' expecting '$'"),
        ("SELECT $$a FROM t", "line 1:16 mismatched character 't' expecting '$'"),
        ("SELECT 1h30 FROM t", "line 1:11 no viable alternative at character ' '"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}
