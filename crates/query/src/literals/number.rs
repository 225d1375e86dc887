//! Numbers: integers of every width, floats, decimals. Knows Java's number syntax.

use basalt_model::DataType;
use basalt_model::types::validate::MarshalError;
use bytes::Bytes;
use num_bigint::BigInt;

use super::java_double;
use super::refuse;

/// The smallest of int, bigint and varint that holds an integer constant.
pub(super) fn smallest_integer(text: &str) -> Option<DataType> {
    let number: BigInt = text.parse().ok()?;
    Some(match (i32::try_from(&number), i64::try_from(&number)) {
        (Ok(_), _) => DataType::Int,
        (_, Ok(_)) => DataType::BigInt,
        _ => DataType::Varint,
    })
}

/// Double where it holds the constant exactly enough to print the same, else decimal.
pub(super) fn smallest_float(text: &str) -> Option<DataType> {
    if matches!(text, "NaN" | "-NaN" | "Infinity" | "-Infinity") {
        return Some(DataType::Double);
    }
    let (scale, digits) = split_decimal(text)?;
    let double: f64 = text.parse().ok()?;
    if !double.is_finite() {
        return Some(DataType::Decimal);
    }
    // `BigDecimal.valueOf(double)` goes through the text of the double.
    let (double_scale, double_digits) = split_decimal(&java_double(double))?;
    let same = if digits == BigInt::ZERO || double_digits == BigInt::ZERO {
        digits == double_digits
    } else {
        without_zeros(scale, &digits) == without_zeros(double_scale, &double_digits)
    };
    Some(if same { DataType::Double } else { DataType::Decimal })
}

/// The same number with no zero at the end of its digits.
fn without_zeros(scale: i64, digits: &BigInt) -> (i64, String) {
    let text = digits.to_string();
    let trimmed = text.trim_end_matches('0');
    (scale - (text.len() - trimmed.len()) as i64, trimmed.to_owned())
}

/// Java's `parseInt` and its siblings: an optional sign, then digits.
pub(super) fn integer(data_type: &DataType, text: &str) -> Result<Bytes, MarshalError> {
    let (bytes, name): (Option<Vec<u8>>, &str) = match data_type {
        DataType::TinyInt => (text.parse::<i8>().ok().map(|n| n.to_be_bytes().to_vec()), "make byte"),
        DataType::SmallInt => (text.parse::<i16>().ok().map(|n| n.to_be_bytes().to_vec()), "make short"),
        DataType::Int => (text.parse::<i32>().ok().map(|n| n.to_be_bytes().to_vec()), "make int"),
        DataType::Varint => {
            let number = text.parse::<BigInt>().ok().filter(|_| !text.contains('_'));
            return match number {
                Some(number) => Ok(number.to_signed_bytes_be().into()),
                None => refuse(format!("unable to make int from '{text}'")),
            };
        }
        _ => (text.parse::<i64>().ok().map(|n| n.to_be_bytes().to_vec()), "make long"),
    };
    match bytes {
        Some(bytes) => Ok(bytes.into()),
        None => refuse(format!("Unable to {name} from '{text}'")),
    }
}

/// Java's `parseFloat` and `parseDouble`, hexadecimal forms excepted.
pub(super) fn float(data_type: &DataType, text: &str) -> Result<Bytes, MarshalError> {
    let trimmed = text.trim();
    let unsigned = trimmed.trim_start_matches(['+', '-']);
    let named = matches!(unsigned, "NaN" | "Infinity");
    // Rust also reads "inf", "nan" and the like; Java reads a suffix.
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let body = if named { trimmed } else { trimmed.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(trimmed) };
    let name = if *data_type == DataType::Float { "float" } else { "double" };
    if !named && !numeric {
        return refuse(format!("Unable to make {name} from '{text}'"));
    }
    let canonical_nan = unsigned == "NaN";
    let bytes = match data_type {
        DataType::Float if canonical_nan => Some(Bytes::copy_from_slice(&f32::NAN.to_be_bytes())),
        _ if canonical_nan => Some(Bytes::copy_from_slice(&f64::NAN.to_be_bytes())),
        DataType::Float => body.parse::<f32>().ok().map(|n| Bytes::copy_from_slice(&n.to_be_bytes())),
        _ => body.parse::<f64>().ok().map(|n| Bytes::copy_from_slice(&n.to_be_bytes())),
    };
    match bytes {
        Some(bytes) => Ok(bytes),
        None => refuse(format!("Unable to make {name} from '{text}'")),
    }
}

/// Java's `new BigDecimal(String)`: the digits as written give the scale.
pub(super) fn decimal(text: &str) -> Result<Bytes, MarshalError> {
    let parsed = split_decimal(text).and_then(|(scale, digits)| Some((i32::try_from(scale).ok()?, digits)));
    let Some((scale, digits)) = parsed else {
        return refuse(format!("unable to make BigDecimal from '{text}'"));
    };
    let mut bytes = scale.to_be_bytes().to_vec();
    bytes.extend_from_slice(&digits.to_signed_bytes_be());
    Ok(bytes.into())
}

/// Scale and unscaled digits of `[+-]digits[.digits][e[+-]digits]`; nothing is scaled up.
fn split_decimal(text: &str) -> Option<(i64, BigInt)> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.trim_start_matches(['+', '-']);
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let sign_length = whole.len() - digits.len();
    if sign_length > 1
        || !all_digits(digits)
        || !all_digits(fraction)
        || (digits.is_empty() && fraction.is_empty())
    {
        return None;
    }
    let unscaled: BigInt = format!("{whole}{fraction}").parse().ok()?;
    Some((fraction.len() as i64 - exponent, unscaled))
}
