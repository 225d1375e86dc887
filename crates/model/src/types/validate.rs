//! Which bytes are a value of a type (`TypeSerializer.validate`), with Cassandra's messages.

use super::elements::{take_count, take_value, take_vector_element, take_vint};
use super::{DataType, UserType};

/// Why bytes are not a value of a type; the text is Cassandra's (`MarshalException`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarshalError(pub String);

fn refuse<T>(text: impl Into<String>) -> Result<T, MarshalError> {
    Err(MarshalError(text.into()))
}

impl DataType {
    /// Checks that `value` is a serialized value of this type.
    ///
    /// # Errors
    /// With Cassandra's text when it is not.
    pub fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match self {
            DataType::Blob | DataType::Varint | DataType::Custom(_) => Ok(()),
            DataType::Text => validate_text(value),
            DataType::Ascii => match value.iter().find(|byte| !byte.is_ascii()) {
                Some(&byte) => refuse(format!("Invalid byte for ascii: {}", byte as i8)),
                None => Ok(()),
            },
            DataType::Duration => validate_duration(value),
            DataType::TimeUuid => validate_timeuuid(value),
            DataType::Reversed(base) => base.validate(value),
            DataType::List { element, .. } => validate_collection(value, "list", &[element]),
            DataType::Set { element, .. } => validate_collection(value, "set", &[element]),
            DataType::Map { key, value: values, .. } => validate_collection(value, "map", &[key, values]),
            DataType::Tuple(types) => validate_tuple(value, types),
            DataType::Udt { definition, .. } => validate_udt(value, definition),
            DataType::Vector { element, dimension } => self.validate_vector(value, element, *dimension),
            scalar => scalar.validate_length(value),
        }
    }

    /// Checks a bound value; a collection is read element by element then (`ListSerializer.deserialize`), and the
    /// elements of a list may be null.
    ///
    /// # Errors
    /// With Cassandra's text when it is no value of this type.
    pub fn validate_bound(&self, value: &[u8]) -> Result<(), MarshalError> {
        match self {
            DataType::List { element, .. } => validate_elements(value, "list", &[element], true),
            other => other.validate(value),
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

    fn validate_vector(&self, value: &[u8], element: &DataType, dimension: u32) -> Result<(), MarshalError> {
        if value.is_empty() {
            return refuse("Invalid empty vector value");
        }
        let mut rest = value;
        for _ in 0..dimension {
            match take_vector_element(&mut rest, element) {
                Some(next) => element.validate(next)?,
                None => return refuse(format!("Not enough bytes to read a {self}")),
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

/// Texts in collections are read by Java's decoder, which is strict.
fn validate_element_text(value: &[u8]) -> Result<(), MarshalError> {
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

fn validate_collection(value: &[u8], name: &str, types: &[&DataType]) -> Result<(), MarshalError> {
    validate_elements(value, name, types, false)
}

/// `types`: of the element, or of key and value.
fn validate_elements(
    value: &[u8],
    name: &str,
    types: &[&DataType],
    may_be_null: bool,
) -> Result<(), MarshalError> {
    let too_short = || MarshalError(format!("Not enough bytes to read a {name}"));
    let mut rest = value;
    let count = take_count(&mut rest).ok_or_else(too_short)?;
    for _ in 0..count {
        for data_type in types {
            match take_value(&mut rest).ok_or_else(too_short)? {
                Some(element) if **data_type == DataType::Text => validate_element_text(element)?,
                Some(element) => data_type.validate(element)?,
                None if may_be_null => {}
                None => return refuse("Null value read when not allowed"),
            }
        }
    }
    if rest.is_empty() { Ok(()) } else { refuse(format!("Unexpected extraneous bytes after {name} value")) }
}

/// Fewer components than declared are allowed, more are not.
fn validate_tuple(value: &[u8], types: &[DataType]) -> Result<(), MarshalError> {
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
            Some(Some(component)) => data_type.validate(component)?,
        }
    }
    if rest.is_empty() { Ok(()) } else { refuse("Invalid remaining data after end of tuple value") }
}

/// Fewer fields than declared are allowed, more are not.
fn validate_udt(value: &[u8], definition: &UserType) -> Result<(), MarshalError> {
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
            Some(Some(field)) => data_type.validate(field).map_err(|error| {
                MarshalError(format!("Failure validating the {index}th field {name}; {error}"))
            })?,
        }
    }
    if rest.is_empty() { Ok(()) } else { refuse("Invalid remaining data after end of UDT value") }
}
