//! Durations: `1y2mo3d4h`, ISO 8601 `P1Y2M3DT4H`, `P2W`, `P0001-02-03T04:05:06`
//! (`cql3/Duration`), and their serialized form: three signed vints.

use basalt_model::types::elements::{put_vint, take_vint};
use basalt_model::types::validate::MarshalError;
use bytes::Bytes;

use super::refuse;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A unit of a duration; they must come in this order, each at most once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Years => "years",
            Unit::Months => "months",
            Unit::Weeks => "weeks",
            Unit::Days => "days",
            Unit::Hours => "hours",
            Unit::Minutes => "minutes",
            Unit::Seconds => "seconds",
            Unit::Milliseconds => "milliseconds",
            Unit::Microseconds => "microseconds",
            Unit::Nanoseconds => "nanoseconds",
        }
    }

    /// How many months, days or nanoseconds it is.
    fn size(self) -> i64 {
        match self {
            Unit::Years => 12,
            Unit::Weeks => 7,
            Unit::Months | Unit::Days | Unit::Nanoseconds => 1,
            Unit::Hours => 3600 * NANOS_PER_SECOND,
            Unit::Minutes => 60 * NANOS_PER_SECOND,
            Unit::Seconds => NANOS_PER_SECOND,
            Unit::Milliseconds => 1_000_000,
            Unit::Microseconds => 1000,
        }
    }
}

#[derive(Default)]
struct Builder {
    months: i64,
    days: i64,
    nanoseconds: i64,
    last: Option<Unit>,
}

impl Builder {
    fn add(&mut self, number: i64, unit: Unit) -> Result<(), MarshalError> {
        if let Some(last) = self.last {
            if last == unit {
                let name = unit.name();
                return refuse(format!("Invalid duration. The {name} are specified multiple times"));
            }
            if unit < last {
                let (last, unit) = (last.name(), unit.name());
                return refuse(format!("Invalid duration. The {last} should be after {unit}"));
            }
        }
        self.last = Some(unit);
        let (total, limit, name) = match unit {
            Unit::Years | Unit::Months => (&mut self.months, i64::from(i32::MAX), "months"),
            Unit::Weeks | Unit::Days => (&mut self.days, i64::from(i32::MAX), "days"),
            _ => (&mut self.nanoseconds, i64::MAX, "nanoseconds"),
        };
        if number > (limit - *total) / unit.size() {
            return refuse(format!(
                "Invalid duration. The total number of {name} must be less or equal to {}",
                i32::MAX
            ));
        }
        *total += number * unit.size();
        Ok(())
    }

    fn build(self, negative: bool) -> Bytes {
        let sign = if negative { -1 } else { 1 };
        let mut bytes = Vec::with_capacity(12);
        put_vint(&mut bytes, sign * self.months);
        put_vint(&mut bytes, sign * self.days);
        put_vint(&mut bytes, sign * self.nanoseconds);
        bytes.into()
    }
}

/// Reads any of the forms.
pub(super) fn parse(text: &str) -> Result<Bytes, MarshalError> {
    let negative = text.starts_with('-');
    let source = text.strip_prefix('-').unwrap_or(text);
    let parsed = match source.strip_prefix('P') {
        Some(body) if body.ends_with('W') => weeks(body),
        Some(body) if body.contains('-') => alternative(body),
        Some(body) => designators(body),
        None => standard(source),
    };
    match parsed {
        Some(built) => Ok(built?.build(negative)),
        None => refuse(format!("Unable to convert '{source}' to a duration")),
    }
}

/// `None`: not of this form. An error inside: of this form, and wrong.
type Parsed = Option<Result<Builder, MarshalError>>;

fn build(parts: Vec<(i64, Unit)>) -> Parsed {
    let mut builder = Builder::default();
    for (number, unit) in parts {
        if let Err(error) = builder.add(number, unit) {
            return Some(Err(error));
        }
    }
    Some(Ok(builder))
}

/// Takes digits off the front.
fn take_number(rest: &mut &str) -> Option<i64> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, tail) = rest.split_at(end);
    *rest = tail;
    digits.parse().ok()
}

