//! Values as blobs and back: `int_as_blob`, `blob_as_int`, and their older names
//! (`BytesConversionFcts`).

use std::fmt::Write;

use basalt_cql::ast::NativeType;
use basalt_model::DataType;
use bytes::Bytes;

use super::{Function, Scalar};
use crate::error::{CqlResult, bail};
use crate::types;

const NATIVES: [NativeType; 20] = [
    NativeType::Ascii,
    NativeType::Bigint,
    NativeType::Boolean,
    NativeType::Counter,
    NativeType::Date,
    NativeType::Decimal,
    NativeType::Double,
    NativeType::Duration,
    NativeType::Float,
    NativeType::Inet,
    NativeType::Int,
    NativeType::Smallint,
    NativeType::Text,
    NativeType::Time,
    NativeType::Timestamp,
    NativeType::Timeuuid,
    NativeType::Tinyint,
    NativeType::Uuid,
    NativeType::Varchar,
    NativeType::Varint,
];

fn native(name: &str) -> Option<DataType> {
    NATIVES.into_iter().find(|native| native.name() == name).map(types::native)
}

/// The functions of a name.
pub(super) fn offer(name: &str) -> Option<Function> {
    let to = name.strip_suffix("_as_blob").or_else(|| name.strip_suffix("asblob"));
    if let Some(from) = to.and_then(native) {
        return Some(Function::scalar(name, &[from], DataType::Blob, Scalar::AsBlob));
    }
    let from = name.strip_prefix("blob_as_").or_else(|| name.strip_prefix("blobas"));
    let returns = from.and_then(native)?;
    Some(Function::scalar(name, &[DataType::Blob], returns, Scalar::FromBlob))
}

/// The bytes, checked to be a value of the result type.
pub(super) fn from_blob(function: &Function, value: &Bytes) -> CqlResult<Bytes> {
    if function.returns.validate(value).is_err() {
        let mut hex = String::with_capacity(value.len() * 2);
        for byte in value {
            // A String never refuses what is written to it.
            let _ = write!(hex, "{byte:02x}");
        }
        bail!(
            "In call to function {}, value 0x{hex} is not a valid binary representation for type {}",
            function.full_name(),
            function.returns
        );
    }
    Ok(value.clone())
}
