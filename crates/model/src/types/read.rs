//! Serialized values as Cassandra reads them into objects (`TypeSerializer.deserialize`): what it refuses then although
//! [`super::validate`] takes it, and which values are the same object (`Object.equals`).

use std::net::Ipv6Addr;

use super::DataType;
use super::elements::{take_value, take_vector_element, take_vint};
use super::validate::{Flaw, MarshalError, check_collection, null, refuse, take_part, validate_strict_text};

impl DataType {
    /// Checks a bound value. A collection is read whole, part by part, and the elements of a list may be null.
    ///
    /// # Errors
    /// With Cassandra's text when it is no value of this type.
    pub fn validate_bound(&self, value: &[u8]) -> Result<(), MarshalError> {
        if self.is_collection() { self.read(value) } else { self.validate(value) }
    }

    /// What reading a value refuses; of all but collections one that was validated. Types nest at most 64 deep.
    fn read(&self, value: &[u8]) -> Result<(), MarshalError> {
        match self {
            DataType::List { element, .. } => read_elements("list", value, |rest| match take_part(rest)? {
                Some(part) => element.check_and_read(part),
                None => Ok(()),
            }),
            DataType::Set { element, .. } => {
                read_elements("set", value, |rest| element.check_and_read(take_part(rest)?.ok_or_else(null)?))
            }
            DataType::Map { key, value: values, .. } => read_elements("map", value, |rest| {
                let entry_key = take_part(rest)?.ok_or_else(null)?;
                key.check(entry_key)?;
                let entry_value = take_part(rest)?.ok_or_else(null)?;
                values.check(entry_value)?;
                key.read(entry_key)?;
                Ok(values.read(entry_value)?)
            }),
            DataType::Vector { element, dimension } => {
                let mut rest = value;
                let mut parts = (0..*dimension).map_while(|_| take_vector_element(&mut rest, element));
                parts.try_for_each(|part| element.read(part))
            }
            DataType::Text => validate_strict_text(value),
            DataType::Decimal if value.len() == 4 => refuse("Zero length BigInteger"),
            DataType::Reversed(base) => base.read(value),
            _ => Ok(()),
        }
    }

    fn check_and_read(&self, value: &[u8]) -> Result<(), Flaw> {
        self.check(value)?;
        Ok(self.read(value)?)
    }

    /// Whether an empty value is read as null.
    pub fn reads_empty_as_null(&self) -> bool {
        use DataType as T;
        !matches!(self, T::Text | T::Ascii | T::Blob | T::Tuple(_) | T::Udt { .. } | T::Custom(_))
    }

    /// Whether two values are the same once read: by the bytes for tuples and user types, by number and scale for
    /// decimals, with both addresses of an IPv4 host one. (Those that compare as equal are more.)
    pub fn reads_as_same(&self, left: &[u8], right: &[u8]) -> bool {
        use DataType as T;
        if (left.is_empty() || right.is_empty()) || !self.reads_empty_as_null() {
            return left == right;
        }
        match self {
            T::Decimal => {
                left[..left.len().min(4)] == right[..right.len().min(4)] && self.compare(left, right).is_eq()
            }
            T::Inet => ipv4(left).unwrap_or(left) == ipv4(right).unwrap_or(right),
            T::Duration => duration(left) == duration(right),
            T::List { element, .. } => {
                let (left, right) = (parts(left), parts(right));
                left.len() == right.len()
                    && left.iter().zip(&right).all(|(a, b)| element.part_reads_as_same(*a, *b))
            }
            T::Set { element, .. } => {
                let (left, right) = (sorted(element, left, 1), sorted(element, right, 1));
                left.len() == right.len()
                    && left.iter().zip(&right).all(|(a, b)| element.part_reads_as_same(a[0], b[0]))
            }
            T::Map { key, value, .. } => {
                let (left, right) = (sorted(key, left, 2), sorted(key, right, 2));
                let same = |(a, b): (&Entry<'_>, &Entry<'_>)| {
                    key.part_reads_as_same(a[0], b[0]) && value.part_reads_as_same(a[1], b[1])
                };
                left.len() == right.len() && left.iter().zip(&right).all(same)
            }
            T::Vector { element, dimension } => {
                let (mut left, mut right) = (left, right);
                (0..*dimension).all(|_| {
                    let parts =
                        (take_vector_element(&mut left, element), take_vector_element(&mut right, element));
                    element.part_reads_as_same(parts.0, parts.1)
                })
            }
            T::Reversed(base) => base.reads_as_same(left, right),
            _ => self.compare(left, right).is_eq(),
        }
    }

    /// The same of parts of a value, which may be null.
    pub fn part_reads_as_same(&self, left: Option<&[u8]>, right: Option<&[u8]>) -> bool {
        let read =
            |part: Option<&[u8]>| part.is_some_and(|bytes| !(bytes.is_empty() && self.reads_empty_as_null()));
        match (left.filter(|_| read(left)), right.filter(|_| read(right))) {
            (Some(left), Some(right)) => self.reads_as_same(left, right),
            (left, right) => left.is_none() && right.is_none(),
        }
    }
}

/// A collection that is read cannot have fewer elements than none.
fn read_elements(
    name: &str,
    value: &[u8],
    read: impl Fn(&mut &[u8]) -> Result<(), Flaw>,
) -> Result<(), MarshalError> {
    if value.len() >= 4 && value[0] & 0x80 != 0 {
        return refuse(format!("The data cannot be deserialized as a {name}"));
    }
    check_collection(value, name, read)
}

type Entry<'a> = [Option<&'a [u8]>; 2];

/// The parts of a collection behind their number, of a map keys and values in turn.
fn parts(value: &[u8]) -> Vec<Option<&[u8]>> {
    let mut rest = value.get(4..).unwrap_or_default();
    std::iter::from_fn(|| take_value(&mut rest)).collect()
}

/// The elements or entries of a set or map by their order: descending columns have them in any.
fn sorted<'a>(key: &DataType, value: &'a [u8], width: usize) -> Vec<Entry<'a>> {
    let flat = parts(value);
    let mut entries: Vec<Entry<'a>> =
        flat.chunks_exact(width).map(|entry| [entry[0], entry.get(1).copied().flatten()]).collect();
    entries.sort_by(|a, b| key.compare(a[0].unwrap_or_default(), b[0].unwrap_or_default()));
    entries
}

/// The four bytes of an IPv4 address inside an IPv6 one.
fn ipv4(address: &[u8]) -> Option<&[u8]> {
    let mapped = Ipv6Addr::from(*address.first_chunk::<16>()?).to_ipv4_mapped();
    mapped.map(|_| &address[12..])
}

/// Months, days and nanoseconds.
fn duration(value: &[u8]) -> [Option<i64>; 3] {
    let mut rest = value;
    std::array::from_fn(|_| take_vint(&mut rest))
}
