//! Which constants with a fraction or exponent Cassandra's parser takes: those that Java's `BigDecimal` reads and
//! whose nearest `double` is finite (`Constants.Type.FLOAT` asks while it parses).

const EXPONENT_DIGITS_MAX: usize = 10;

/// Why a constant is refused, in Java's words.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i64);
    if i32::try_from(decimals - exponent).is_err() {
        return Err("Scale out of range.");
    }
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => Ok(()),
        // `BigDecimal.valueOf` reads the double's text, which is "Infinity" then.
        _ => Err(
            "Character I is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.",
        ),
    }
}

fn exponent(text: &str) -> Result<i64, &'static str> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let significant = digits.trim_start_matches('0');
    if significant.len() > EXPONENT_DIGITS_MAX {
        return Err("Too many nonzero exponent digits.");
    }
    let size = significant.parse::<i64>().unwrap_or(0);
    let exponent = if negative { -size } else { size };
    if i32::try_from(exponent).is_err() { Err("Exponent overflow.") } else { Ok(exponent) }
}
