//! Constants against what was recorded from Cassandra.

use basalt_cql::ast::{Literal, LiteralKind, Pos};
use basalt_model::DataType;
use bytes::Bytes;

use super::{from_literal, from_text, print};

const RECORDED: &str = include_str!("../../../../tests/golden/literals.txt");

fn unhex(text: &str) -> Bytes {
    if text == "-" {
        return Bytes::new();
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The recording escapes what would break its lines.
fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\p", "|").replace("\\r", "\r").replace("\\\\", "\\")
}

fn scalar(name: &str) -> Option<DataType> {
    use DataType as T;
    let scalars = [
        T::Ascii,
        T::BigInt,
        T::Blob,
        T::Boolean,
        T::Date,
        T::Decimal,
        T::Double,
        T::Duration,
        T::Float,
        T::Inet,
        T::Int,
        T::SmallInt,
        T::Text,
        T::Time,
        T::Timestamp,
        T::TimeUuid,
        T::TinyInt,
        T::Uuid,
        T::Varint,
    ];
    scalars.into_iter().find(|scalar| scalar.to_string() == name)
}

/// The constant a text is, for the forms that need no parser; others are tested with it.
fn literal(text: &str) -> Option<Literal> {
    let body = text.strip_prefix('-').unwrap_or(text);
    let lower = body.to_ascii_lowercase();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (kind, text) = if let Some(quoted) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        (LiteralKind::String, quoted.replace("''", "'"))
    } else if digits(body) {
        (LiteralKind::Integer, text.to_owned())
    } else if lower == "true" || lower == "false" {
        (LiteralKind::Boolean, text.to_owned())
    } else if lower.starts_with("0x") {
        (LiteralKind::Hex, text.to_owned())
    } else if uuid::Uuid::try_parse(text).is_ok() && text.len() == 36 {
        (LiteralKind::Uuid, text.to_owned())
    } else if body.contains(['.', 'e', 'E']) && body.parse::<f64>().is_ok() {
        (LiteralKind::Float, text.to_owned())
    } else if body.starts_with(|c: char| c.is_ascii_digit()) || body.starts_with('P') {
        (LiteralKind::Duration, text.to_owned())
    } else {
        return None;
    };
    Some(Literal { kind, text, pos: Pos::default() })
}

fn lines(kind: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    RECORDED.lines().map(|line| line.split(" | ").collect::<Vec<_>>()).filter(move |fields| fields[0] == kind)
}

#[test]
fn constants_are_worth_what_cassandra_says() {
    let mut terms = 0;
    for fields in lines("term") {
        let [_, name, text, expected] = fields[..] else { panic!("not a recorded line: {fields:?}") };
        let Some(data_type) = scalar(name) else { continue };
        // Zone names need a database of zones; the parser refuses the others.
        let elsewhere =
            expected.starts_with("!SyntaxException") || expected.contains("_negate") || text.contains("EST");
        let Some(literal) = literal(&unescape(text)).filter(|_| !elsewhere) else { continue };
        let ours = match from_literal(&literal, "v", &data_type) {
            Ok(value) => hex(&value),
            Err(error) => format!("!{error}"),
        };
        if expected.starts_with("!throws") {
            assert!(ours.starts_with('!'), "{fields:?}: {ours}");
        } else {
            assert_eq!(ours, unescape(expected), "{fields:?}");
        }
        terms += 1;
    }
    assert!(terms > 400, "only {terms} terms");
}

#[test]
fn texts_are_read_as_in_cassandra() {
    let mut texts = 0;
    for fields in lines("text") {
        let [_, class, text, expected] = fields[..] else { panic!("not a recorded line: {fields:?}") };
        let Some((data_type, _)) = DataType::from_class_name(class) else { continue };
        if matches!(data_type, DataType::Tuple(_) | DataType::Udt { .. } | DataType::Counter) {
            continue;
        }
        let ours = match from_text(&data_type, &unescape(text)) {
            Ok(value) => hex(&value),
            Err(error) => format!("!{error}"),
        };
        assert_eq!(ours, unescape(expected), "{fields:?}");
        texts += 1;
    }
    assert!(texts > 150, "only {texts} texts");
}

#[test]
fn values_print_as_in_cassandra() {
    let mut values = 0;
    for fields in lines("print") {
        let [_, class, bytes, expected, ..] = fields[..] else { panic!("not a recorded line: {fields:?}") };
        let Some((data_type, _)) = DataType::from_class_name(class) else { continue };
        if expected.starts_with('!') {
            continue;
        }
        assert_eq!(print(&data_type, Some(&unhex(bytes))), unescape(expected), "{fields:?}");
        values += 1;
    }
    assert!(values > 300, "only {values} values");
}
