//! Decimals as `java.math.BigDecimal` computes with them: which scale a result has, and how it is
//! rounded to a number of digits. What would take more than [`DIGITS_MAX`] digits to write out fails.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

/// Aligning two decimals takes as many digits as their scales are apart: billions, for a few bytes
/// that a client sends.
pub(super) const DIGITS_MAX: u64 = 100_000;

/// What Java says where a result would be too large, and what is said here of [`DIGITS_MAX`].
const OVERFLOW: &str = "Overflow";

/// How what is cut off is made up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// Not at all.
    Down,
    /// Halves go away from zero.
    HalfUp,
    /// Halves go to the even neighbour.
    HalfEven,
}

/// `unscaled * 10^-scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(super) unscaled: BigInt,
    pub(super) scale: i64,
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Decimal {
        Decimal::new(BigInt::from(value), 0)
    }
}

impl Decimal {
    /// Of an unscaled number and a scale.
    pub(super) fn new(unscaled: BigInt, scale: i64) -> Decimal {
        Decimal { unscaled, scale }
    }

    /// Reads what Java writes of a floating number: `1.5`, `-1.0E10`.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let unscaled = format!("{whole}{fraction}").parse().ok()?;
        let exponent: i64 = exponent.parse().ok()?;
        Some(Decimal::new(unscaled, i64::try_from(fraction.len()).ok()? - exponent))
    }

    /// Digits of the unscaled number; one for zero.
    pub(super) fn precision(&self) -> i64 {
        i64::try_from(digits(&self.unscaled)).unwrap_or(i64::MAX)
    }

    /// The place of the first digit: 1 for 7, 0 for 0.7.
    pub(super) fn magnitude(&self) -> i64 {
        self.precision() - self.scale
    }

    /// Whether it is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.unscaled.is_zero()
    }

    /// Whether it is below zero.
    pub(super) fn is_negative(&self) -> bool {
        self.unscaled.is_negative()
    }

    /// The nearest double.
    pub(super) fn to_f64(&self) -> f64 {
        format!("{}e{}", self.unscaled, -self.scale).parse().unwrap_or(f64::NAN)
    }

    /// The nearest float.
    pub(super) fn to_f32(&self) -> f32 {
        format!("{}e{}", self.unscaled, -self.scale).parse().unwrap_or(f32::NAN)
    }

    /// Its negation.
    pub(super) fn negate(&self) -> Decimal {
        Decimal::new(-&self.unscaled, self.scale)
    }

    /// Without its sign.
    pub(super) fn abs(&self) -> Decimal {
        Decimal::new(self.unscaled.abs(), self.scale)
    }

    /// With another scale.
    pub(super) fn set_scale(&self, scale: i64, rounding: Rounding) -> Result<Decimal, String> {
        if scale >= self.scale {
            return Ok(Decimal::new(&self.unscaled * power_of_ten(scale - self.scale)?, scale));
        }
        let dropped = self.scale - scale;
        // What is dropped whole is zero: no half is left of it.
        if dropped > self.precision() {
            return Ok(Decimal::new(BigInt::zero(), scale));
        }
        Ok(Decimal::new(divide_rounded(&self.unscaled, &power_of_ten(dropped)?, rounding), scale))
    }

    /// Without zeros at the end, as long as the scale stays at or above one.
    fn strip_zeros(mut self, preferred_scale: i64) -> Decimal {
        // Many at a time first: each time costs a division of the whole number.
        for step in [4096, 64, 1] {
            let power = BigInt::from(10).pow(step);
            let step = i64::from(step);
            while !self.is_zero()
                && self.scale - step >= preferred_scale
                && (&self.unscaled % &power).is_zero()
            {
                self.unscaled /= &power;
                self.scale -= step;
            }
        }
        self
    }

    /// Without zeros at the end; zero has the scale 0.
    pub(super) fn strip_trailing_zeros(self) -> Decimal {
        if self.is_zero() { Decimal::from(0) } else { self.strip_zeros(i64::from(i32::MIN)) }
    }

    /// With at most so many digits.
    pub(super) fn round(mut self, precision: i64, rounding: Rounding) -> Result<Decimal, String> {
        // Rounding up 99 gives a digit more.
        while self.precision() > precision {
            let scale = self.scale - (self.precision() - precision);
            self = self.set_scale(scale, rounding)?;
        }
        Ok(self)
    }

    /// The sum, of the larger scale.
    pub(super) fn add(&self, other: &Decimal) -> Result<Decimal, String> {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.set_scale(scale, Rounding::Down)?, other.set_scale(scale, Rounding::Down)?);
        Ok(Decimal::new(left.unscaled + right.unscaled, scale))
    }

    /// The difference, of the larger scale.
    pub(super) fn subtract(&self, other: &Decimal) -> Result<Decimal, String> {
        self.add(&other.negate())
    }

    /// The sum with at most so many digits.
    pub(super) fn add_rounded(
        &self,
        other: &Decimal,
        precision: i64,
        rounding: Rounding,
    ) -> Result<Decimal, String> {
        if self.is_zero() || other.is_zero() {
            return self.add_zero(other, precision, rounding);
        }
        let (large, small) = if self.scale < other.scale { (self, other) } else { (other, self) };
        // What is too small for any digit of the result only says on which side of a half it is.
        let last_place = large.scale - large.precision() + precision;
        let first_small = small.scale - small.precision() + 1;
        if first_small > large.scale + 2 && first_small > last_place + 2 {
            let sign = if small.is_negative() { -1 } else { 1 };
            let hint = Decimal::new(BigInt::from(sign), large.scale.max(last_place) + 3);
            return large.add(&hint)?.round(precision, rounding);
        }
        self.add(other)?.round(precision, rounding)
    }

    /// Adding zero still asks for the larger scale, as far as there are digits for it.
    fn add_zero(&self, other: &Decimal, precision: i64, rounding: Rounding) -> Result<Decimal, String> {
        let preferred = self.scale.max(other.scale);
        if self.is_zero() && other.is_zero() {
            return Ok(Decimal::new(BigInt::zero(), preferred));
        }
        let sum = if self.is_zero() { other } else { self }.clone().round(precision, rounding)?;
        match sum.scale.cmp(&preferred) {
            Ordering::Equal => Ok(sum),
            Ordering::Greater => Ok(sum.strip_zeros(preferred)),
            Ordering::Less => {
                let scale = preferred.min(sum.scale + precision - sum.precision());
                sum.set_scale(scale, rounding)
            }
        }
    }

    /// The difference with at most so many digits.
    pub(super) fn subtract_rounded(
        &self,
        other: &Decimal,
        precision: i64,
        rounding: Rounding,
    ) -> Result<Decimal, String> {
        self.add_rounded(&other.negate(), precision, rounding)
    }

    /// The product.
    pub(super) fn multiply(&self, other: &Decimal) -> Decimal {
        Decimal::new(&self.unscaled * &other.unscaled, self.scale + other.scale)
    }

    /// The product with at most so many digits.
    pub(super) fn multiply_rounded(
        &self,
        other: &Decimal,
        precision: i64,
        rounding: Rounding,
    ) -> Result<Decimal, String> {
        self.multiply(other).round(precision, rounding)
    }

    /// The quotient with a scale.
    pub(super) fn divide_to_scale(
        &self,
        other: &Decimal,
        scale: i64,
        rounding: Rounding,
    ) -> Result<Decimal, String> {
        let shift = scale + other.scale - self.scale;
        let (numerator, denominator) = if shift >= 0 {
            (&self.unscaled * power_of_ten(shift)?, other.unscaled.clone())
        } else {
            (self.unscaled.clone(), &other.unscaled * power_of_ten(-shift)?)
        };
        if denominator.is_zero() {
            return Err(division_by_zero(&self.unscaled, shift));
        }
        Ok(Decimal::new(divide_rounded(&numerator, &denominator, rounding), scale))
    }

    /// The quotient with at most so many digits, and the difference of the scales if it has fewer.
    pub(super) fn divide(
        &self,
        other: &Decimal,
        precision: i64,
        rounding: Rounding,
    ) -> Result<Decimal, String> {
        let preferred = self.scale - other.scale;
        if other.is_zero() {
            return Err(if self.is_zero() { "Division undefined" } else { "Division by zero" }.to_owned());
        }
        if self.is_zero() {
            return Ok(Decimal::new(BigInt::zero(), preferred));
        }
        let (own, others) = (self.precision(), other.precision());
        // Whether the quotient of the digits alone begins before the decimal point.
        let is_larger = {
            let left = self.unscaled.abs() * power_of_ten(others - own.min(others))?;
            left > other.unscaled.abs() * power_of_ten(own - own.min(others))?
        };
        let scale = preferred + precision + others - own - i64::from(is_larger);
        let quotient = self.divide_to_scale(other, scale, rounding)?;
        let is_exact = quotient.multiply(other).compare(self).is_eq();
        let quotient = if is_exact { quotient.strip_zeros(preferred) } else { quotient };
        quotient.round(precision, rounding)
    }

    /// What is left of the division into a whole number.
    pub(super) fn remainder(&self, other: &Decimal) -> Result<Decimal, String> {
        if other.is_zero() {
            return Err(if self.is_zero() { "Division undefined" } else { "Division by zero" }.to_owned());
        }
        let preferred = self.scale - other.scale;
        let whole = if self.is_zero() || self.magnitude() < other.magnitude() {
            Decimal::new(BigInt::zero(), preferred)
        } else {
            self.divide_to_scale(other, 0, Rounding::Down)?
        };
        let whole = whole.strip_zeros(preferred);
        let whole = if whole.scale < preferred || whole.is_zero() {
            whole.set_scale(preferred, Rounding::Down)?
        } else {
            whole
        };
        self.subtract(&whole.multiply(other))
    }

    /// Order by value: scales do not count.
    pub(super) fn compare(&self, other: &Decimal) -> Ordering {
        let sign = |value: &Decimal| match value.unscaled.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        let by_size = by_magnitude.then_with(|| {
            // Equal magnitudes are as far apart in scale as in digits.
            let scale = self.scale.max(other.scale);
            let align = |value: &Decimal| value.set_scale(scale, Rounding::Down);
            match (align(self), align(other)) {
                (Ok(left), Ok(right)) => left.unscaled.abs().cmp(&right.unscaled.abs()),
                _ => Ordering::Equal,
            }
        });
        if self.is_negative() { by_size.reverse() } else { by_size }
    }

    /// The same number with a scale that 32 bits hold.
    pub(super) fn with_small_scale(self) -> Result<Decimal, String> {
        match i32::try_from(self.scale) {
            Ok(_) => Ok(self),
            Err(_) if self.is_zero() => {
                let limit = if self.scale > 0 { i32::MAX } else { i32::MIN };
                Ok(Decimal::new(self.unscaled, i64::from(limit)))
            }
            Err(_) if self.scale > 0 => Err("Underflow".to_owned()),
            Err(_) => Err(OVERFLOW.to_owned()),
        }
    }
}

