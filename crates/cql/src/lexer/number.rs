//! Words and numbers: names, keywords, integers, floats, durations, UUIDs and blobs, which begin alike.

use super::keyword::Keyword;
use super::token::Kind;
use super::{Expected, Trouble, run};

/// A token that begins with a letter.
pub(super) fn word(text: &str) -> Result<(Kind, usize), Trouble> {
    let bytes = text.as_bytes();
    let len = run(bytes, |b| b.is_ascii_alphanumeric() || b == b'_');
    if let Some(uuid) = uuid(bytes) {
        return uuid;
    }
    let word = text.get(..len).unwrap_or_default();
    if word == "expr" && bytes.get(len) == Some(&b'(') {
        return Ok((Kind::Expr, len + 1));
    }
    if let Some(date) = alternative_duration(bytes) {
        return date;
    }
    if let Some(period) = iso_duration(bytes).filter(|&period| period >= len) {
        return Ok((Kind::Duration, period));
    }
    Ok((word_kind(word), len))
}

/// The kind of a whole word.
fn word_kind(word: &str) -> Kind {
    match word.len() {
        3 if word.eq_ignore_ascii_case("nan") => Kind::PositiveNan,
        4 if word.eq_ignore_ascii_case("true") => Kind::Boolean,
        5 if word.eq_ignore_ascii_case("false") => Kind::Boolean,
        8 if word.eq_ignore_ascii_case("infinity") => Kind::PositiveInfinity,
        _ => Keyword::of(word).map_or(Kind::Ident, Kind::Key),
    }
}

/// A token that begins with a digit.
pub(super) fn number(text: &str) -> Result<(Kind, usize), Trouble> {
    let bytes = text.as_bytes();
    if let Some(uuid) = uuid(bytes) {
        return uuid;
    }
    if bytes.first() == Some(&b'0') && matches!(bytes.get(1), Some(b'x' | b'X')) {
        return Ok((Kind::Hex, 2 + run(bytes.get(2..).unwrap_or_default(), |b| b.is_ascii_hexdigit())));
    }
    if let Some(trouble) = no_uuid(bytes) {
        return Err(trouble);
    }
    unsigned(bytes, 0)
}

/// Digits and then hexadecimal letters that are neither exponent nor unit can only begin a UUID.
fn no_uuid(bytes: &[u8]) -> Option<Trouble> {
    let digits = digits(bytes, 0);
    let hex = run(bytes, |b| b.is_ascii_hexdigit());
    if digits > 8 {
        return None;
    }
    let letter = bytes.get(digits)?.to_ascii_lowercase();
    let begins_uuid = match letter {
        b'a' | b'b' | b'c' | b'f' => true,
        b'd' => hex_letter(bytes, digits + 1),
        b'e' => {
            let exponent = digits + 1 + self::digits(bytes, digits + 1);
            exponent < 8 && hex_letter(bytes, exponent)
        }
        _ => false,
    };
    begins_uuid.then_some(match hex {
        0..8 => Trouble { at: hex, what: Expected::Set },
        _ => Trouble { at: 8, what: Expected::Char('-') },
    })
}

/// Whether `a` to `f` stands at `at`.
fn hex_letter(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() && b.is_ascii_hexdigit())
}

/// A token that begins with `-` and is no comment.
pub(super) fn negative(text: &str) -> Result<(Kind, usize), Trouble> {
    let bytes = text.as_bytes();
    let rest = bytes.get(1..).unwrap_or_default();
    match rest.first() {
        Some(b'0'..=b'9') => unsigned(bytes, 1),
        Some(b'P') => match alternative_duration(rest) {
            Some(Ok((kind, len))) => Ok((kind, len + 1)),
            Some(Err(trouble)) => Err(Trouble { at: trouble.at + 1, ..trouble }),
            None => match iso_duration(rest) {
                Some(len) => Ok((Kind::Duration, len + 1)),
                // Nothing but a duration begins with `-P`.
                None => {
                    let time = 1 + digits(rest, 1);
                    let time = time + usize::from(rest.get(time) == Some(&b'T'));
                    Err(Trouble { at: 1 + time + digits(rest, time), what: Expected::Anything })
                }
            },
        },
        // Nothing else goes on like that: not even `-name`.
        Some(b'n' | b'N') => spelled(rest, b"nan", Kind::NegativeNan),
        Some(b'i' | b'I') => spelled(rest, b"infinity", Kind::NegativeInfinity),
        _ => Ok((Kind::Minus, 1)),
    }
}

/// The token of `-` and `word`, which `bytes` must spell.
fn spelled(bytes: &[u8], word: &[u8], kind: Kind) -> Result<(Kind, usize), Trouble> {
    let fits = word.iter().zip(bytes).take_while(|(w, b)| w.eq_ignore_ascii_case(b)).count();
    if fits == word.len() { Ok((kind, fits + 1)) } else { Err(Trouble { at: fits + 1, what: Expected::Set }) }
}

/// Integer, float or duration; digits begin at `start`.
fn unsigned(bytes: &[u8], start: usize) -> Result<(Kind, usize), Trouble> {
    let digits = start + digits(bytes, start);
    if let Some(duration) = unit_duration(bytes, start) {
        return duration;
    }
    match bytes.get(digits) {
        // `1..2` is a range of integers; `1...` a float before a range.
        Some(b'.') if bytes.get(digits + 1) == Some(&b'.') && bytes.get(digits + 2) != Some(&b'.') => {
            Ok((Kind::Integer, digits))
        }
        Some(b'.') => {
            let fraction = digits + 1 + self::digits(bytes, digits + 1);
            Ok((Kind::Float, exponent(bytes, fraction, true)?.unwrap_or(fraction)))
        }
        _ => match exponent(bytes, digits, start > 0 || digits > 8)? {
            Some(end) => Ok((Kind::Float, end)),
            None => Ok((Kind::Integer, digits)),
        },
    }
}

