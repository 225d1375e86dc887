//! Limits, places and bind markers.

use super::*;
use crate::ast::{Ident, Pos, RelationKind, Statement, TermKind};

fn error(text: &str) -> String {
    parse(text).expect_err(text).message
}

#[test]
fn markers_are_counted_in_the_order_of_the_text() {
    let parsed = parse("SELECT f(?) FROM t WHERE k IN :ks AND (a, b) > (?, :B) LIMIT ?").expect("valid");
    let names: Vec<_> = parsed.markers.iter().map(|marker| marker.name.as_ref().map(Ident::as_str)).collect();
    assert_eq!(names, [None, Some("ks"), None, Some("b"), None]);
    assert!(parsed.markers.iter().enumerate().all(|(i, marker)| usize::from(marker.index) == i));
}

#[test]
fn nodes_know_their_places() {
    let Statement::Select(select) = parse_statement("SELECT *\n  FROM ks.t\nWHERE abc = 'x'").expect("valid")
    else {
        panic!("not a SELECT");
    };
    let place = |pos: Pos| (pos.line, pos.column);
    assert_eq!(place(select.table.name.pos), (2, 10));
    let [relation] = select.where_clause.as_slice() else { panic!("one relation") };
    let RelationKind::Column { column, value, .. } = &relation.kind else { panic!("a comparison") };
    assert_eq!((place(column.pos), place(value.pos)), ((3, 6), (3, 12)));
}

#[test]
fn literals_keep_their_kind_and_raw_text() {
    let Statement::Insert(insert) =
        parse_statement("INSERT INTO t (a) VALUES ($$it's$$, 0xAB, -nan, TRUE)").expect("valid")
    else {
        panic!("not an INSERT");
    };
    let crate::ast::InsertValues::Columns(_, terms) = insert.values else { panic!("values") };
    let texts: Vec<_> = terms
        .iter()
        .map(|term| match &term.kind {
            TermKind::Literal(literal) => literal.text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["it's", "0xAB", "NaN", "TRUE"]);
}

#[test]
fn types_parse_alone() {
    let text = "frozen<map<text, frozen<list<tuple<int, vector<float, 3>>>>>>";
    assert_eq!(parse_type(text).expect("valid").to_string(), text);
    assert!(parse_type("int int").is_err());
    assert!(parse_type("").is_err());
}

#[test]
fn nesting_is_bounded_everywhere() {
    let deep = |open: &str, core: &str, close: &str| {
        let n = 100_000;
        format!("{}{core}{}", open.repeat(n), close.repeat(n))
    };
    let texts = [
        format!("INSERT INTO t (a) VALUES ({})", deep("[", "1", "]")),
        format!("INSERT INTO t (a) VALUES ({})", deep("(", "1", ")")),
        format!("INSERT INTO t (a) VALUES ({})", deep("{", "1", "}")),
        format!("INSERT INTO t (a) VALUES ({})", deep("f(", "1", ")")),
        format!("INSERT INTO t (a) VALUES ({})", deep("(int) ", "1", "")),
        format!("INSERT INTO t (a) VALUES ({})", deep("cast(", "1", " as int)")),
        format!("SELECT {} FROM t", deep("(", "a", ")")),
        format!("SELECT {} FROM t", deep("- ", "a", "")),
        format!("SELECT {} FROM t", deep("(int) ", "a", "")),
        format!("SELECT {} FROM t", deep("a[f(", "1", ")]")),
        format!("SELECT {} FROM t", deep("(a)[", "1", "]")),
        format!("SELECT json {} FROM t", deep("(a)[", "1", "]")),
        format!("SELECT * FROM t WHERE {}", deep("(", "a = 1", ")")),
        format!("CREATE TABLE t (a {})", deep("list<", "int", ">")),
    ];
    for text in texts {
        let message = error(&text);
        assert!(message.len() < 1_000, "a short message, not {} bytes", message.len());
    }
    let message = error(&format!("CREATE TABLE t (a {})", deep("list<", "int", ">")));
    assert_eq!(message, "The statement nests deeper than 64 levels");
}

#[test]
fn chains_are_bounded() {
    let chain = |link: &str, n: usize| format!("SELECT a{} FROM t", link.repeat(n));
    for link in [" + 1", " * b", ".f", "[1]"] {
        assert!(parse(&chain(link, 250)).is_ok(), "{link}");
        assert!(parse(&chain(link, 100_000)).is_err(), "{link}");
    }
    let long = format!("INSERT INTO t (a) VALUES (1{})", " - 1".repeat(100_000));
    assert_eq!(error(&long), "An expression has more than 256 operators");
}

#[test]
fn each_expression_has_its_own_chain() {
    let sum = format!("1{}", " + 1".repeat(250));
    let text = format!("INSERT INTO t (a, b) VALUES ({sum}, {sum})");
    assert!(parse(&text).is_ok());
}

#[test]
fn markers_are_bounded() {
    let markers = |n: usize| format!("SELECT * FROM t WHERE k IN ({})", vec!["?"; n].join(","));
    assert!(parse(&markers(MAX_MARKERS)).is_ok());
    assert_eq!(error(&markers(MAX_MARKERS + 1)), "The statement has more than 65535 bind markers");
}
