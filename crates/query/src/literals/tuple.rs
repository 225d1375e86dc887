//! Tuples and user types as text (`TupleType.fromString`): fields between colons, `@` for null.

use basalt_model::DataType;
use basalt_model::types::elements::pack_tuple;
use basalt_model::types::validate::MarshalError;
use bytes::Bytes;

use super::{from_text, refuse};

/// Reads the fields, each as the text of its type. Fields may be left out at the end.
pub(super) fn parse<'a>(
    data_type: &DataType,
    types: impl ExactSizeIterator<Item = &'a DataType>,
    text: &str,
) -> Result<Bytes, MarshalError> {
    let fields = split(text);
    if fields.len() > types.len() {
        return refuse(format!(
            "Invalid tuple literal: too many elements. Type {data_type} expects {} but got {}",
            types.len(),
            fields.len()
        ));
    }
    let value = |(field, field_type): (&String, &DataType)| {
        if field == "@" {
            return Ok(None);
        }
        from_text(field_type, &field.replace("\\:", ":").replace("\\@", "@")).map(Some)
    };
    let values = fields.iter().zip(types).map(value).collect::<Result<Vec<_>, _>>()?;
    Ok(pack_tuple(&values))
}

/// The texts between colons that have no backslash before them.
fn split(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut fields = vec![String::new()];
    let mut is_escaped = false;
    for c in text.chars() {
        let ends = c == ':' && !is_escaped;
        is_escaped = c == '\\';
        match fields.last_mut() {
            Some(field) if !ends => field.push(c),
            _ => fields.push(String::new()),
        }
    }
    fields
}
