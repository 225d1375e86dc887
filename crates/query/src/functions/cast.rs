//! `CAST(a AS type)` (`CastFcts`).

use basalt_model::DataType;
use bytes::Bytes;

use super::number::Number;
use super::{Function, NUMBERS, Scalar, time};
use crate::error::{CqlResult, invalid};
use crate::literals;

/// The functions of a name.
pub(super) fn offer(name: &str) -> Vec<Function> {
    use DataType as T;
    let Some(target) = target(name) else { return Vec::new() };
    let text_from = [T::Inet, T::Boolean, T::TimeUuid, T::Timestamp, T::Date, T::Time, T::Uuid];
    let numeric = |to: DataType| -> (DataType, Vec<DataType>) {
        let from = NUMBERS.iter().filter(|from| **from != to).cloned().collect();
        (to, from)
    };
    let (to, from): (DataType, Vec<DataType>) = match target.as_str() {
        "tinyint" => numeric(T::TinyInt),
        "smallint" => numeric(T::SmallInt),
        "int" => numeric(T::Int),
        "bigint" => numeric(T::BigInt),
        "float" => numeric(T::Float),
        "double" => numeric(T::Double),
        "decimal" => numeric(T::Decimal),
        "varint" => numeric(T::Varint),
        "ascii" => (T::Ascii, NUMBERS.iter().cloned().chain(text_from).collect()),
        "text" => (T::Text, NUMBERS.iter().cloned().chain(text_from).chain([T::Ascii]).collect()),
        "date" => (T::Date, vec![T::TimeUuid, T::Timestamp]),
        "timestamp" => (T::Timestamp, vec![T::TimeUuid, T::Date]),
        _ => return Vec::new(),
    };
    let function = |from: DataType| Function::scalar(name, &[from], to.clone(), Scalar::Cast);
    from.into_iter().map(function).collect()
}

/// The name of the type a function casts to: `cast_as_int` and its older name `castAsInt`.
pub(super) fn target(name: &str) -> Option<String> {
    if let Some(target) = name.strip_prefix("cast_as_") {
        return Some(target.to_owned());
    }
    let target = name.strip_prefix("castAs")?;
    let lower = target.to_ascii_lowercase();
    (target.starts_with(|first: char| first.is_ascii_uppercase()) && target[1..] == lower[1..])
        .then_some(lower)
}

/// Converts.
pub(super) fn call(function: &Function, value: &Bytes) -> CqlResult<Option<Bytes>> {
    let Some(from) = function.arguments.first() else { return Ok(None) };
    match &function.returns {
        DataType::Text | DataType::Ascii if matches!(from, DataType::Ascii) => Ok(Some(value.clone())),
        DataType::Text | DataType::Ascii if value.is_empty() => Ok(None),
        DataType::Text | DataType::Ascii => Ok(literals::to_text(from, value).map(Into::into)),
        DataType::Date | DataType::Timestamp => time::convert(function, value),
        returns => {
            let Some(number) = Number::read(from, value) else { return Ok(None) };
            if matches!(returns, DataType::Decimal) && !number.is_finite() {
                return invalid(
                    "Character N is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.",
                );
            }
            // Cassandra goes through 64 bits on the way to varint.
            Ok(Some(if matches!(returns, DataType::Varint) {
                Number::Long(number.as_long()).write(returns)
            } else {
                number.write(returns)
            }))
        }
    }
}
