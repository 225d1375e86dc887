//! Dates, times of day and timestamps. Times without a zone are UTC; of zone names only those of UTC
//! are known.

use basalt_model::types::validate::MarshalError;
use bytes::Bytes;

use super::calendar::{date_from_days, days_from_date, month_length, print_year};
use super::refuse;

const MILLIS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Day 0 of serialized dates: 1970-01-01 stands in the middle of 32 unsigned bits.
const DATE_EPOCH: i64 = 1 << 31;

fn is_raw_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A scanner over fixed forms.
struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn eat(&mut self, symbol: char) -> bool {
        let stripped = self.rest.strip_prefix(symbol);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    /// A number of `least` to `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let end = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if end < least {
            return None;
        }
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    /// A year of exactly four digits, or of more behind a plus sign, or of four and more behind a
    /// minus sign where `negative` allows (Java's `EXCEEDS_PAD`).
    fn padded_year(&mut self, negative: bool) -> Option<i64> {
        if self.eat('+') {
            return self.digits(5, 10);
        }
        if negative && self.eat('-') {
            return self.digits(4, 10).map(|year| -year).filter(|year| *year != 0);
        }
        let year = self.digits(4, 10)?;
        (year <= 9999).then_some(year)
    }
}

/// Days since 1970 of `year-month-day`, the day cut to its month's length when `lenient`.
fn day_number(year: i64, month: i64, day: i64, lenient: bool) -> Option<i64> {
    let longest = if lenient { 31 } else { month_length(year, month) };
    // Java's years end there.
    let is_known = (-999_999_999..=999_999_999).contains(&year);
    if !is_known || !(1..=12).contains(&month) || !(1..=longest).contains(&day) {
        return None;
    }
    Some(days_from_date(year, month, day.min(month_length(year, month))))
}

/// A date: days as an unsigned number, or `yyyy-mm-dd` (`SimpleDateSerializer.dateStringToDays`).
pub(super) fn date(text: &str) -> Result<Bytes, MarshalError> {
    if is_raw_number(text) {
        return match text.parse::<u32>() {
            Ok(days) => Ok(Bytes::copy_from_slice(&days.to_be_bytes())),
            Err(_) => refuse(format!("Unable to make unsigned int (for date) from: '{text}'")),
        };
    }
    let mut scanner = Scanner { rest: text };
    let parsed = (|| {
        let year = scanner.padded_year(true)?;
        let month = scanner.eat('-').then(|| scanner.digits(2, 2))??;
        let day = scanner.eat('-').then(|| scanner.digits(2, 2))??;
        if scanner.rest.is_empty() { day_number(year, month, day, false) } else { None }
    })();
    let Some(days) = parsed else {
        return refuse(format!("Unable to coerce '{text}' to a formatted date (long)"));
    };
    match u32::try_from(days + DATE_EPOCH) {
        Ok(days) => Ok(Bytes::copy_from_slice(&days.to_be_bytes())),
        Err(_) if days < 0 => {
            refuse(format!("Input date {text} is less than min supported date -5877641-06-23T00:00Z"))
        }
        Err(_) => {
            refuse(format!("Input date {text} is greater than max supported date +5881580-07-11T00:00Z"))
        }
    }
}

/// A time of day: nanoseconds, or `hh:mm:ss[.fffffffff]` (`TimeSerializer.timeStringToLong`).
pub(super) fn time(text: &str) -> Result<Bytes, MarshalError> {
    if is_raw_number(text) {
        return match text.parse::<i64>() {
            Ok(nanos) if (0..NANOS_PER_DAY).contains(&nanos) => {
                Ok(Bytes::copy_from_slice(&nanos.to_be_bytes()))
            }
            _ => refuse(format!("Unable to make long (for time) from: '{text}'")),
        };
    }
    match time_of_day(text.trim()) {
        Some(nanos) => Ok(Bytes::copy_from_slice(&nanos.to_be_bytes())),
        None => refuse(format!("(TimeType) Unable to coerce '{text}' to a formatted time (long)")),
    }
}

fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let (hour, minute, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (second, fraction) = match seconds.split_once('.') {
        Some((second, fraction)) => (second, Some(fraction)),
        None => (seconds, None),
    };
    let within = |text: &str, limit: i64| {
        let number: i64 = text.parse::<i32>().ok()?.into();
        (0..limit).contains(&number).then_some(number)
    };
    let nanos = match fraction {
        None => 0,
        Some(digits) if (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{digits:0<9}").parse().ok()?
        }
        Some(_) => return None,
    };
    let whole = (within(hour, 24)? * 60 + within(minute, 60)?) * 60 + within(second, 60)?;
    Some(whole * 1_000_000_000 + nanos)
}

/// A timestamp: milliseconds, or a date with or without time and zone
/// (`TimestampSerializer.dateStringToTimestamp`).
pub(super) fn timestamp(text: &str) -> Result<Bytes, MarshalError> {
    if is_raw_number(text) {
        return match text.parse::<i64>() {
            Ok(millis) => Ok(Bytes::copy_from_slice(&millis.to_be_bytes())),
            Err(_) => refuse(format!("Unable to make long (for date) from: '{text}'")),
        };
    }
    match date_alone(text).or_else(|| date_and_time(text)) {
        Some(millis) => Ok(Bytes::copy_from_slice(&millis.to_be_bytes())),
        None => refuse(format!("Unable to parse a date/time from '{text}'")),
    }
}

