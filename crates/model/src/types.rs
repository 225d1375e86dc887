//! CQL types. What a type's bytes may be ([`validate`], and when they are read [`read`]), how they compare
//! ([`compare`]), and the two names a type has: its CQL text ([`cql_name`]) and Cassandra's Java class ([`class_name`]).

pub mod class_name;
pub mod compare;
pub mod cql_name;
pub mod elements;
pub mod read;
pub mod validate;

use std::sync::Arc;

/// A type of values. Collections and UDTs say whether they are frozen (one cell) or multi-cell
/// (a cell an element); tuples and vectors are always one cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `ascii`.
    Ascii,
    /// `bigint`: 8 bytes.
    BigInt,
    /// `blob`.
    Blob,
    /// `boolean`: 1 byte.
    Boolean,
    /// `counter`.
    Counter,
    /// `date`: 4 bytes, days with 1970-01-01 at 2^31.
    Date,
    /// `decimal`: 4-byte scale, then a varint.
    Decimal,
    /// `double`.
    Double,
    /// `duration`: three signed vints (months, days, nanoseconds).
    Duration,
    /// `empty`: only in old tables and metadata.
    Empty,
    /// `float`.
    Float,
    /// `inet`: 4 or 16 bytes.
    Inet,
    /// `int`: 4 bytes.
    Int,
    /// `smallint`: 2 bytes.
    SmallInt,
    /// `text` and `varchar`: UTF-8.
    Text,
    /// `time`: 8 bytes, nanoseconds of the day.
    Time,
    /// `timestamp`: 8 bytes, milliseconds since 1970.
    Timestamp,
    /// `timeuuid`.
    TimeUuid,
    /// `tinyint`: 1 byte.
    TinyInt,
    /// `uuid`.
    Uuid,
    /// `varint`: two's complement, big-endian, any length.
    Varint,
    /// `list<element>`.
    List {
        /// Type of the elements.
        element: Arc<DataType>,
        /// One cell, or a cell an element.
        frozen: bool,
    },
    /// `set<element>`.
    Set {
        /// Type of the elements.
        element: Arc<DataType>,
        /// One cell, or a cell an element.
        frozen: bool,
    },
    /// `map<key, value>`.
    Map {
        /// Type of the keys.
        key: Arc<DataType>,
        /// Type of the values.
        value: Arc<DataType>,
        /// One cell, or a cell an entry.
        frozen: bool,
    },
    /// `tuple<...>`.
    Tuple(Arc<[DataType]>),
    /// A user-defined type.
    Udt {
        /// Its definition.
        definition: Arc<UserType>,
        /// One cell, or a cell a field.
        frozen: bool,
    },
    /// `vector<element, dimension>`.
    Vector {
        /// Type of the elements.
        element: Arc<DataType>,
        /// Number of elements, at least 1.
        dimension: u32,
    },
    /// A type known by its Java class alone: kept, shown, compared as bytes.
    Custom(Arc<str>),
    /// `timeuuid` under the class by which functions return it (`LegacyTimeUUIDType`), which clients are told.
    /// Selections alone have it.
    LegacyTimeUuid,
    /// A type in descending order (`ReversedType`), which clients are not told of. Selections alone have it, around
    /// clustering columns' types; a column says its order itself.
    Reversed(Arc<DataType>),
}

/// A user-defined type (`db/marshal/UserType`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserType {
    /// Its keyspace.
    pub keyspace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Names and types of its fields, in order.
    pub fields: Vec<(Arc<str>, DataType)>,
}

impl DataType {
    /// Whether values are stored as a cell an element.
    pub fn is_multi_cell(&self) -> bool {
        matches!(
            self,
            DataType::List { frozen: false, .. }
                | DataType::Set { frozen: false, .. }
                | DataType::Map { frozen: false, .. }
                | DataType::Udt { frozen: false, .. }
        )
    }

    /// List, set or map.
    pub fn is_collection(&self) -> bool {
        matches!(self, DataType::List { .. } | DataType::Set { .. } | DataType::Map { .. })
    }

    /// Whether it is a type in descending order.
    pub fn is_reversed(&self) -> bool {
        matches!(self, DataType::Reversed(_))
    }

    /// The type without its order (`AbstractType.unwrap`).
    pub fn unwrap_reversed(&self) -> &DataType {
        match self {
            DataType::Reversed(base) => base,
            other => other,
        }
    }

    /// Whether Cassandra takes two types for equal (`AbstractType.equals`): as `==`, but that both classes of
    /// `timeuuid` are one.
    pub fn equals(&self, other: &DataType) -> bool {
        use DataType as T;
        match (self, other) {
            (T::TimeUuid | T::LegacyTimeUuid, T::TimeUuid | T::LegacyTimeUuid) => true,
            (T::List { element: a, frozen: f }, T::List { element: b, frozen: g })
            | (T::Set { element: a, frozen: f }, T::Set { element: b, frozen: g }) => f == g && a.equals(b),
            (T::Map { key: k, value: a, frozen: f }, T::Map { key: l, value: b, frozen: g }) => {
                f == g && k.equals(l) && a.equals(b)
            }
            (T::Tuple(a), T::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
            }
            (T::Reversed(a), T::Reversed(b)) => a.equals(b),
            (a, b) => a == b,
        }
    }

    /// The same type stored as one cell; types inside are frozen by being inside
    /// (`AbstractType.freeze`).
    pub fn freeze(&self) -> DataType {
        match self {
            DataType::List { element, .. } => DataType::List { element: element.clone(), frozen: true },
            DataType::Set { element, .. } => DataType::Set { element: element.clone(), frozen: true },
            DataType::Map { key, value, .. } => {
                DataType::Map { key: key.clone(), value: value.clone(), frozen: true }
            }
            DataType::Udt { definition, .. } => {
                DataType::Udt { definition: definition.clone(), frozen: true }
            }
            other => other.clone(),
        }
    }

    /// Bytes of a value when every value has the same number (`AbstractType.valueLengthIfFixed`).
    pub fn fixed_length(&self) -> Option<usize> {
        match self {
            DataType::Boolean => Some(1),
            DataType::Int | DataType::Float => Some(4),
            DataType::BigInt | DataType::Double | DataType::Timestamp => Some(8),
            DataType::Uuid | DataType::TimeUuid | DataType::LegacyTimeUuid => Some(16),
            DataType::Vector { element, dimension } => {
                element.fixed_length().map(|length| length * *dimension as usize)
            }
            DataType::Reversed(base) => base.fixed_length(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