fn weeks(body: &str) -> Parsed {
    let mut rest = body;
    let number = take_number(&mut rest)?;
    if rest == "W" { build(vec![(number, Unit::Weeks)]) } else { None }
}

/// `1y2mo`, in any case.
fn standard(source: &str) -> Parsed {
    const UNITS: [(&str, Unit); 12] = [
        ("mo", Unit::Months),
        ("ms", Unit::Milliseconds),
        ("us", Unit::Microseconds),
        ("µs", Unit::Microseconds),
        ("ns", Unit::Nanoseconds),
        ("y", Unit::Years),
        ("w", Unit::Weeks),
        ("d", Unit::Days),
        ("h", Unit::Hours),
        ("m", Unit::Minutes),
        ("s", Unit::Seconds),
        ("µS", Unit::Microseconds),
    ];
    let mut rest = source;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let number = take_number(&mut rest)?;
        let (unit_length, unit) = UNITS.iter().find_map(|(symbol, unit)| {
            let head = rest.get(..symbol.len())?;
            head.eq_ignore_ascii_case(symbol).then_some((symbol.len(), *unit))
        })?;
        rest = &rest[unit_length..];
        parts.push((number, unit));
    }
    if parts.is_empty() { None } else { build(parts) }
}

/// `1Y2M3DT4H5M6S` behind the P.
fn designators(body: &str) -> Parsed {
    let (date, time) = match body.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (body, None),
    };
    let mut parts = Vec::new();
    let groups = [
        (date, [('Y', Unit::Years), ('M', Unit::Months), ('D', Unit::Days)]),
        (time.unwrap_or(""), [('H', Unit::Hours), ('M', Unit::Minutes), ('S', Unit::Seconds)]),
    ];
    for (mut rest, units) in groups {
        let mut units = units.into_iter();
        while !rest.is_empty() {
            let number = take_number(&mut rest)?;
            let symbol = rest.chars().next()?;
            let (_, unit) = units.find(|(designator, _)| *designator == symbol)?;
            rest = &rest[1..];
            parts.push((number, unit));
        }
    }
    build(parts)
}

/// `0001-02-03T04:05:06` behind the P.
fn alternative(body: &str) -> Parsed {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = body.len() == SHAPE.len()
        && body.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            symbol => byte == *symbol,
        });
    if !fits {
        return None;
    }
    let number = |start: usize, end: usize| body[start..end].parse::<i64>().ok();
    build(vec![
        (number(0, 4)?, Unit::Years),
        (number(5, 7)?, Unit::Months),
        (number(8, 10)?, Unit::Days),
        (number(11, 13)?, Unit::Hours),
        (number(14, 16)?, Unit::Minutes),
        (number(17, 19)?, Unit::Seconds),
    ])
}

/// A serialized duration as `1y2mo3d4h5m6s7ms8us9ns`; `None` when the bytes are none.
pub(super) fn print(value: &[u8]) -> Option<String> {
    let mut rest = value;
    let (months, days, nanoseconds) = (take_vint(&mut rest)?, take_vint(&mut rest)?, take_vint(&mut rest)?);
    let mut text = String::new();
    if months < 0 || days < 0 || nanoseconds < 0 {
        text.push('-');
    }
    let mut append = |total: u64, units: &[(u64, &str)]| {
        let mut remainder = total;
        for (size, symbol) in units {
            if remainder >= *size {
                text.push_str(&format!("{}{symbol}", remainder / size));
                remainder %= size;
            }
        }
    };
    append(months.unsigned_abs(), &[(12, "y"), (1, "mo")]);
    append(days.unsigned_abs(), &[(1, "d")]);
    let second = NANOS_PER_SECOND as u64;
    append(
        nanoseconds.unsigned_abs(),
        &[
            (3600 * second, "h"),
            (60 * second, "m"),
            (second, "s"),
            (1_000_000, "ms"),
            (1000, "us"),
            (1, "ns"),
        ],
    );
    Some(text)
}
