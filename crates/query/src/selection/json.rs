//! The columns of a row as one JSON object (`Selection.rowToJson`).

use basalt_model::DataType;
use bytes::Bytes;

use crate::error::CqlResult;
use crate::json::{print, put_string, shown_name, written};
use crate::result::ResultMetadata;

/// What a row's object has.
#[derive(Clone, Debug)]
pub(super) struct JsonRow {
    /// Of each column the name, written as JSON with its colon, and the type.
    fields: Vec<(String, DataType)>,
}

impl JsonRow {
    /// Of a result of these columns.
    pub(super) fn of(metadata: &ResultMetadata) -> JsonRow {
        let field = |name: &str, data_type: &DataType| {
            let mut text = String::new();
            put_string(&shown_name(name), &mut text);
            text.push_str(": ");
            (text, data_type.clone())
        };
        JsonRow { fields: metadata.columns.iter().map(|spec| field(&spec.name, &spec.data_type)).collect() }
    }

    /// Puts one text in the place of the columns that begin at `start`; how many bytes it has.
    pub(super) fn replace(&self, values: &mut Vec<Option<Bytes>>, start: usize) -> CqlResult<usize> {
        let columns = values.get(start..).unwrap_or_default();
        let text = written(|text| {
            text.push('{');
            for (index, ((name, data_type), value)) in self.fields.iter().zip(columns).enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                text.push_str(name);
                match value {
                    Some(value) => print(data_type, value, text),
                    None => text.push_str("null"),
                }
            }
            text.push('}');
        })?;
        let bytes = text.len();
        let end = values.len().min(start + self.fields.len());
        values.splice(start..end, [Some(text)]);
        Ok(bytes)
    }
}
