//! Reads distributions as profiles spell them; what is left open follows cassandra-stress.

use std::str::FromStr;

use super::{Distribution, Ratio, Shape};

/// Why a text is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no distribution: {reason}")]
pub struct ParseError {
    text: String,
    reason: &'static str,
}

const POSSIBLE: &str = "fixed(n), uniform(a..b), exp(a..b), extreme(a..b,shape), qextreme(a..b,shape,parts), \
                        gaussian(a..b), gaussian(a..b,deviations), gaussian(a..b,mean,deviation), seq(a..b), \
                        each also with ~ in front";

/// Numbers beyond this do not differ by one as floating-point numbers.
const MAGNITUDE_MAX: i64 = 1 << 53;

impl FromStr for Distribution {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Distribution, ParseError> {
        read(text.trim()).map_err(|reason| ParseError { text: text.to_owned(), reason })
    }
}

impl FromStr for Ratio {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Ratio, ParseError> {
        let refused = |reason| ParseError { text: text.to_owned(), reason };
        let Some((distribution, divisor)) = text.rsplit_once('/') else {
            return Err(refused("a ratio is a distribution and a divisor, as in uniform(1..10)/10"));
        };
        let divisor = number(divisor).filter(|divisor| *divisor > 0);
        let divisor = divisor.ok_or_else(|| refused("the divisor is a whole number above 0"))?;
        let distribution: Distribution = distribution.parse()?;
        if distribution.min() < 0 {
            return Err(refused("a ratio is not below 0"));
        }
        Ok(Ratio { distribution, divisor: divisor as f64 })
    }
}

fn read(text: &str) -> Result<Distribution, &'static str> {
    let (is_inverted, text) = text.strip_prefix('~').map_or((false, text), |rest| (true, rest));
    let (name, rest) = text.split_once('(').ok_or(POSSIBLE)?;
    let arguments = rest.strip_suffix(')').ok_or("a bracket is not closed")?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let name = name.trim().to_ascii_lowercase();
    if name == "fixed" {
        let [value] = arguments[..] else { return Err("fixed takes one number") };
        return Ok(Distribution::fixed(number(value).ok_or("not a whole number")?));
    }
    let (min, max) = range(arguments[0])?;
    let rest: Vec<f64> = arguments[1..]
        .iter()
        .map(|text| text.parse::<f64>())
        .collect::<Result<_, _>>()
        .map_err(|_| "not a number")?;
    if rest.iter().any(|number| !number.is_finite()) {
        return Err("not a number");
    }
    let span = (max - min) as f64;
    let shape = match (name.as_str(), &rest[..]) {
        _ if min == max => Shape::Fixed,
        ("uniform", []) => Shape::Uniform,
        ("seq", []) => Shape::Sequence,
        ("exp", []) => Shape::Exponential { mean: span / tail(span) },
        ("extr" | "extreme" | "weibull", &[shape]) if shape > 0.0 => {
            Shape::Extreme { shape, scale: span / tail(span).powf(1.0 / shape) }
        }
        ("qextr" | "qextreme", &[shape, parts]) if shape > 0.0 && (1.0..=1e6).contains(&parts) => {
            Shape::Quantized { shape, scale: span / tail(span).powf(1.0 / shape), parts: parts as u32 }
        }
        ("gaussian" | "gauss" | "normal" | "norm", []) => gaussian(min, max, 3.0),
        ("gaussian" | "gauss" | "normal" | "norm", &[deviations]) if deviations > 0.0 => {
            gaussian(min, max, deviations)
        }
        ("gaussian" | "gauss" | "normal" | "norm", &[mean, deviation]) if deviation >= 0.0 => {
            Shape::Gaussian { mean, deviation }
        }
        _ => return Err(POSSIBLE),
    };
    Ok(Distribution { shape, min, max, is_inverted })
}

/// The mean in the middle, and so many deviations from it to the ends.
fn gaussian(min: i64, max: i64, deviations: f64) -> Shape {
    Shape::Gaussian {
        mean: (min as f64 + max as f64) / 2.0,
        deviation: (max - min) as f64 / 2.0 / deviations,
    }
}

/// How many means of an exponential distribution the range has: so many that a share of 1 / sqrt(span)
/// falls beyond it. (cassandra-stress has none left for a range of two numbers; a whole mean is taken.)
fn tail(span: f64) -> f64 {
    let means = span.ln() / 2.0;
    if means > 0.0 { means } else { 1.0 }
}

/// `1..10`; dots may be more.
fn range(text: &str) -> Result<(i64, i64), &'static str> {
    let (min, max) = text.split_once("..").ok_or("a range is written 1..10")?;
    let min = number(min).ok_or("a range is written 1..10")?;
    let max = number(max.trim_start_matches('.')).ok_or("a range is written 1..10")?;
    if min > max {
        return Err("the range ends before it begins");
    }
    if min < -MAGNITUDE_MAX || max > MAGNITUDE_MAX {
        return Err("numbers reach to 2^53 only");
    }
    Ok((min, max))
}

/// A whole number, also with k, m or b for thousands, millions and thousand millions.
fn number(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'm' => (&text[..text.len() - 1], 1_000_000),
        b'b' => (&text[..text.len() - 1], 1_000_000_000),
        _ => (&text[..], 1),
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}
