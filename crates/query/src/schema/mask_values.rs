//! Arguments of masks as `system_schema.column_masks` keeps them: text
//! (`AbstractType.getString`, `fromString`).

use basalt_model::DataType;
use basalt_model::types::elements::{pack_tuple, take_value};
use bytes::Bytes;

use crate::literals;

fn fields(data_type: &DataType) -> Option<Vec<&DataType>> {
    match data_type {
        DataType::Tuple(parts) => Some(parts.iter().collect()),
        DataType::Udt { definition, .. } => Some(definition.fields.iter().map(|(_, field)| field).collect()),
        _ => None,
    }
}

/// A value as text: fields behind one another with `:` between them and `@` for null, other values
/// that are made of values as hexadecimal.
pub fn to_stored(data_type: &DataType, value: &Bytes) -> String {
    let Some(types) = fields(data_type) else {
        let is_text = !data_type.is_collection()
            && !matches!(data_type, DataType::Blob | DataType::Vector { .. } | DataType::Custom(_));
        let text = if is_text { literals::to_text(data_type, value) } else { None };
        return text.unwrap_or_else(|| value.iter().map(|byte| format!("{byte:02x}")).collect());
    };
    let mut rest: &[u8] = value;
    let mut parts = Vec::new();
    for data_type in types {
        if rest.is_empty() {
            break;
        }
        parts.push(match take_value(&mut rest).flatten() {
            None => "@".to_owned(),
            Some(part) => {
                to_stored(data_type, &value.slice_ref(part)).replace(':', "\\:").replace('@', "\\@")
            }
        });
    }
    parts.join(":")
}

/// A value from its text; `None` when it is none.
pub fn from_stored(data_type: &DataType, text: &str) -> Option<Bytes> {
    let Some(types) = fields(data_type) else { return literals::from_text(data_type, text).ok() };
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(':').filter(|(at, _)| !text[..*at].ends_with('\\')) {
        parts.push(&text[start..at]);
        start = at + 1;
    }
    parts.push(&text[start..]);
    if parts.len() > types.len() {
        return None;
    }
    let read = |(part, data_type): (&&str, &&DataType)| match *part {
        "@" => Some(None),
        part => from_stored(data_type, &part.replace("\\:", ":").replace("\\@", "@")).map(Some),
    };
    let values: Option<Vec<Option<Bytes>>> = parts.iter().zip(&types).map(read).collect();
    Some(pack_tuple(&values?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_text() {
        let pair = DataType::Tuple([DataType::Int, DataType::Text].into());
        let nested = DataType::Tuple([pair.clone(), DataType::Text].into());
        let int = |value: i32| Some(Bytes::copy_from_slice(&value.to_be_bytes()));
        let text = |value: &str| Some(Bytes::copy_from_slice(value.as_bytes()));
        let inner = pack_tuple(&[int(7), text("a:b@c")]);
        for (data_type, value, stored) in [
            (&DataType::Int, int(5).unwrap(), "5"),
            (&DataType::Blob, Bytes::from_static(&[0xca, 0xfe]), "cafe"),
            (&pair, pack_tuple(&[int(1), None]), "1:@"),
            (&pair, pack_tuple(&[int(1)]), "1"),
            (&pair, inner.clone(), "7:a\\:b\\@c"),
        ] {
            assert_eq!(to_stored(data_type, &value), stored);
            assert_eq!(from_stored(data_type, stored), Some(value));
        }
        assert_eq!(to_stored(&nested, &pack_tuple(&[Some(inner), text("x")])).matches(':').count(), 3);
        assert_eq!(from_stored(&DataType::Int, "x"), None);
    }
}
