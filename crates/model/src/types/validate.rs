//! Which bytes are a value of a type (`TypeSerializer.validate`), with Cassandra's messages.

use std::fmt::Display;

use super::elements::{take_count, take_value, take_vector_element, take_vint};
use super::{DataType, UserType};

/// Why bytes are not a value of a type; the text is Cassandra's (`MarshalException`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarshalError(pub String);

pub(super) fn refuse<T, E: From<MarshalError>>(text: impl Into<String>) -> Result<T, E> {
    Err(MarshalError(text.into()).into())
}

/// What is wrong with bytes, before it is known what that is called.
pub(super) enum Flaw {
    Refused(MarshalError),
    /// A part ends too soon, which has the name of the collection around it (Java's `IndexOutOfBoundsException`).
    CutOff,
}

impl From<MarshalError> for Flaw {
    fn from(error: MarshalError) -> Flaw {
        Flaw::Refused(error)
    }
}

impl Flaw {
    /// The error, of a type or kind of types that has this name.
    pub(super) fn named(self, name: impl Display) -> MarshalError {
        match self {
            Flaw::Refused(error) => error,
            Flaw::CutOff => MarshalError(format!("Not enough bytes to read a {name}")),
        }
    }
}

impl DataType {
    /// Checks that `value` is a serialized value of this type.
    ///
    /// # Errors
    /// With Cassandra's text when it is not.
    pub fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        self.check(value).map_err(|flaw| flaw.named(self))
    }

    pub(super) fn check(&self, value: &[u8]) -> Result<(), Flaw> {
        match self {
            DataType::Blob | DataType::Varint | DataType::Custom(_) => Ok(()),
            DataType::Text => Ok(validate_text(value)?),
            DataType::Ascii => match value.iter().find(|byte| !byte.is_ascii()) {
                Some(&byte) => refuse(format!("Invalid byte for ascii: {}", byte as i8)),
                None => Ok(()),
            },
            DataType::Duration => Ok(validate_duration(value)?),
            DataType::TimeUuid => Ok(validate_timeuuid(value)?),
            DataType::Reversed(base) => base.check(value),
            DataType::List { element, .. } => Ok(validate_collection(value, "list", &[element])?),
            DataType::Set { element, .. } => Ok(validate_collection(value, "set", &[element])?),
            DataType::Map { key, value: values, .. } => {
                Ok(validate_collection(value, "map", &[key, values])?)
            }
            DataType::Tuple(types) => check_tuple(value, types),
            DataType::Udt { definition, .. } => check_udt(value, definition),
            DataType::Vector { element, dimension } => self.check_vector(value, element, *dimension),
            scalar => Ok(scalar.validate_length(value)?),
        }
    }

    /// The types of which only the length is checked.
    fn validate_length(&self, value: &[u8]) -> Result<(), MarshalError> {
        let length = value.len();
        let (valid, text) = match self {
            DataType::Boolean => (length <= 1, "Expected 1 or 0 byte value"),
            DataType::TinyInt => (length == 1, "Expected 1 byte for a tinyint"),
            DataType::SmallInt => (length == 2, "Expected 2 bytes for a smallint"),
            DataType::Int => (matches!(length, 0 | 4), "Expected 4 or 0 byte int"),
            DataType::BigInt | DataType::Counter => (matches!(length, 0 | 8), "Expected 8 or 0 byte long"),
            DataType::Float => (matches!(length, 0 | 4), "Expected 4 or 0 byte value for a float"),
            DataType::Double => (matches!(length, 0 | 8), "Expected 8 or 0 byte value for a double"),
            DataType::Decimal => (length == 0 || length >= 4, "Expected 0 or at least 4 bytes"),
            DataType::Uuid | DataType::LegacyTimeUuid => {
                (matches!(length, 0 | 16), "UUID should be 16 or 0 bytes")
            }
            DataType::Date => (length == 4, "Expected 4 byte long for date"),
            DataType::Time => (length == 8, "Expected 8 byte long for time"),
            DataType::Timestamp => (matches!(length, 0 | 8), "Expected 8 or 0 byte long for date"),
            DataType::Inet if matches!(length, 0 | 4 | 16) => return Ok(()),
            DataType::Inet => {
                return refuse(format!("Expected 4 or 16 byte inetaddress; got {}", hex(value)));
            }
            DataType::Empty if length == 0 => return Ok(()),
            DataType::Empty => return refuse("EmptyType only accept empty values"),
            _ => return Ok(()),
        };
        if valid { Ok(()) } else { refuse(format!("{text} ({length})")) }
    }

    fn check_vector(&self, value: &[u8], element: &DataType, dimension: u32) -> Result<(), Flaw> {
        if value.is_empty() {
            return refuse("Invalid empty vector value");
        }
        let cut_off = || refuse(format!("Not enough bytes to read a {self}"));
        // Elements of one length are counted before the first is looked at (`VectorType.FixedLengthSerializer.validate`).
        let length = element.fixed_length().unwrap_or(0) as u64 * u64::from(dimension);
        if (value.len() as u64) < length {
            return cut_off();
        }
        let mut rest = value;
        for _ in 0..dimension {
            match take_vector_element(&mut rest, element) {
                Some(next) => element.check(next)?,
                None if rest.is_empty() => return cut_off(),
                None => return Err(Flaw::CutOff),
            }
        }
        match rest.len() {
            0 => Ok(()),
            extra => refuse(format!("Unexpected {extra} extraneous bytes after {self} value")),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// UTF-8 as Cassandra takes it: also Java's two-byte NUL and lone surrogates
/// (`UTF8Serializer.UTF8Validator`).
fn validate_text(value: &[u8]) -> Result<(), MarshalError> {
    if std::str::from_utf8(value).is_ok() || is_loose_utf8(value) {
        Ok(())
    } else {
        refuse("String didn't validate.")
    }
}

/// Texts are read by Java's decoder, which is strict.
pub(super) fn validate_strict_text(value: &[u8]) -> Result<(), MarshalError> {
    match std::str::from_utf8(value) {
        Ok(_) => Ok(()),
        Err(_) if is_loose_utf8(value) => refuse(format!("Invalid UTF-8 bytes {}", hex(value))),
        Err(_) => refuse("String didn't validate."),
    }
}

fn is_loose_utf8(mut rest: &[u8]) -> bool {
    let continues = |byte: u8| byte & 0xc0 == 0x80;
    while let Some((&first, tail)) = rest.split_first() {
        let valid = match (first, tail) {
            (0x00..=0x7f, _) => Some(0),
            (0xc0, [0x80, ..]) => Some(1),
            (0xc2..=0xdf, [b, ..]) if continues(*b) => Some(1),
            // The second byte after 0xe0 is only kept from making an overlong form.
            (0xe0, [b, c, ..]) if b & 0xe0 != 0x80 && continues(*c) => Some(2),
            (0xe1..=0xef, [b, c, ..]) if continues(*b) && continues(*c) => Some(2),
            (0xf0, [b, c, d, ..]) if b & 0x30 != 0 && continues(*c) && continues(*d) => Some(3),
            (0xf1..=0xf7, [b, c, d, ..]) if continues(*b) && continues(*c) && continues(*d) => Some(3),
            _ => None,
        };
        match valid.and_then(|more| tail.get(more..)) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    true
}

fn validate_timeuuid(value: &[u8]) -> Result<(), MarshalError> {
    match value {
        [] => Ok(()),
        [first, .., _] if value.len() == 16 => {
            if value[6] & 0xf0 == 0x10 {
                Ok(())
            } else {
                // The nibble shown is the first byte's: Cassandra's own slip, kept.
                refuse(format!("Invalid version for TimeUUID type: 0x{:x}", first >> 4))
            }
        }
        _ => refuse(format!("UUID should be 16 or 0 bytes ({})", value.len())),
    }
}

fn validate_duration(value: &[u8]) -> Result<(), MarshalError> {
    if value.len() < 3 {
        return refuse(format!("Expected at least 3 bytes for a duration ({})", value.len()));
    }
    let mut rest = value;
    let parts = (take_vint(&mut rest), take_vint(&mut rest), take_vint(&mut rest));
    let (Some(months), Some(days), Some(nanoseconds)) = parts else {
        return refuse("Not enough bytes to read a duration");
    };
    for (part, name) in [(months, "months"), (days, "days")] {
        if i32::try_from(part).is_err() {
            return refuse(format!("The duration {name} must be a 32 bits integer but was: {part}"));
        }
    }
    let all = [months, days, nanoseconds];
    if all.iter().all(|part| *part >= 0) || all.iter().all(|part| *part <= 0) {
        Ok(())
    } else {
        refuse(format!(
            "The duration months, days and nanoseconds must be all of the same sign ({months}, {days}, {nanoseconds})"
        ))
    }
}

/// `types`: of the element, or of key and value.
fn validate_collection(value: &[u8], name: &str, types: &[&DataType]) -> Result<(), MarshalError> {
    check_collection(value, name, |rest| {
        types.iter().try_for_each(|data_type| data_type.check(take_part(rest)?.ok_or_else(null)?))
    })
}

/// Walks a collection; `check` takes an element, or an entry, off the rest.
pub(super) fn check_collection(
    value: &[u8],
    name: &str,
    check: impl Fn(&mut &[u8]) -> Result<(), Flaw>,
) -> Result<(), MarshalError> {
    let mut rest = value;
    let count = take_count(&mut rest).ok_or_else(|| Flaw::CutOff.named(name))?;
    for _ in 0..count {
        check(&mut rest).map_err(|flaw| flaw.named(name))?;
    }
    if rest.is_empty() { Ok(()) } else { refuse(format!("Unexpected extraneous bytes after {name} value")) }
}

/// The next part of a collection.
pub(super) fn take_part<'a>(rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Flaw> {
    take_value(rest).ok_or(Flaw::CutOff)
}

/// What null is refused with where a collection has none.
pub(super) fn null() -> Flaw {
    MarshalError("Null value read when not allowed".to_owned()).into()
}

/// Fewer components than declared are allowed, more are not.
fn check_tuple(value: &[u8], types: &[DataType]) -> Result<(), Flaw> {
    let mut rest = value;
    for (index, data_type) in types.iter().enumerate() {
        if rest.is_empty() {
            return Ok(());
        }
        if rest.len() < 4 {
            return refuse(format!("Not enough bytes to read size of {index}th component"));
        }
        match take_value(&mut rest) {
            None => return refuse(format!("Not enough bytes to read {index}th component")),
            Some(None) => {}
            Some(Some(component)) => data_type.check(component)?,
        }
    }
    if rest.is_empty() { Ok(()) } else { refuse("Invalid remaining data after end of tuple value") }
}

/// Fewer fields than declared are allowed, more are not.
fn check_udt(value: &[u8], definition: &UserType) -> Result<(), Flaw> {
    let mut rest = value;
    for (index, (name, data_type)) in definition.fields.iter().enumerate() {
        if rest.is_empty() {
            return Ok(());
        }
        if rest.len() < 4 {
            return refuse(format!("Not enough bytes to read size of {index}th field {name}"));
        }
        match take_value(&mut rest) {
            None => return refuse(format!("Not enough bytes to read {index}th field {name}")),
            Some(None) => {}
            Some(Some(field)) => match data_type.check(field) {
                Err(Flaw::Refused(error)) => {
                    return refuse(format!("Failure validating the {index}th field {name}; {error}"));
                }
                checked => checked?,
            },
        }
    }
    if rest.is_empty() { Ok(()) } else { refuse("Invalid remaining data after end of UDT value") }
}
