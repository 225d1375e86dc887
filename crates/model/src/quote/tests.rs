//! Quoting against what `ColumnIdentifier.maybeQuote` does.

use super::*;

#[test]
fn reserved_words_are_sorted_and_found_in_any_case() {
    assert!(RESERVED.is_sorted());
    assert!(RESERVED.iter().all(|word| is_reserved(word) && is_reserved(&word.to_lowercase())));
    assert!(is_reserved("Columnfamily"));
    for free in ["key", "json", "columnfamilies", "tables", "materialized_", ""] {
        assert!(!is_reserved(free), "{free}");
    }
}

#[test]
fn names_are_quoted_only_where_they_must_be() {
    for (name, written) in [
        ("a_1", "a_1"),
        ("key", "key"),
        ("table", "\"table\""),
        ("Camel", "\"Camel\""),
        ("1a", "\"1a\""),
        ("_a", "\"_a\""),
        ("a\"b", "\"a\"\"b\""),
        ("", "\"\""),
        ("\u{e9}", "\"\u{e9}\""),
    ] {
        assert_eq!(identifier(name), written);
    }
}

#[test]
fn strings_double_their_quotes() {
    assert_eq!(string("it's"), "'it''s'");
    assert_eq!(string(""), "''");
}
