//! Floats and doubles as text, digit for digit as `Float.toString` and `Double.toString` of Java 17
//! give them (`jdk.internal.math.FloatingDecimal`). Those are nearly always the fewest digits that
//! read back as the same number, and sometimes one more.

use std::cmp::Ordering;

use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Bits of a double's fraction, and so the place of its leading one.
const FRACTION_BITS: i32 = 52;
/// More than any text has.
const DIGITS_MAX: usize = 20;
const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;

/// `Double.toString`.
pub fn java_double(number: f64) -> String {
    let bits = number.to_bits();
    let exponent = (bits >> FRACTION_BITS) as i32 & 0x7ff;
    to_text(number, exponent - 1023, bits & FRACTION_MASK, exponent == 0, FRACTION_BITS + 1)
}

/// `Float.toString`.
pub fn java_float(number: f32) -> String {
    const SHIFT: i32 = FRACTION_BITS - 23;
    let bits = number.to_bits();
    let exponent = (bits >> 23) as i32 & 0xff;
    let fraction = u64::from(bits & 0x7f_ffff) << SHIFT;
    to_text(f64::from(number), exponent - 127, fraction, exponent == 0, FRACTION_BITS + 1 - SHIFT)
}

fn to_text(number: f64, exponent: i32, fraction: u64, is_small: bool, significant_bits: i32) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}Infinity");
    }
    if number == 0.0 {
        return format!("{sign}0.0");
    }
    let decimal = if is_small {
        // Below the smallest normal number the leading one stands further behind.
        let zeros = fraction.leading_zeros() as i32 - (63 - FRACTION_BITS);
        Binary {
            exponent: exponent + 1 - zeros,
            fraction: fraction << zeros,
            significant_bits: significant_bits - zeros,
        }
    } else {
        Binary { exponent, fraction: fraction | (1 << FRACTION_BITS), significant_bits }
    }
    .to_decimal();
    format!("{sign}{}", decimal.layout())
}

/// `fraction * 2^(exponent - 52)`, with the leading one at bit 52.
struct Binary {
    exponent: i32,
    fraction: u64,
    /// How many bits of the fraction the number's type has.
    significant_bits: i32,
}

/// `0.digits * 10^exponent`, digits from 0 to 9.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Binary {
    fn to_decimal(&self) -> Decimal {
        let zeros = self.fraction.trailing_zeros() as i32;
        let bits = FRACTION_BITS + 1 - zeros;
        // Bits behind the point.
        let tiny_bits = (bits - self.exponent - 1).max(0);
        if tiny_bits == 0 && self.exponent <= 62 && bits < 64 {
            return self.whole_number();
        }
        self.divided(zeros, bits, tiny_bits)
    }

    /// A whole number of at most 63 bits; digits below the type's precision are rounded off.
    fn whole_number(&self) -> Decimal {
        let beyond = self.exponent - self.significant_bits - 1;
        let insignificant =
            if beyond > 1 { (f64::from(beyond) * std::f64::consts::LOG10_2) as u32 } else { 0 };
        let shift = self.exponent - FRACTION_BITS;
        let mut whole = if shift >= 0 { self.fraction << shift } else { self.fraction >> -shift };
        let unit = 10_u64.pow(insignificant);
        whole = whole / unit + u64::from(insignificant > 0 && whole % unit >= unit / 2);
        let mut digits: Vec<u8> = whole.to_string().bytes().map(|digit| digit - b'0').collect();
        let exponent = digits.len() as i32 + insignificant as i32;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Decimal { digits, exponent }
    }

    /// Digit by digit: the number is `b / s`, and `m / s` half of its last place; digits end where
    /// what is left is less than that.
    fn divided(&self, zeros: i32, bits: i32, tiny_bits: i32) -> Decimal {
        let exponent = self.estimated_exponent();
        let (b5, s5) = ((-exponent).max(0), exponent.max(0));
        let (mut b2, mut s2) = (b5 + tiny_bits + self.exponent, s5 + tiny_bits);
        let mut m2 = b2 - self.significant_bits;
        b2 -= bits - 1;
        let common = b2.min(s2);
        (b2, s2, m2) = (b2 - common, s2 - common, m2 - common);
        // Below a power of two numbers lie twice as near.
        if bits == 1 {
            m2 -= 1;
        }
        if m2 < 0 {
            (b2, s2, m2) = (b2 - m2, s2 - m2, 0);
        }
        let fraction = self.fraction >> zeros;
        let b_bits = bits + b2 + bits_of_power_of_five(b5);
        let tens_bits = s2 + 1 + bits_of_power_of_five(s5 + 1);
        let power = |fives: i32, twos: i32| (fives.unsigned_abs(), twos.unsigned_abs());
        let scaled = (fraction, power(b5, b2), power(s5, s2), power(b5, m2));
        match b_bits.max(tens_bits) {
            ..32 => develop::<i32>(scaled, exponent),
            32..64 => develop::<i64>(scaled, exponent),
            _ => develop::<BigUint>(scaled, exponent),
        }
    }

    /// The decimal exponent, or one more: by a line that is nearly the logarithm.
    fn estimated_exponent(&self) -> i32 {
        const SLOPE: f64 = 0.289529654;
        const AT_ONE_AND_A_HALF: f64 = 0.176091259;
        // Three digits short of the constant.
        #[expect(clippy::approx_constant)]
        const LOG10_2: f64 = 0.301029995663981;
        let from_1_to_2 = f64::from_bits(1.0_f64.to_bits() | (self.fraction & FRACTION_MASK));
        let logarithm = (from_1_to_2 - 1.5) * SLOPE + AT_ONE_AND_A_HALF + f64::from(self.exponent) * LOG10_2;
        logarithm.floor() as i32
    }
}