/// `yyyy-mm-dd`, a zone perhaps.
fn date_alone(text: &str) -> Option<i64> {
    let mut scanner = Scanner { rest: text };
    let year = scanner.padded_year(true)?;
    let month = scanner.eat('-').then(|| scanner.digits(2, 2))??;
    let day = scanner.eat('-').then(|| scanner.digits(2, 2))??;
    // Java's ISO form first; only it knows years before the first, and no more zones than these.
    let offset_s = match iso_offset_s(scanner.rest) {
        None if year >= 1 => zone_offset_s(scanner.rest)?,
        offset => offset?,
    };
    millis_of(day_number(year, month, day, true)?, -offset_s * 1000)
}

/// `y-m-d`, `T` or a blank, `h:m[:s][.f]`, a zone perhaps; no part need be padded, each may have zeros before it.
fn date_and_time(text: &str) -> Option<i64> {
    const DIGITS_MAX: usize = 19;
    let mut scanner = Scanner { rest: text };
    let number = |scanner: &mut Scanner<'_>| scanner.digits(1, DIGITS_MAX);
    let behind = |scanner: &mut Scanner<'_>, symbol| scanner.eat(symbol).then(|| number(scanner))?;
    let year = number(&mut scanner)?;
    let month = behind(&mut scanner, '-')?;
    let day = behind(&mut scanner, '-')?;
    if !scanner.eat('T') && !scanner.eat(' ') {
        return None;
    }
    let hour = number(&mut scanner)?;
    let minute = behind(&mut scanner, ':')?;
    let has_seconds = scanner.eat(':');
    let second = if has_seconds { number(&mut scanner)? } else { 0 };
    let millis = if has_seconds && scanner.eat('.') { fraction_millis(&mut scanner)? } else { 0 };
    let offset_s = zone_offset_s(scanner.rest)?;
    // 24:00 is the end of the day, and nothing beyond.
    let midnight = hour == 24 && minute == 0 && second == 0 && millis == 0;
    if (hour > 23 && !midnight) || minute > 59 || second > 59 || year < 1 {
        return None;
    }
    let seconds = (hour * 60 + minute) * 60 + second - offset_s;
    millis_of(day_number(year, month, day, true)?, seconds * 1000 + millis)
}

/// `None` where 64 bits do not suffice.
fn millis_of(days: i64, millis: i64) -> Option<i64> {
    days.checked_mul(MILLIS_PER_DAY)?.checked_add(millis)
}

/// Up to nine digits of a second, cut to milliseconds.
fn fraction_millis(scanner: &mut Scanner<'_>) -> Option<i64> {
    let length = scanner.rest.bytes().take_while(u8::is_ascii_digit).count();
    if length > 9 {
        return None;
    }
    let digits = format!("{:0<3}", &scanner.rest[..length]);
    scanner.rest = &scanner.rest[length..];
    digits[..3].parse().ok()
}

/// Names of UTC, as Java reads them behind a blank.
const UTC_NAMES: [&str; 10] = [
    "UTC",
    "GMT",
    "UT",
    "UCT",
    "Zulu",
    "Etc/UTC",
    "Etc/GMT",
    "Etc/UCT",
    "Coordinated Universal Time",
    "Greenwich Mean Time",
];

/// Seconds east of UTC; an empty text is UTC. `None`: not a zone known here.
fn zone_offset_s(text: &str) -> Option<i64> {
    let Some(zone) = text.strip_prefix(' ') else {
        return if matches!(text, "" | "Z") { Some(0) } else { offset_s(text, false) };
    };
    if zone == "Z" || UTC_NAMES.contains(&zone) {
        return Some(0);
    }
    match ["UTC", "GMT", "UT"].iter().find_map(|name| zone.strip_prefix(name)) {
        Some(behind_name) => offset_s(behind_name, true),
        None => offset_s(zone, false),
    }
}

/// Nothing, `Z` in either case, `+hh:mm`.
fn iso_offset_s(text: &str) -> Option<i64> {
    match text {
        "" | "Z" | "z" => Some(0),
        offset => offset_s(offset, true),
    }
}

/// `+hh:mm`; also `+hh` and `+hhmm` unless `full`; at most 18 hours.
fn offset_s(text: &str, full: bool) -> Option<i64> {
    const OFFSET_S_MAX: i64 = 18 * 3600;
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let mut scanner = Scanner { rest: digits };
    let hours = scanner.digits(2, 2)?;
    let minutes = match scanner.rest.is_empty() {
        true if full => return None,
        true => 0,
        false if !scanner.eat(':') && full => return None,
        false => scanner.digits(2, 2)?,
    };
    let offset_s = hours * 3600 + minutes * 60;
    let valid = scanner.rest.is_empty() && offset_s <= OFFSET_S_MAX && minutes <= 59;
    valid.then_some(sign * offset_s)
}

/// `yyyy-mm-dd` of a serialized date.
pub(super) fn print_date(value: u32) -> String {
    let (year, month, day) = date_from_days(i64::from(value) - DATE_EPOCH);
    format!("{}-{month:02}-{day:02}", print_year(year))
}

/// `hh:mm:ss.nnnnnnnnn` of nanoseconds of a day.
pub(super) fn print_time(nanos: i64) -> String {
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    format!("{:02}:{:02}:{:02}.{fraction:09}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `yyyy-mm-ddThh:mm:ss.SSSZ` of milliseconds since 1970. The year is one of an era, as the
/// formatter Cassandra uses writes it: before year 1 it counts back.
pub(super) fn print_timestamp(millis: i64) -> String {
    let (year, month, day) = date_from_days(millis.div_euclid(MILLIS_PER_DAY));
    let year = if year < 1 { 1 - year } else { year };
    let of_day = millis.rem_euclid(MILLIS_PER_DAY);
    let (seconds, fraction) = (of_day / 1000, of_day % 1000);
    format!(
        "{}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{fraction:03}Z",
        print_year(year),
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}
