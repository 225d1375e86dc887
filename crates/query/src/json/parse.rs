//! JSON text to a tree, and the tree as the Java objects Cassandra's parser makes of it: which
//! class a number has, and what a tree looks like in messages. Knows no CQL types.

use std::borrow::Cow;
use std::fmt::Write;

use num_bigint::BigInt;
use serde_json::Value;

use crate::literals::java_double;

/// Digits a number may have, and characters a name (Jackson's `StreamReadConstraints`). Depth is
/// bounded by the parser, at 128.
const NUMBER_DIGITS_MAX: usize = 1000;
const NAME_CHARACTERS_MAX: usize = 50_000;

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Reads the first value of a text; what follows it is not looked at.
///
/// # Errors
/// Why it is not JSON, in words of the parser's or ours.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    if let Some(word) = word(text) {
        return Ok(word);
    }
    let text = without_lone_surrogates(text);
    let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let value = match stream.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("No content to map due to end-of-input".to_owned()),
    };
    let rest = text.get(stream.byte_offset()..).unwrap_or_default();
    if value.is_number() && !rest.is_empty() && !rest.starts_with(BLANKS) {
        return Err("Expected space separating root-level values".to_owned());
    }
    check(&value)?;
    Ok(value)
}

/// A text that begins with one of JSON's words, whatever follows that does not belong to a word.
fn word(text: &str) -> Option<Value> {
    let text = text.trim_start_matches(BLANKS);
    let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
    words.into_iter().find_map(|(word, value)| {
        let next = text.strip_prefix(word)?.chars().next();
        let goes_on = next.is_some_and(|c| c >= '0' && (c.is_alphanumeric() || c == '_'));
        (!goes_on).then_some(value)
    })
}

/// Half of a surrogate pair (`\ud83d` alone) is no character. Java keeps it, and writes `?` for it
/// when the text becomes bytes.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (escape, is_lone) = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, false),
            (Some(0xd800..=0xdfff), _) => (6, true),
            (Some(_), _) => (6, false),
            // The backslash and the character behind it.
            (None, _) => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), false),
        };
        out.push_str(if is_lone { "?" } else { &rest[..escape] });
        rest = &rest[escape..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The UTF-16 unit of an escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let digits = number.as_str().bytes().filter(u8::is_ascii_digit).count();
            if digits > NUMBER_DIGITS_MAX {
                return Err(format!(
                    "Number value length ({digits}) exceeds the maximum allowed ({NUMBER_DIGITS_MAX})"
                ));
            }
            Ok(())
        }
        Value::Array(elements) => elements.iter().try_for_each(check),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            if name.len() > NAME_CHARACTERS_MAX && name.chars().count() > NAME_CHARACTERS_MAX {
                return Err(format!(
                    "Name length ({}) exceeds the maximum allowed ({NAME_CHARACTERS_MAX})",
                    name.chars().count()
                ));
            }
            check(value)
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// A number by the class Java gives it: the smallest integer that holds it, or a double.
pub(super) enum Number {
    Int(i32),
    Long(i64),
    Big(BigInt),
    Double(f64),
}

impl Number {
    /// The class of a number.
    pub(super) fn of(number: &serde_json::Number) -> Number {
        let text = number.as_str();
        if text.contains(['.', 'e', 'E']) {
            // JSON's numbers are numbers of Rust's too; too large ones are infinite.
            return Number::Double(text.parse().unwrap_or(f64::NAN));
        }
        match (text.parse(), text.parse()) {
            (Ok(int), _) => Number::Int(int),
            (_, Ok(long)) => Number::Long(long),
            _ => Number::Big(text.parse().unwrap_or_default()),
        }
    }

    fn class(&self) -> &'static str {
        match self {
            Number::Int(_) => "java.lang.Integer",
            Number::Long(_) => "java.lang.Long",
            Number::Big(_) => "java.math.BigInteger",
            Number::Double(_) => "java.lang.Double",
        }
    }

    fn text(&self) -> String {
        match self {
            Number::Int(number) => number.to_string(),
            Number::Long(number) => number.to_string(),
            Number::Big(number) => number.to_string(),
            Number::Double(number) => java_double(*number),
        }
    }
}

/// The full name of the Java class of a value.
pub(super) fn class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) => Number::of(number).class(),
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.LinkedHashMap",
    }
}

/// The name of a value's class without its package.
pub(super) fn simple_class(value: &Value) -> &'static str {
    let class = class(value);
    class.rsplit_once('.').map_or(class, |(_, simple)| simple)
}

/// A value as Java's `toString` shows it.
pub(super) fn java_text(value: &Value) -> Cow<'_, str> {
    if let Value::String(text) = value {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    put_java_text(value, &mut out);
    Cow::Owned(out)
}

fn put_java_text(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&Number::of(number).text()),
        Value::String(text) => out.push_str(text),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                put_java_text(element, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                // A String never refuses what is written to it.
                let _ = write!(out, "{}{name}=", if index > 0 { ", " } else { "" });
                put_java_text(value, out);
            }
            out.push('}');
        }
    }
}