/// How many digits there are at `at`.
fn digits(bytes: &[u8], at: usize) -> usize {
    run(bytes.get(at..).unwrap_or_default(), |b| b.is_ascii_digit())
}

/// The end of the exponent at `at`, if there is one; `float` if what stands before it cannot be a UUID's beginning.
fn exponent(bytes: &[u8], at: usize, float: bool) -> Result<Option<usize>, Trouble> {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return Ok(None);
    }
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    match digits(bytes, at + 1 + sign) {
        0 => Err(Trouble {
            at: at + 1 + sign,
            what: if float || sign > 0 { Expected::Digits } else { Expected::Anything },
        }),
        n => Ok(Some(at + 1 + sign + n)),
    }
}

/// `(digits unit)+`, e.g. `1h30m`; `None` if there is no unit behind the first digits.
fn unit_duration(bytes: &[u8], start: usize) -> Option<Result<(Kind, usize), Trouble>> {
    let mut at = start;
    loop {
        let number = digits(bytes, at);
        if number == 0 {
            return (at > start).then_some(Ok((Kind::Duration, at)));
        }
        let behind = bytes.get(at + number..).unwrap_or_default();
        match unit(behind) {
            Some(unit) => at += number + unit,
            // These begin a unit and nothing else.
            None if let Some(len) = begins_unit(behind) => {
                return Some(Err(Trouble { at: at + number + len, what: Expected::Set }));
            }
            None if at == start => return None,
            None => return Some(Err(Trouble { at: at + number, what: Expected::Anything })),
        }
    }
}

/// The length of the duration unit that `bytes` begin with.
fn unit(bytes: &[u8]) -> Option<usize> {
    let second = bytes.get(1).map(u8::to_ascii_lowercase);
    match bytes.first()?.to_ascii_lowercase() {
        b'm' if matches!(second, Some(b'o' | b's')) => Some(2),
        b'u' | b'n' if second == Some(b's') => Some(2),
        0xC2 if second == Some(0xB5) && matches!(bytes.get(2), Some(b's' | b'S')) => Some(3),
        b'y' | b'w' | b'd' | b'h' | b'm' | b's' => Some(1),
        _ => None,
    }
}

/// The length of the first letter of a unit that lacks its second.
fn begins_unit(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'u' | b'U' | b'n' | b'N', ..] => Some(1),
        [0xC2, 0xB5, ..] => Some(2),
        _ => None,
    }
}

/// `P0001-01-01T00:00:00`; an error where its first six characters go on otherwise, as nothing else begins so.
fn alternative_duration(bytes: &[u8]) -> Option<Result<(Kind, usize), Trouble>> {
    const SHAPE: &[u8] = b"P0000-00-00T00:00:00";
    let alike = |(b, s): (&u8, &u8)| if *s == b'0' { b.is_ascii_digit() } else { b == s };
    let fits = bytes.iter().zip(SHAPE).take_while(|&pair| alike(pair)).count();
    match SHAPE.get(fits) {
        _ if fits < 6 => None,
        None => Some(Ok((Kind::Duration, fits))),
        Some(b'0') => Some(Err(Trouble { at: fits, what: Expected::Set })),
        Some(&wanted) => Some(Err(Trouble { at: fits, what: Expected::Char(char::from(wanted)) })),
    }
}

/// The length of an ISO 8601 duration, `P1Y2M3DT4H5M6S` or `P1W`.
fn iso_duration(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'P') {
        return None;
    }
    let weeks = digits(bytes, 1);
    if weeks > 0 && bytes.get(1 + weeks) == Some(&b'W') {
        return Some(weeks + 2);
    }
    let date = designators(bytes, 1, b"YMD");
    let end = match bytes.get(date) {
        Some(b'T') => {
            Some(designators(bytes, date + 1, b"HMS")).filter(|&end| end > date + 1).unwrap_or(date)
        }
        _ => date,
    };
    (end > 1).then_some(end)
}

/// The end of `(digits designator)*` from `at` on, each designator at most once and in order.
fn designators(bytes: &[u8], mut at: usize, order: &[u8]) -> usize {
    for &designator in order {
        let number = digits(bytes, at);
        if number > 0 && bytes.get(at + number) == Some(&designator) {
            at += number + 1;
        }
    }
    at
}

/// A UUID; an error where eight hexadecimal digits and `-` begin none, as nothing else goes on like that.
fn uuid(bytes: &[u8]) -> Option<Result<(Kind, usize), Trouble>> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    if bytes.get(8) != Some(&b'-') || run(bytes, |b| b.is_ascii_hexdigit()) != 8 {
        return None;
    }
    let mut at = 0;
    for (i, group) in GROUPS.into_iter().enumerate() {
        if i > 0 {
            if bytes.get(at) != Some(&b'-') {
                return Some(Err(Trouble { at, what: Expected::Char('-') }));
            }
            at += 1;
        }
        for _ in 0..group {
            if !bytes.get(at).is_some_and(u8::is_ascii_hexdigit) {
                return Some(Err(Trouble { at, what: Expected::Set }));
            }
            at += 1;
        }
    }
    Some(Ok((Kind::Uuid, at)))
}
