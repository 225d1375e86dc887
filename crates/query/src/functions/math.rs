//! `abs`, `round`, `exp`, `log`, `log10` (`MathFcts`). Exponentials of `decimal` and `varint`
//! are not built yet.

use basalt_model::{CqlError, DataType};
use bigdecimal::RoundingMode;
use bytes::Bytes;

use super::number::Number;
use super::{Function, NUMBERS, Scalar};
use crate::error::CqlResult;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the function of the same name.
pub(crate) enum Operation {
    Abs,
    Round,
    Exp,
    Log,
    Log10,
}

/// The functions of a name.
pub(super) fn offer(name: &str) -> Vec<Function> {
    let operation = match name {
        "abs" => Operation::Abs,
        "round" => Operation::Round,
        "exp" => Operation::Exp,
        "log" => Operation::Log,
        "log10" => Operation::Log10,
        _ => return Vec::new(),
    };
    let one =
        |t: &DataType| Function::scalar(name, std::slice::from_ref(t), t.clone(), Scalar::Math(operation));
    NUMBERS.iter().map(one).collect()
}

/// Computes.
pub(super) fn call(operation: Operation, function: &Function, value: &Bytes) -> CqlResult<Option<Bytes>> {
    let data_type = &function.returns;
    let Some(number) = Number::read(data_type, value) else { return Ok(None) };
    let result = match (operation, number) {
        (Operation::Abs, Number::Long(value)) => Number::Long(value.wrapping_abs()),
        (Operation::Abs, Number::Float(value)) => Number::Float(value.abs()),
        (Operation::Abs, Number::Double(value)) => Number::Double(value.abs()),
        (Operation::Abs, Number::Big(value)) => {
            Number::Big(if value.sign() == num_bigint::Sign::Minus { -value } else { value })
        }
        (Operation::Abs, Number::Decimal(value)) => Number::Decimal(value.abs()),
        // Java rounds halves up, towards positive infinity.
        (Operation::Round, Number::Float(value)) => Number::Float((value + 0.5).floor()),
        (Operation::Round, Number::Double(value)) => Number::Double((value + 0.5).floor()),
        (Operation::Round, Number::Decimal(value)) => {
            Number::Decimal(value.with_scale_round(0, RoundingMode::HalfUp))
        }
        (Operation::Round, whole) => whole,
        (_, Number::Big(_) | Number::Decimal(_)) => {
            return Err(CqlError::unsupported(format!("the function {} of {data_type}", function.name)));
        }
        (Operation::Exp, number) => Number::Double(number.as_double().exp()),
        (Operation::Log, number) => Number::Double(number.as_double().ln()),
        (Operation::Log10, number) => Number::Double(number.as_double().log10()),
    };
    Ok(Some(result.write(data_type)))
}
