//! What the tests of this crate share: types from Java class strings, hex, small tables.

use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::schema::{ClusteringOrder, Column, ColumnKind, TableOptions};
use basalt_model::types::UserType;
use basalt_model::{ColumnId, Table, TableId};
use bytes::Bytes;

/// Bytes from hex; `-` is none.
pub fn unhex(text: &str) -> Bytes {
    if text == "-" {
        return Bytes::new();
    }
    assert!(text.len().is_multiple_of(2), "odd hex: {text}");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Hex of bytes, `-` for none.
pub fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A column.
pub fn column(name: &str, data_type: DataType, kind: ColumnKind, position: u16, id: u32) -> Column {
    Column { name: name.into(), data_type, kind, position, order: ClusteringOrder::Asc, id: ColumnId(id) }
}

/// A table of these columns, which are in table order.
pub fn table(columns: Vec<Column>) -> Table {
    let count = |kind| columns.iter().filter(|column| column.kind == kind).count();
    Table {
        id: TableId(uuid::Uuid::from_u128(7)),
        keyspace: "ks".into(),
        name: "t".into(),
        partition_key_count: count(ColumnKind::PartitionKey),
        clustering_count: count(ColumnKind::Clustering),
        static_count: count(ColumnKind::Static),
        columns,
        dropped_columns: Default::default(),
        options: TableOptions::default(),
        flags: vec!["compound".to_owned()],
        is_virtual: false,
    }
}

/// A table with a blob key `k` and clustering columns of these types and directions.
pub fn table_clustered_by(types: &[(DataType, ClusteringOrder)]) -> Table {
    let mut columns = vec![column("k", DataType::Blob, ColumnKind::PartitionKey, 0, 1)];
    for (index, (data_type, order)) in types.iter().enumerate() {
        let mut column = column(
            &format!("c{index}"),
            data_type.clone(),
            ColumnKind::Clustering,
            index as u16,
            2 + index as u32,
        );
        column.order = *order;
        columns.push(column);
    }
    table(columns)
}

/// The type a Java class string names and whether it is reversed; `None` for classes that are not
/// types of CQL.
pub fn parse_class(text: &str) -> Option<(DataType, bool)> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix("ReversedType(").and_then(|t| t.strip_suffix(')')) {
        return Some((parse_class(inner)?.0, true));
    }
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name, split_arguments(rest.strip_suffix(')').unwrap())),
        None => (text, Vec::new()),
    };
    let argument = |index: usize| Some(Arc::new(parse_class(arguments.get(index)?)?.0));
    let data_type = match name {
        "AsciiType" => DataType::Ascii,
        "LongType" => DataType::BigInt,
        "BytesType" => DataType::Blob,
        "BooleanType" => DataType::Boolean,
        "SimpleDateType" => DataType::Date,
        "DecimalType" => DataType::Decimal,
        "DoubleType" => DataType::Double,
        "EmptyType" => DataType::Empty,
        "FloatType" => DataType::Float,
        "InetAddressType" => DataType::Inet,
        "Int32Type" => DataType::Int,
        "ShortType" => DataType::SmallInt,
        "UTF8Type" => DataType::Text,
        "TimeType" => DataType::Time,
        "TimestampType" => DataType::Timestamp,
        "TimeUUIDType" => DataType::TimeUuid,
        "ByteType" => DataType::TinyInt,
        "UUIDType" => DataType::Uuid,
        "IntegerType" => DataType::Varint,
        "FrozenType" => return Some((argument(0)?.freeze(), false)),
        "ListType" => DataType::List { element: argument(0)?, frozen: true },
        "SetType" => DataType::Set { element: argument(0)?, frozen: true },
        "MapType" => DataType::Map { key: argument(0)?, value: argument(1)?, frozen: true },
        "TupleType" => {
            let types: Option<Vec<DataType>> = arguments.iter().map(|t| Some(parse_class(t)?.0)).collect();
            DataType::Tuple(types?.into())
        }
        "UserType" => {
            let fields: Option<Vec<_>> = arguments[2..]
                .iter()
                .map(|field| {
                    let (name, data_type) = field.split_once(':')?;
                    Some((Arc::from(name), parse_class(data_type)?.0))
                })
                .collect();
            let definition = UserType { keyspace: "ks".into(), name: "udt".into(), fields: fields? };
            DataType::Udt { definition: Arc::new(definition), frozen: true }
        }
        "VectorType" => {
            DataType::Vector { element: argument(0)?, dimension: arguments[1].trim().parse().unwrap() }
        }
        _ => return None,
    };
    Some((data_type, false))
}

fn split_arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut arguments) = (0, 0, Vec::new());
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                arguments.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    arguments.push(&text[start..]);
    arguments
}