/// Java's words depend on whether it divides in 64 bits: if the dividend with the digits it needs
/// fits, and those are not too many.
fn division_by_zero(dividend: &BigInt, shift: i64) -> String {
    let power = power_of_ten(shift.max(0)).ok().filter(|_| shift.abs() < 19);
    let fits = |power: BigInt| dividend.to_i64().is_some() && (dividend * power).to_i64().is_some();
    if power.is_some_and(fits) { "/ by zero" } else { "BigInteger divide by zero" }.to_owned()
}

fn divide_rounded(numerator: &BigInt, denominator: &BigInt, rounding: Rounding) -> BigInt {
    let quotient = numerator / denominator;
    let rest = numerator - &quotient * denominator;
    let to_half = (rest.abs() * 2u8).cmp(&denominator.abs());
    let goes_up = match (rounding, to_half) {
        (Rounding::Down, _) | (_, Ordering::Less) => false,
        (_, Ordering::Greater) | (Rounding::HalfUp, _) => true,
        (Rounding::HalfEven, _) => quotient.bit(0),
    };
    match (goes_up, numerator.sign() == denominator.sign()) {
        (false, _) => quotient,
        (true, true) => quotient + 1,
        (true, false) => quotient - 1,
    }
}

fn power_of_ten(exponent: i64) -> Result<BigInt, String> {
    match u32::try_from(exponent) {
        Ok(exponent) if u64::from(exponent) <= DIGITS_MAX => Ok(BigInt::from(10).pow(exponent)),
        _ => Err(OVERFLOW.to_owned()),
    }
}

/// Digits of a number; one for zero.
fn digits(value: &BigInt) -> u64 {
    let bits = value.bits();
    if bits <= 63 {
        return value
            .to_i64()
            .and_then(|value| value.unsigned_abs().checked_ilog10())
            .map_or(1, |log| u64::from(log) + 1);
    }
    let at_least = |bits: u64| (bits as f64 * std::f64::consts::LOG10_2) as u64 + 1;
    let (few, many) = (at_least(bits - 1), at_least(bits));
    if few == many || value.abs() < BigInt::from(10).pow(u32::try_from(few).unwrap_or(u32::MAX)) {
        few
    } else {
        many
    }
}

#[cfg(test)]
mod tests;