/// As Java counts them: exactly as far as it has a table.
fn bits_of_power_of_five(exponent: i32) -> i32 {
    const IN_TABLE: i32 = 27;
    if exponent < IN_TABLE {
        let power = 5_u64.pow(exponent.unsigned_abs());
        return if exponent == 0 { 0 } else { 64 - power.leading_zeros() as i32 };
    }
    exponent * 3
}

/// Powers of five and two.
type Power = (u32, u32);

/// What Java computes with: 32 bits, 64 bits, or any number of them. The first two wrap around, and
/// some digits depend on that.
trait Width: Clone + PartialOrd {
    fn of(factor: u64, power: Power) -> Self;
    fn div_rem(&self, by: &Self) -> (u8, Self);
    fn times(&self, factor: u8) -> Self;
    fn plus(&self, other: &Self) -> Self;
    /// Whether what is left, with half of the last place added to it, reaches ten.
    fn reaches(&self, tens: &Self) -> bool;
    /// How twice what is left lies to ten.
    fn to_half(&self, tens: &Self) -> Ordering;
}

macro_rules! wrapping_width {
    ($t:ty) => {
        impl Width for $t {
            fn of(factor: u64, (fives, twos): Power) -> $t {
                (factor as $t).wrapping_mul(<$t>::wrapping_pow(5, fives)).wrapping_shl(twos)
            }

            fn div_rem(&self, by: &$t) -> (u8, $t) {
                (self.wrapping_div(*by) as u8, self.wrapping_rem(*by))
            }

            fn times(&self, factor: u8) -> $t {
                self.wrapping_mul(<$t>::from(factor))
            }

            fn plus(&self, other: &$t) -> $t {
                self.wrapping_add(*other)
            }

            fn reaches(&self, tens: &$t) -> bool {
                self > tens
            }

            fn to_half(&self, tens: &$t) -> Ordering {
                self.times(2).wrapping_sub(*tens).cmp(&0)
            }
        }
    };
}

wrapping_width!(i32);
wrapping_width!(i64);

impl Width for BigUint {
    fn of(factor: u64, (fives, twos): Power) -> BigUint {
        (BigUint::from(factor) * BigUint::from(5_u8).pow(fives)) << twos
    }

    fn div_rem(&self, by: &BigUint) -> (u8, BigUint) {
        ((self / by).to_u8().unwrap_or_default(), self % by)
    }

    fn times(&self, factor: u8) -> BigUint {
        self * factor
    }

    fn plus(&self, other: &BigUint) -> BigUint {
        self + other
    }

    fn reaches(&self, tens: &BigUint) -> bool {
        self >= tens
    }

    fn to_half(&self, tens: &BigUint) -> Ordering {
        self.times(2).cmp(tens)
    }
}

fn develop<N: Width>((fraction, b, s, m): (u64, Power, Power, Power), mut exponent: i32) -> Decimal {
    let (mut b, s, mut m) = (N::of(fraction, b), N::of(1, s), N::of(1, m));
    let (zero, tens) = (N::of(0, (0, 0)), s.times(10));
    let mut digits = Vec::new();
    let mut is_first = true;
    loop {
        let (digit, rest) = b.div_rem(&s);
        (b, m) = (rest.times(10), m.times(10));
        // Half of the last place is larger than all else once it has wrapped around.
        let has_wrapped = !is_first && m <= zero;
        let mut low = has_wrapped || b < m;
        let mut high = has_wrapped || b.plus(&m).reaches(&tens);
        if is_first && digit == 0 && !high {
            exponent -= 1;
        } else {
            digits.push(digit);
        }
        // With an exponent there are at least two digits.
        if is_first && !(-3..8).contains(&exponent) {
            (low, high) = (false, false);
        }
        is_first = false;
        if low || high || digits.len() >= DIGITS_MAX {
            let mut decimal = Decimal { digits, exponent: exponent + 1 };
            let is_odd = decimal.digits.last().is_some_and(|digit| digit % 2 == 1);
            let to_half = b.to_half(&tens);
            if high && (!low || to_half.is_gt() || (to_half.is_eq() && is_odd)) {
                decimal.round_up();
            }
            return decimal;
        }
    }
}

impl Decimal {
    fn round_up(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.digits.pop();
        self.exponent += 1;
    }

    /// Plain from 10^-3 to below 10^7, else with an exponent, and always a digit behind the point.
    fn layout(&self) -> String {
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let or_zero = |fraction: &str| if fraction.is_empty() { "0".to_owned() } else { fraction.to_owned() };
        match self.exponent {
            exponent @ 1..=7 => {
                let whole = exponent as usize;
                let padded = format!("{digits:0<whole$}");
                let (whole, fraction) = padded.split_at(whole);
                format!("{whole}.{}", or_zero(fraction))
            }
            exponent @ -2..=0 => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize)),
            exponent => {
                let (first, fraction) = digits.split_at(digits.len().min(1));
                format!("{first}.{}E{}", or_zero(fraction), exponent - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests;
