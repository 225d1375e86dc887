//! `+ - * / %` and unary minus (`OperationFcts`).

use std::ops::{Add, Div, Mul, Rem, Sub};

use basalt_cql::ast::ArithmeticOp;
use basalt_model::error::FunctionFailure;
use basalt_model::{CqlError, DataType};
use bytes::Bytes;
use num_bigint::BigInt;
use num_traits::Zero;

use super::decimal::{Decimal, Rounding};
use super::number::Number;
use super::{Function, NUMBERS, Scalar, temporal};
use crate::error::CqlResult;

/// The function behind unary minus.
pub(crate) const NEGATE: &str = "_negate";

const OPERATORS: [(ArithmeticOp, &str); 5] = [
    (ArithmeticOp::Add, "_add"),
    (ArithmeticOp::Subtract, "_substract"),
    (ArithmeticOp::Multiply, "_multiply"),
    (ArithmeticOp::Divide, "_divide"),
    (ArithmeticOp::Modulo, "_modulo"),
];

/// The function behind an operator.
pub(crate) fn function_name(op: ArithmeticOp) -> &'static str {
    OPERATORS.iter().find(|(operator, _)| *operator == op).map_or("", |(_, name)| name)
}

/// The operator a function is behind.
pub(crate) fn operator_of(name: &str) -> Option<ArithmeticOp> {
    OPERATORS.iter().find(|(_, function)| *function == name).map(|(op, _)| *op)
}

/// The functions of a name.
pub(super) fn offer(name: &str) -> Vec<Function> {
    if name == NEGATE {
        let one = |t: &DataType| Function::scalar(name, std::slice::from_ref(t), t.clone(), Scalar::Negate);
        return NUMBERS.iter().map(one).collect();
    }
    let Some(op) = operator_of(name) else { return Vec::new() };
    let function = |left: &DataType, right: &DataType, returns: DataType| {
        Function::scalar(name, &[left.clone(), right.clone()], returns, Scalar::Arithmetic(op))
    };
    let mut found = Vec::new();
    for left in &NUMBERS {
        for right in &NUMBERS {
            found.push(function(left, right, result_type(left, right)));
        }
    }
    found.extend(temporal::offer(name, op));
    if op == ArithmeticOp::Add {
        let (text, ascii) = (DataType::Text, DataType::Ascii);
        found.push(function(&text, &text, DataType::Text));
        found.push(function(&ascii, &ascii, DataType::Ascii));
        found.push(function(&ascii, &text, DataType::Text));
        found.push(function(&text, &ascii, DataType::Text));
    }
    found
}

/// Bytes of a number's type; `u32::MAX` for those without limit.
fn size(data_type: &DataType) -> u32 {
    match data_type {
        DataType::TinyInt => 1,
        DataType::SmallInt => 2,
        DataType::Int | DataType::Float => 4,
        DataType::BigInt | DataType::Counter | DataType::Double => 8,
        _ => u32::MAX,
    }
}

fn result_type(left: &DataType, right: &DataType) -> DataType {
    let is_float = |t: &DataType| matches!(t, DataType::Float | DataType::Double | DataType::Decimal);
    match (is_float(left) || is_float(right), size(left).max(size(right))) {
        (true, 4) => DataType::Float,
        (true, 8) => DataType::Double,
        (true, _) => DataType::Decimal,
        (false, 1) => DataType::TinyInt,
        (false, 2) => DataType::SmallInt,
        (false, 4) => DataType::Int,
        (false, 8) => DataType::BigInt,
        (false, _) => DataType::Varint,
    }
}

/// Computes `left op right`.
pub(super) fn call(op: ArithmeticOp, function: &Function, arguments: &[Bytes]) -> CqlResult<Option<Bytes>> {
    let ([left_type, right_type], [left, right]) = (function.arguments.as_slice(), arguments) else {
        return Ok(None);
    };
    if matches!(function.returns, DataType::Text | DataType::Ascii) {
        return Ok(Some([left.as_ref(), right.as_ref()].concat().into()));
    }
    if *right_type == DataType::Duration {
        let shifted = temporal::shift(left_type, left, right, op == ArithmeticOp::Subtract);
        return shifted.map_err(|why| failure(op, function, &why));
    }
    let (Some(left), Some(right)) = (Number::read(left_type, left), Number::read(right_type, right)) else {
        return Ok(None);
    };
    match compute(op, &function.returns, &left, &right) {
        Ok(number) => Ok(Some(number.write(&function.returns))),
        Err(why) => Err(failure(op, function, &why)),
    }
}

fn failure(op: ArithmeticOp, function: &Function, why: &str) -> CqlError {
    let types: Vec<String> = function.arguments.iter().map(DataType::to_string).collect();
    let message = format!("the operation '{}' failed: {why}", types.join(&format!(" {} ", op.symbol())));
    CqlError::FunctionFailure(Box::new(FunctionFailure {
        keyspace: "system".to_owned(),
        function: function.name.clone(),
        argument_types: types,
        message,
    }))
}

