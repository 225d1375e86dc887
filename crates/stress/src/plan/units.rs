//! Rates and lengths of time as they are typed.

use std::fmt;
use std::str::FromStr;

use super::PlanError;

/// Requests a second, in units of 10^-9: any number with nine digits after the point is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// The highest rate, ten million a second: more than any one client sends.
const RATE_MAX: u64 = 10_000_000 * Rate::UNIT;

impl Rate {
    /// One request a second.
    pub const UNIT: u64 = 1_000_000_000;

    /// A whole number of requests a second, at most the highest rate.
    pub fn per_second(requests: u64) -> Rate {
        Rate(requests.saturating_mul(Rate::UNIT).min(RATE_MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 as f64 / Rate::UNIT as f64)
    }
}

impl FromStr for Rate {
    type Err = PlanError;

    /// `5000`, `12.5`, `40k`, `1.5m`; requests a second.
    fn from_str(text: &str) -> Result<Rate, PlanError> {
        let lower = text.to_ascii_lowercase();
        let (digits, unit) = match lower.as_bytes().last() {
            Some(b'k') => (&lower[..lower.len() - 1], 1_000),
            Some(b'm') => (&lower[..lower.len() - 1], 1_000_000),
            _ => (lower.as_str(), 1),
        };
        billionths(digits)
            .and_then(|rate| rate.checked_mul(unit))
            .filter(|rate| (1..=RATE_MAX).contains(rate))
            .map(Rate)
            .ok_or_else(|| PlanError::NotARate(text.to_owned()))
    }
}

/// A decimal number in units of 10^-9; `None` when it is none, or has more digits than that.
fn billionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || fraction.len() > 9 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// A length of time as typed, nanoseconds: `500ms`, `20s`, `1.5m`, `2h`; a bare number is seconds.
///
/// # Errors
/// When it is none, or zero, or longer than 30 days.
pub fn parse_duration(text: &str) -> Result<u64, PlanError> {
    const DAYS_30: u64 = 30 * 86_400 * 1_000_000_000;
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let (times, over) = match unit {
        "us" => (1, 1_000_000),
        "ms" => (1, 1_000),
        "" | "s" => (1, 1),
        "m" | "min" => (60, 1),
        "h" => (3_600, 1),
        _ => return Err(PlanError::NotADuration(text.to_owned())),
    };
    billionths(digits)
        .and_then(|nanos| nanos.checked_mul(times))
        .map(|nanos| nanos / over)
        .filter(|nanos| (1..=DAYS_30).contains(nanos))
        .ok_or_else(|| PlanError::NotADuration(text.to_owned()))
}
