//! Values as blobs and back: `int_as_blob`, `blob_as_int`, and their older names
//! (`BytesConversionFcts`).

use std::fmt::Write;

use basalt_model::DataType;
use bytes::Bytes;

use super::{Function, Scalar};
use crate::error::{CqlResult, bail};

/// The types with functions of their own; `text` and `varchar` are one.
const NATIVES: [(&str, DataType); 21] = [
    ("ascii", DataType::Ascii),
    ("bigint", DataType::BigInt),
    ("boolean", DataType::Boolean),
    ("counter", DataType::Counter),
    ("date", DataType::Date),
    ("decimal", DataType::Decimal),
    ("double", DataType::Double),
    ("duration", DataType::Duration),
    ("empty", DataType::Empty),
    ("float", DataType::Float),
    ("inet", DataType::Inet),
    ("int", DataType::Int),
    ("smallint", DataType::SmallInt),
    ("text", DataType::Text),
    ("time", DataType::Time),
    ("timestamp", DataType::Timestamp),
    ("timeuuid", DataType::LegacyTimeUuid),
    ("tinyint", DataType::TinyInt),
    ("uuid", DataType::Uuid),
    ("varchar", DataType::Text),
    ("varint", DataType::Varint),
];

fn native(name: &str) -> Option<DataType> {
    NATIVES.iter().find(|(native, _)| *native == name).map(|(_, data_type)| data_type.clone())
}

/// The type that a function makes of a blob, as its name says it.
fn from_blob_target(name: &str) -> Option<&str> {
    name.strip_prefix("blob_as_").or_else(|| name.strip_prefix("blobas"))
}

/// The functions of a name.
pub(super) fn offer(name: &str) -> Option<Function> {
    let to = name.strip_suffix("_as_blob").or_else(|| name.strip_suffix("asblob"));
    if let Some(from) = to.and_then(native) {
        return Some(Function::scalar(name, &[from], DataType::Blob, Scalar::AsBlob));
    }
    let returns = from_blob_target(name).and_then(native)?;
    Some(Function::scalar(name, &[DataType::Blob], returns, Scalar::FromBlob))
}

/// The bytes, checked to be a value of the result type.
pub(super) fn from_blob(function: &Function, value: &Bytes) -> CqlResult<Bytes> {
    // What the legacy class would take is not what is asked.
    let target = match &function.returns {
        DataType::LegacyTimeUuid => &DataType::TimeUuid,
        returns => returns,
    };
    if target.validate(value).is_err() {
        let mut hex = String::with_capacity(value.len() * 2);
        for byte in value {
            // A String never refuses what is written to it.
            let _ = write!(hex, "{byte:02x}");
        }
        bail!(
            "In call to function {}, value 0x{hex} is not a valid binary representation for type {}",
            function.full_name(),
            from_blob_target(&function.name).unwrap_or_default()
        );
    }
    Ok(value.clone())
}
