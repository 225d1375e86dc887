//! Types as Java class names (`AbstractType.toString`), which `vector` travels under in messages
//! and which statement and digest computations use.

mod parse;

use std::fmt::Write;

use super::{DataType, UserType};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

impl DataType {
    /// The full class string, e.g.
    /// `org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.Int32Type)`.
    pub fn class_name(&self) -> String {
        let mut text = String::new();
        self.write_class(&mut text, false);
        text
    }

    /// `frozen_outside`: an enclosing frozen type has said it for all beneath it.
    fn write_class(&self, out: &mut String, frozen_outside: bool) {
        let says_frozen = !frozen_outside && self.is_freezable() && !self.is_multi_cell();
        if says_frozen {
            out.push_str(PACKAGE);
            out.push_str("FrozenType(");
        }
        let inside = frozen_outside || !self.is_multi_cell();
        match self {
            DataType::List { element, .. } => write_with(out, "ListType", &[element], inside),
            DataType::Set { element, .. } => write_with(out, "SetType", &[element], inside),
            DataType::Map { key, value, .. } => write_with(out, "MapType", &[key, value], inside),
            DataType::Tuple(types) => {
                let types: Vec<&DataType> = types.iter().collect();
                write_with(out, "TupleType", &types, true);
            }
            DataType::Udt { definition, .. } => write_udt(out, definition, inside),
            DataType::Vector { element, dimension } => {
                out.push_str(PACKAGE);
                out.push_str("VectorType(");
                element.write_class(out, frozen_outside);
                // A String never refuses what is written to it.
                let _ = write!(out, " , {dimension})");
            }
            DataType::Custom(class) => out.push_str(class),
            DataType::Reversed(base) => write_with(out, "ReversedType", &[base], false),
            scalar => {
                out.push_str(PACKAGE);
                out.push_str(scalar.scalar_class());
            }
        }
        if says_frozen {
            out.push(')');
        }
    }

    fn is_freezable(&self) -> bool {
        self.is_collection() || matches!(self, DataType::Udt { .. })
    }

    /// The class of a type without parameters.
    fn scalar_class(&self) -> &'static str {
        match self {
            DataType::Ascii => "AsciiType",
            DataType::BigInt => "LongType",
            DataType::Boolean => "BooleanType",
            DataType::Counter => "CounterColumnType",
            DataType::Date => "SimpleDateType",
            DataType::Decimal => "DecimalType",
            DataType::Double => "DoubleType",
            DataType::Duration => "DurationType",
            DataType::Empty => "EmptyType",
            DataType::Float => "FloatType",
            DataType::Inet => "InetAddressType",
            DataType::Int => "Int32Type",
            DataType::SmallInt => "ShortType",
            DataType::Text => "UTF8Type",
            DataType::Time => "TimeType",
            DataType::Timestamp => "TimestampType",
            DataType::LegacyTimeUuid => "LegacyTimeUUIDType",
            DataType::TimeUuid => "TimeUUIDType",
            DataType::TinyInt => "ByteType",
            DataType::Uuid => "UUIDType",
            DataType::Varint => "IntegerType",
            _ => "BytesType",
        }
    }
}

fn write_with(out: &mut String, class: &str, types: &[&DataType], frozen: bool) {
    out.push_str(PACKAGE);
    out.push_str(class);
    out.push('(');
    for (index, data_type) in types.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        data_type.write_class(out, frozen);
    }
    out.push(')');
}

/// Names of the type and its fields are in hexadecimal; the keyspace is not.
fn write_udt(out: &mut String, definition: &UserType, frozen: bool) {
    out.push_str(PACKAGE);
    out.push_str("UserType(");
    out.push_str(&definition.keyspace);
    out.push(',');
    push_hex(out, &definition.name);
    for (name, data_type) in &definition.fields {
        out.push(',');
        push_hex(out, name);
        out.push(':');
        data_type.write_class(out, frozen);
    }
    out.push(')');
}

fn push_hex(out: &mut String, text: &str) {
    for byte in text.bytes() {
        // A String never refuses what is written to it.
        let _ = write!(out, "{byte:02x}");
    }
}