/// Computes `left op right` of a type; why not, as a text.
pub(crate) fn compute(
    op: ArithmeticOp,
    returns: &DataType,
    left: &Number,
    right: &Number,
) -> Result<Number, String> {
    match returns {
        DataType::Float => Ok(Number::Float(apply(op, left.as_float(), right.as_float()))),
        DataType::Double => Ok(Number::Double(apply(op, left.as_double(), right.as_double()))),
        DataType::Decimal => decimal(op, &operand(left)?, &operand(right)?).map(Number::Decimal),
        DataType::Varint => {
            let (left, right) = (left.as_big(), right.as_big());
            if right.is_zero() && is_division(op) {
                return Err("BigInteger divide by zero".to_owned());
            }
            Ok(Number::Big(apply::<BigInt>(op, left, right)))
        }
        _ => long(op, left.as_long(), right.as_long()).map(Number::Long),
    }
}

fn is_division(op: ArithmeticOp) -> bool {
    matches!(op, ArithmeticOp::Divide | ArithmeticOp::Modulo)
}

fn apply<T>(op: ArithmeticOp, left: T, right: T) -> T
where
    T: Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T> + Rem<Output = T>,
{
    match op {
        ArithmeticOp::Add => left + right,
        ArithmeticOp::Subtract => left - right,
        ArithmeticOp::Multiply => left * right,
        ArithmeticOp::Divide => left / right,
        ArithmeticOp::Modulo => left % right,
    }
}

/// Wraps around, as Java's integers do.
fn long(op: ArithmeticOp, left: i64, right: i64) -> Result<i64, String> {
    Ok(match op {
        ArithmeticOp::Add => left.wrapping_add(right),
        ArithmeticOp::Subtract => left.wrapping_sub(right),
        ArithmeticOp::Multiply => left.wrapping_mul(right),
        _ if right == 0 => return Err("/ by zero".to_owned()),
        ArithmeticOp::Divide => left.wrapping_div(right),
        ArithmeticOp::Modulo => left.wrapping_rem(right),
    })
}

/// `left op right` as `DecimalType` computes it.
pub(super) fn decimal(op: ArithmeticOp, left: &Decimal, right: &Decimal) -> Result<Decimal, String> {
    const PRECISION_MAX: i64 = 10_000;
    let result = match op {
        ArithmeticOp::Add => left.add_rounded(right, PRECISION_MAX, Rounding::HalfUp),
        ArithmeticOp::Subtract => left.subtract_rounded(right, PRECISION_MAX, Rounding::HalfUp),
        ArithmeticOp::Multiply => left.multiply_rounded(right, PRECISION_MAX, Rounding::HalfUp),
        ArithmeticOp::Divide => divide(left, right),
        ArithmeticOp::Modulo => left.remainder(right),
    };
    result?.with_small_scale()
}

/// Numbers of limited length become decimals by way of doubles, so that 2 has one decimal
/// (`DecimalType.toBigDecimal`).
fn operand(number: &Number) -> Result<Decimal, String> {
    if matches!(number, Number::Decimal(_) | Number::Big(_)) {
        return Ok(number.as_decimal());
    }
    let double = number.as_double();
    if double.is_nan() {
        return Err("A NaN cannot be converted into a decimal".to_owned());
    }
    if double.is_infinite() {
        return Err("An infinite number cannot be converted into a decimal".to_owned());
    }
    Ok(Number::Double(double).as_decimal())
}

/// At least 32 significant digits and at most 1000 decimals.
fn divide(left: &Decimal, right: &Decimal) -> Result<Decimal, String> {
    const SIGNIFICANT_DIGITS: i64 = 32;
    const SCALE_MAX: i64 = 1000;
    let first_digit = left.magnitude() - right.magnitude();
    let scale = (SIGNIFICANT_DIGITS - first_digit)
        .max(left.scale)
        .max(right.scale)
        .clamp(SIGNIFICANT_DIGITS, SCALE_MAX);
    Ok(left.divide_to_scale(right, scale, Rounding::HalfUp)?.strip_trailing_zeros())
}

/// Computes `-value`.
pub(super) fn negate(function: &Function, value: &Bytes) -> Option<Bytes> {
    let data_type = function.arguments.first()?;
    let negated = match Number::read(data_type, value)? {
        Number::Long(value) => Number::Long(value.wrapping_neg()),
        Number::Float(value) => Number::Float(-value),
        Number::Double(value) => Number::Double(-value),
        Number::Big(value) => Number::Big(-value),
        Number::Decimal(value) => Number::Decimal(value.negate()),
    };
    Some(negated.write(data_type))
}
