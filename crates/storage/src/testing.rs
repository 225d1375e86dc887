//! What the tests of this crate share: types from Java class strings, hex, small tables.

use basalt_model::DataType;
use basalt_model::schema::{ClusteringOrder, Column, ColumnKind, TableOptions};
use basalt_model::{ColumnId, Table, TableId};
use bytes::Bytes;

/// Whether a value of a type with floats may hold a NaN other than Java's own. Cassandra's ordered bytes tell those
/// apart, against the type's order; ours do not.
pub fn may_hold_other_nan(class: &str, value: &[u8]) -> bool {
    let is_other_float = |bytes: &[u8]| {
        let bits = u32::from_be_bytes(bytes.try_into().unwrap());
        f32::from_bits(bits).is_nan() && bits != 0x7FC0_0000
    };
    let is_other_double = |bytes: &[u8]| {
        let bits = u64::from_be_bytes(bytes.try_into().unwrap());
        f64::from_bits(bits).is_nan() && bits != 0x7FF8_0000_0000_0000
    };
    class.contains("FloatType") && value.windows(4).any(is_other_float)
        || class.contains("DoubleType") && value.windows(8).any(is_other_double)
}

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
    Column {
        name: name.into(),
        data_type,
        kind,
        position,
        order: ClusteringOrder::Asc,
        id: ColumnId(id),
        mask: None,
    }
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
        compact: None,
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

/// The type that stands in a key under this Java class string, and whether it is reversed; `None` for
/// classes that are not types of CQL. What is in a key is frozen.
pub fn parse_class(text: &str) -> Option<(DataType, bool)> {
    let (data_type, is_reversed) = DataType::from_class_name(text)?;
    Some((data_type.freeze(), is_reversed))
}
