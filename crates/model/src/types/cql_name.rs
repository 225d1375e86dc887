//! Types as CQL text (`CQL3Type.toString`), as `system_schema` stores them and messages show them.

use std::fmt;

use super::DataType;
use crate::quote;

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frozen = match self {
            DataType::Tuple(_) => true,
            DataType::Vector { .. } => false,
            other => {
                (other.is_collection() || matches!(other, DataType::Udt { .. })) && !other.is_multi_cell()
            }
        };
        if frozen {
            f.write_str("frozen<")?;
        }
        match self {
            DataType::List { element, .. } => write!(f, "list<{element}>")?,
            DataType::Set { element, .. } => write!(f, "set<{element}>")?,
            DataType::Map { key, value, .. } => write!(f, "map<{key}, {value}>")?,
            DataType::Tuple(types) => {
                f.write_str("tuple<")?;
                for (index, data_type) in types.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{data_type}")?;
                }
                f.write_str(">")?;
            }
            DataType::Udt { definition, .. } => f.write_str(&quote::identifier(&definition.name))?,
            DataType::Vector { element, dimension } => write!(f, "vector<{element}, {dimension}>")?,
            DataType::Custom(class) => write!(f, "'{class}'")?,
            DataType::Reversed(base) => write!(f, "{base}")?,
            scalar => f.write_str(scalar.scalar_name())?,
        }
        if frozen {
            f.write_str(">")?;
        }
        Ok(())
    }
}

impl DataType {
    /// The CQL name of a type without parameters.
    fn scalar_name(&self) -> &'static str {
        match self {
            DataType::Ascii => "ascii",
            DataType::BigInt => "bigint",
            DataType::Boolean => "boolean",
            DataType::Counter => "counter",
            DataType::Date => "date",
            DataType::Decimal => "decimal",
            DataType::Double => "double",
            DataType::Duration => "duration",
            DataType::Empty => "empty",
            DataType::Float => "float",
            DataType::Inet => "inet",
            DataType::Int => "int",
            DataType::SmallInt => "smallint",
            DataType::Text => "text",
            DataType::Time => "time",
            DataType::Timestamp => "timestamp",
            DataType::TimeUuid | DataType::LegacyTimeUuid => "timeuuid",
            DataType::TinyInt => "tinyint",
            DataType::Uuid => "uuid",
            DataType::Varint => "varint",
            _ => "blob",
        }
    }
}
