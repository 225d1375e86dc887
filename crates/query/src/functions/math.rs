//! `abs`, `round`, `exp`, `log`, `log10` (`MathFcts`).

use basalt_model::DataType;
use bytes::Bytes;
use num_traits::Signed;

use super::decimal::{Decimal, Rounding};
use super::number::Number;
use super::{Function, NUMBERS, Scalar, big_math, logarithm};
use crate::error::{CqlResult, bail};

/// Numbers with more digits have no exponential here: it would take seconds.
const PRECISION_MAX: i64 = 1000;

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
    let result = match operation {
        Operation::Abs => Ok(abs(number)),
        Operation::Round => round(number),
        operation => match number {
            Number::Decimal(x) => exponential(operation, &x).map(Number::Decimal),
            Number::Big(x) => whole_exponential(operation, Decimal::new(x, 0)),
            other => Ok(Number::Double(double_exponential(operation, other.as_double()))),
        },
    };
    match result {
        Ok(number) => Ok(Some(number.write(data_type))),
        Err(why) => bail!("Failed to compute {} of a {data_type}: {why}", function.full_name()),
    }
}

/// The smallest integer of a type has no positive counterpart and stays.
fn abs(number: Number) -> Number {
    match number {
        Number::Long(value) => Number::Long(value.wrapping_abs()),
        Number::Float(value) => Number::Float(value.abs()),
        Number::Double(value) => Number::Double(value.abs()),
        Number::Big(value) => Number::Big(value.abs()),
        Number::Decimal(value) => Number::Decimal(value.abs()),
    }
}

/// Floating numbers go through integers: halves go up, towards positive infinity, and what is
/// larger than an integer becomes the largest (`Math.round`). Decimals' halves go away from zero.
fn round(number: Number) -> Result<Number, String> {
    Ok(match number {
        Number::Float(value) => Number::Float(half_up(f64::from(value)) as i32 as f32),
        Number::Double(value) => Number::Double(half_up(value) as i64 as f64),
        Number::Decimal(value) => Number::Decimal(value.set_scale(0, Rounding::HalfUp)?),
        whole => whole,
    })
}

fn half_up(value: f64) -> f64 {
    let below = value.floor();
    if value - below >= 0.5 { below + 1.0 } else { below }
}

fn double_exponential(operation: Operation, value: f64) -> f64 {
    match operation {
        Operation::Exp => value.exp(),
        Operation::Log => logarithm::log(value),
        _ => logarithm::log10(value),
    }
}

/// With as many digits as the number has, but at least 32.
pub(super) fn exponential(operation: Operation, x: &Decimal) -> Result<Decimal, String> {
    const PRECISION_MIN: i64 = 32;
    let precision = x.precision().max(PRECISION_MIN);
    if precision > PRECISION_MAX {
        return Err(format!("it has more than {PRECISION_MAX} digits"));
    }
    let is_positive = !x.is_zero() && !x.is_negative();
    let result = match operation {
        Operation::Exp => big_math::exp(x, precision),
        Operation::Log if is_positive => big_math::log(x, precision),
        Operation::Log => Err("Natural log of number zero or less".to_owned()),
        _ if is_positive => big_math::log10(x, precision),
        _ => Err("Log10 of number zero or less".to_owned()),
    };
    result?.with_small_scale()
}

/// What is behind the point is cut off.
pub(super) fn whole_exponential(operation: Operation, x: Decimal) -> Result<Number, String> {
    Ok(Number::Big(exponential(operation, &x)?.set_scale(0, Rounding::Down)?.unscaled))
}
