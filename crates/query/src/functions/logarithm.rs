//! The doubles nearest to logarithms, which Java's library gives and others miss by one in the last
//! place now and then. Computed with pairs of doubles, some 100 bits.

/// A number as the sum of two, the second no larger than half of the first's last place.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

const LOG10_E: Pair = Pair(std::f64::consts::LOG10_E, 1.098319650216765e-17);
const LN_2: Pair = Pair(std::f64::consts::LN_2, 2.3190468138462996e-17);
const LOG10_2: Pair = Pair(std::f64::consts::LOG10_2, -2.8037281277851704e-18);
/// Each term of the series is a thirtieth of the one before, or less.
const TERMS: u32 = 20;

fn sum(a: f64, b: f64) -> Pair {
    let sum = a + b;
    let part = sum - a;
    Pair(sum, (a - (sum - part)) + (b - part))
}

fn product(a: f64, b: f64) -> Pair {
    let product = a * b;
    Pair(product, a.mul_add(b, -product))
}

impl Pair {
    fn plus(self, other: Pair) -> Pair {
        let Pair(high, low) = sum(self.0, other.0);
        sum(high, low + self.1 + other.1)
    }

    fn times(self, other: Pair) -> Pair {
        let Pair(high, low) = product(self.0, other.0);
        sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }

    fn over(self, other: Pair) -> Pair {
        let first = self.0 / other.0;
        let rest = self.plus(other.times(Pair(-first, 0.0)));
        sum(first, rest.0 / other.0)
    }
}

/// The natural logarithm; what is no number has the sign it has in Java.
pub(super) fn log(x: f64) -> f64 {
    special(x).unwrap_or_else(|| logarithm(x, LN_2, Pair(1.0, 0.0)))
}

/// The decadic logarithm; what is no number has the sign it has in Java.
pub(super) fn log10(x: f64) -> f64 {
    special(x).unwrap_or_else(|| logarithm(x, LOG10_2, LOG10_E))
}

fn special(x: f64) -> Option<f64> {
    match x {
        0.0 => Some(f64::NEG_INFINITY),
        x if x < 0.0 => Some(-f64::NAN.abs()),
        x if !x.is_finite() => Some(x),
        _ => None,
    }
}

/// The logarithm to a base of which those of two and of `e` are given.
fn logarithm(x: f64, of_two: Pair, of_e: Pair) -> f64 {
    let (exponent, mantissa) = split(x);
    // ln m = 2 (s + s^3/3 + s^5/5 + ...) where s = (m - 1) / (m + 1)
    let s = Pair(mantissa - 1.0, 0.0).over(sum(mantissa, 1.0));
    let square = s.times(s);
    let term = |n: u32| Pair(1.0, 0.0).over(Pair(f64::from(2 * n + 1), 0.0));
    let series = (0..TERMS).rev().fold(Pair(0.0, 0.0), |series, n| series.times(square).plus(term(n)));
    let of_mantissa = s.times(series).times(Pair(2.0, 0.0)).times(of_e);
    let Pair(high, low) = of_two.times(Pair(f64::from(exponent), 0.0)).plus(of_mantissa);
    high + low
}

/// `x` as a power of two and a factor near one.
fn split(x: f64) -> (i32, f64) {
    const MANTISSA_BITS: u32 = 52;
    const EXPONENT_OF_ONE: i32 = 1023;
    // Numbers below the smallest normal one are made normal.
    let (x, shifted) = if x < f64::MIN_POSITIVE { (x * 18_014_398_509_481_984.0, 54) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> MANTISSA_BITS).unwrap_or_default() - EXPONENT_OF_ONE;
    let one = 1.0_f64.to_bits();
    let mantissa = f64::from_bits((bits & ((1 << MANTISSA_BITS) - 1)) | one);
    if mantissa > std::f64::consts::SQRT_2 {
        return (exponent + 1 - shifted, mantissa / 2.0);
    }
    (exponent - shifted, mantissa)
}
