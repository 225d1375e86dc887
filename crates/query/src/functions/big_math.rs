//! `exp`, `log` and `log10` of decimals with any number of digits. The steps, and how many digits
//! each of them keeps, are those of `ch.obermuhlner.math.big.BigDecimalMath`, which Cassandra
//! computes with: the last digit of a result depends on them.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::decimal::{Decimal, Rounding};

type Result<T> = std::result::Result<T, String>;

const HALF_EVEN: Rounding = Rounding::HalfEven;

fn add(left: &Decimal, right: &Decimal, precision: i64) -> Result<Decimal> {
    left.add_rounded(right, precision, HALF_EVEN)
}

fn multiply(left: &Decimal, right: &Decimal, precision: i64) -> Result<Decimal> {
    left.multiply_rounded(right, precision, HALF_EVEN)
}

fn divide(left: &Decimal, right: &Decimal, precision: i64) -> Result<Decimal> {
    left.divide(right, precision, HALF_EVEN)
}

/// `e^x`.
pub(super) fn exp(x: &Decimal, precision: i64) -> Result<Decimal> {
    if x.is_zero() {
        return Ok(Decimal::from(1));
    }
    if x.magnitude() <= 0 {
        return exp_series(x, precision);
    }
    // More digits than 32 bits have: the whole part is an exponent of that size.
    if x.magnitude() > 10 {
        return Err("Overflow".to_owned());
    }
    let whole = x.set_scale(0, Rounding::Down)?;
    let Some(exponent) = whole.unscaled.to_i32() else { return Err("Overflow".to_owned()) };
    let more = precision + 10;
    let fraction = x.subtract(&whole)?;
    let base = Decimal::from(1).add(&divide(&fraction, &whole, more)?)?;
    power(&exp_series(&base, more)?, i64::from(exponent), more)?.round(precision, HALF_EVEN)
}

/// The Taylor series of a 256th, raised to the 256th power.
fn exp_series(x: &Decimal, precision: i64) -> Result<Decimal> {
    let more = precision + 6;
    let x = divide(x, &Decimal::from(256), more)?;
    let enough = Decimal::new(BigInt::from(1), more + 1);
    let (mut sum, mut numerator, mut denominator) = (Decimal::from(0), Decimal::from(1), Decimal::from(1));
    for n in 1.. {
        let step = divide(&numerator, &denominator, more)?;
        sum = sum.add(&step)?;
        if step.abs().compare(&enough).is_le() {
            break;
        }
        numerator = multiply(&numerator, &x, more)?;
        denominator = denominator.multiply(&Decimal::from(n));
    }
    power(&sum.round(more, HALF_EVEN)?, 256, more)?.round(precision, HALF_EVEN)
}

fn power(x: &Decimal, exponent: i64, precision: i64) -> Result<Decimal> {
    let more = precision + 10;
    if exponent < 0 {
        let positive = power(x, -exponent, more)?;
        return divide(&Decimal::from(1), &positive, more)?.round(precision, HALF_EVEN);
    }
    let (mut result, mut square, mut left) = (Decimal::from(1), x.clone(), exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(&result, &square, more)?;
            left -= 1;
        }
        if left > 0 {
            square = multiply(&square, &square, more)?;
        }
        left >>= 1;
    }
    result.round(precision, HALF_EVEN)
}

/// The natural logarithm of a number above zero.
pub(super) fn log(x: &Decimal, precision: i64) -> Result<Decimal> {
    if x.compare(&Decimal::from(1)).is_eq() {
        return Ok(Decimal::from(0));
    }
    let result = match x.compare(&Decimal::from(10)) {
        std::cmp::Ordering::Equal => log_of(10, precision)?,
        std::cmp::Ordering::Greater => log_by_exponent(x, precision)?,
        // No double is as small: Newton's method would take a step for every two of the result.
        std::cmp::Ordering::Less if x.to_f64() == 0.0 => log_by_exponent(x, precision + 10)?,
        std::cmp::Ordering::Less => log_by_factors(x, precision)?,
    };
    result.round(precision, HALF_EVEN)
}

/// The decadic logarithm of a number above zero.
pub(super) fn log10(x: &Decimal, precision: i64) -> Result<Decimal> {
    let more = precision + 2;
    divide(&log(x, more)?, &log_of(10, more)?, more)?.round(precision, HALF_EVEN)
}

