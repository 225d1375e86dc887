//! Serialized values as JSON (`AbstractType.toJSONString` of each type).

use std::fmt::Write;

use basalt_model::DataType;
use basalt_model::types::elements::{take_vector_element, unpack_collection, unpack_tuple};
use bytes::Bytes;

use crate::error::{CqlResult, ensure};
use crate::literals::to_text;
use crate::values::unpack_nullable_list;

/// Bytes of JSON that one row, or one value, may come to. Names of fields make text of no bytes at
/// all, and JSON of JSON doubles its backslashes.
const JSON_BYTES_MAX: usize = 64 << 20;

/// A text with what `write` appends.
///
/// # Errors
/// When it comes to more than a client could be sent.
pub(crate) fn written(write: impl FnOnce(&mut String)) -> CqlResult<Bytes> {
    let mut text = String::new();
    write(&mut text);
    ensure(text.len() <= JSON_BYTES_MAX, || format!("More than {JSON_BYTES_MAX} bytes of JSON"))?;
    Ok(text.into())
}

/// Appends a value, unless there is too much already. What the type cannot make sense of is `null`: a value was checked when it was
/// written.
pub(crate) fn print(data_type: &DataType, value: &Bytes, out: &mut String) {
    if out.len() > JSON_BYTES_MAX {
        return;
    }
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            // Lists of cells' times have nulls.
            let Some(elements) = unpack_nullable_list(value) else { return out.push_str("null") };
            list(out, elements.iter().map(|value| (&**element, value.as_ref())));
        }
        DataType::Map { key, value: values, .. } => {
            let Some(entries) = unpack_collection(value, 2) else { return out.push_str("null") };
            out.push('{');
            for (index, entry) in entries.chunks_exact(2).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                map_key(key, &entry[0], out);
                out.push_str(": ");
                print(values, &entry[1], out);
            }
            out.push('}');
        }
        DataType::Tuple(types) => {
            let Some(fields) = unpack_tuple(value, types.len()) else { return out.push_str("null") };
            list(out, types.iter().zip(fields.iter().map(Option::as_ref)));
        }
        DataType::Vector { element, dimension } => {
            let mut rest: &[u8] = value;
            let elements = (0..*dimension).map(|_| take_vector_element(&mut rest, element));
            let elements = elements.map(|element| element.map(|element| value.slice_ref(element)));
            let elements: Vec<Option<Bytes>> = elements.collect();
            list(out, elements.iter().map(|value| (&**element, value.as_ref())));
        }
        DataType::Udt { definition, .. } => {
            let Some(values) = unpack_tuple(value, definition.fields.len()) else {
                return out.push_str("null");
            };
            out.push('{');
            for (index, ((name, data_type), value)) in definition.fields.iter().zip(&values).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                put_string(&shown_name(name), out);
                out.push_str(": ");
                print_or_null(data_type, value.as_ref(), out);
            }
            out.push('}');
        }
        DataType::Reversed(base) => print(base, value, out),
        scalar => self::scalar(scalar, value, out),
    }
}

fn print_or_null(data_type: &DataType, value: Option<&Bytes>, out: &mut String) {
    match value {
        Some(value) => print(data_type, value, out),
        None => out.push_str("null"),
    }
}

fn list<'a>(out: &mut String, elements: impl Iterator<Item = (&'a DataType, Option<&'a Bytes>)>) {
    out.push('[');
    for (index, (data_type, value)) in elements.enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        print_or_null(data_type, value, out);
    }
    out.push(']');
}

/// Names in JSON are strings: what is not one stands in quotes.
fn map_key(key: &DataType, value: &Bytes, out: &mut String) {
    let mut text = String::new();
    print(key, value, &mut text);
    if text.starts_with('"') { out.push_str(&text) } else { put_string(&text, out) }
}

fn scalar(data_type: &DataType, value: &Bytes, out: &mut String) {
    use DataType as T;
    let text = to_text(data_type, value);
    match data_type {
        T::Ascii | T::Text => put_string(&text.unwrap_or_default(), out),
        T::Boolean => out.push_str(text.as_deref().unwrap_or("null")),
        T::Float | T::Double if matches!(text.as_deref(), Some("NaN" | "Infinity" | "-Infinity")) => {
            out.push_str("null");
        }
        T::TinyInt
        | T::SmallInt
        | T::Int
        | T::BigInt
        | T::Counter
        | T::Varint
        | T::Decimal
        | T::Float
        | T::Double => out.push_str(text.as_deref().unwrap_or("\"\"")),
        // A blank where CQL's own text has a `T`.
        T::Timestamp => put_plain(&text.unwrap_or_default().replace('T', " "), out),
        _ => put_plain(&text.unwrap_or_default(), out),
    }
}

/// A text in which nothing needs escaping.
fn put_plain(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// Appends a string (Jackson's `JsonStringEncoder`).
pub(crate) fn put_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut tail = tail.chars();
        match tail.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            // A String never refuses what is written to it.
            control => drop(write!(out, "\\u{:04X}", control.map_or(0, u32::from))),
        }
        rest = tail.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// The name of a column or field: in quotes where it is not in lower case.
pub(crate) fn shown_name(name: &str) -> String {
    if name.to_lowercase() == name { name.to_owned() } else { format!("\"{name}\"") }
}
