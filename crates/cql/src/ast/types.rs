//! CQL types as they are written. Does not know which user types exist, nor what a custom class means.

use super::QualifiedName;

/// The native types by their CQL names (`CQL3Type.Native`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each variant is the CQL type of the same name.
pub enum NativeType {
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Date,
    Decimal,
    Double,
    Duration,
    Float,
    Inet,
    Int,
    Smallint,
    Text,
    Time,
    Timestamp,
    Timeuuid,
    Tinyint,
    Uuid,
    /// An alias of [`NativeType::Text`], kept apart because messages repeat what was written.
    Varchar,
    Varint,
}

impl NativeType {
    /// The name in CQL, lower case.
    pub fn name(self) -> &'static str {
        match self {
            NativeType::Ascii => "ascii",
            NativeType::Bigint => "bigint",
            NativeType::Blob => "blob",
            NativeType::Boolean => "boolean",
            NativeType::Counter => "counter",
            NativeType::Date => "date",
            NativeType::Decimal => "decimal",
            NativeType::Double => "double",
            NativeType::Duration => "duration",
            NativeType::Float => "float",
            NativeType::Inet => "inet",
            NativeType::Int => "int",
            NativeType::Smallint => "smallint",
            NativeType::Text => "text",
            NativeType::Time => "time",
            NativeType::Timestamp => "timestamp",
            NativeType::Timeuuid => "timeuuid",
            NativeType::Tinyint => "tinyint",
            NativeType::Uuid => "uuid",
            NativeType::Varchar => "varchar",
            NativeType::Varint => "varint",
        }
    }
}

/// A type as written (`CQL3Type.Raw`).
///
/// `frozen<...>` is kept where it stands; that freezing reaches into the nested collections is for the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CqlType {
    /// `int`, `text`, ...
    Native(NativeType),
    /// `list<T>`
    List(Box<CqlType>),
    /// `set<T>`
    Set(Box<CqlType>),
    /// `map<K, V>`
    Map(Box<CqlType>, Box<CqlType>),
    /// `tuple<T, ...>`, at least one element.
    Tuple(Vec<CqlType>),
    /// `vector<T, n>`. The dimension may be zero or negative here: Cassandra refuses that later.
    Vector(Box<CqlType>, i32),
    /// `[keyspace.]name`
    User(QualifiedName),
    /// `frozen<T>`; `T` is a collection, tuple, vector, user type or another `frozen`.
    Frozen(Box<CqlType>),
    /// `'class.name'` with its parameters, unparsed.
    Custom(String),
}