/// Logarithms that nearly all others are made of, to 100 digits.
const KNOWN_LOGS: [(i64, &str); 3] = [
    (
        2,
        "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633269964186875",
    ),
    (
        3,
        "1.098612288668109691395245236922525704647490557822749451734694333637494293218608966873615754813732089",
    ),
    (
        10,
        "2.302585092994045684017991454684364207601101488628772976033327900967572609677352480235997205089598298",
    ),
];

/// The logarithm of 2, 3 or 10.
fn log_of(number: i64, precision: i64) -> Result<Decimal> {
    let known = KNOWN_LOGS.iter().find(|(known, _)| *known == number && precision < 100);
    if let Some(log) = known.and_then(|(_, digits)| Decimal::parse(digits)) {
        return log.round(precision, HALF_EVEN);
    }
    log_by_newton(&Decimal::from(number), precision)?.round(precision, HALF_EVEN)
}

fn log_by_exponent(x: &Decimal, precision: i64) -> Result<Decimal> {
    let (more, double) = (precision + 4, precision * 2);
    let exponent = x.magnitude() - 1;
    let mantissa = Decimal::new(x.unscaled.clone(), x.scale + exponent);
    let mantissa = if mantissa.scale < 0 { mantissa.set_scale(0, Rounding::Down)? } else { mantissa };
    let result = log_by_factors(&mantissa, more)?;
    if exponent == 0 {
        return Ok(result);
    }
    result.add(&multiply(&Decimal::from(exponent), &log_of(10, double)?, more)?)
}

/// How many factors of two and three bring a number near one.
fn factors(value: f64) -> (i32, i32) {
    match value {
        v if v < 0.01 => (0, 0),
        v if v < 0.1 => {
            let (mut value, mut twos) = (v, 0);
            while value < 0.6 {
                (value, twos) = (value * 2.0, twos - 1);
            }
            (twos, 0)
        }
        v if v < 0.115 => (0, -2),
        v if v < 0.14 => (-3, 0),
        v if v < 0.2 => (-1, -1),
        v if v < 0.3 => (-2, 0),
        v if v < 0.42 => (0, -1),
        v if v < 0.7 => (-1, 0),
        v if v < 1.4 => (0, 0),
        v if v < 2.5 => (1, 0),
        v if v < 3.5 => (0, 1),
        v if v < 5.0 => (2, 0),
        v if v < 7.0 => (1, 1),
        v if v < 8.5 => (3, 0),
        _ => (0, 2),
    }
}

fn log_by_factors(x: &Decimal, precision: i64) -> Result<Decimal> {
    let (more, double) = (precision + 4, precision * 2);
    let (twos, threes) = factors(x.to_f64());
    if (twos, threes) == (0, 0) {
        return log_by_newton(x, precision);
    }
    let (mut near_one, mut result) = (x.clone(), Decimal::from(0));
    for (number, times) in [(2_i64, twos), (3, threes)] {
        let factor = Decimal::from(number.pow(times.unsigned_abs()));
        match times {
            0 => continue,
            1.. => near_one = divide(&near_one, &factor, more)?,
            _ => near_one = multiply(&near_one, &factor, more)?,
        }
        result = result.add(&multiply(&log_of(number, double)?, &Decimal::from(i64::from(times)), more)?)?;
    }
    add(&result, &log_by_newton(&near_one, more)?, more)
}

/// Newton's method in Halley's form, beginning with the double and thrice the digits at each step.
fn log_by_newton(x: &Decimal, precision: i64) -> Result<Decimal> {
    let precision_max = precision + 20;
    let enough = Decimal::new(BigInt::from(1), precision + 1);
    let double = x.to_f64();
    let first = if double > 0.0 && double.is_finite() {
        Decimal::parse(&format!("{:e}", double.ln())).map(|first| (first, 15))
    } else {
        None
    };
    let (mut result, mut digits) = match first {
        Some(first) => first,
        None => (divide(x, &Decimal::from(2), precision)?, 1),
    };
    loop {
        digits = (digits * 3).min(precision_max);
        let power = exp(&result, digits)?;
        let difference = Decimal::from(2).multiply(&x.subtract(&power)?);
        let step = divide(&difference, &x.add(&power)?, digits)?;
        result = result.add(&step)?;
        if digits >= precision_max && step.abs().compare(&enough).is_le() {
            return Ok(result);
        }
    }
}
