//! What the tests of this crate share: types from Java class strings, hex, small tables.

use std::sync::Arc;

use basalt_model::DataType;
use basalt_model::env::SharedEnv;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{Table, TableId};
use bytes::Bytes;

use crate::checker::{Ground, Numbers, StandingClocks};
pub use crate::checker::{column, table};
use crate::engine::Engine;
use crate::engine::mem::MemEngine;

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

/// An environment for threads of tests.
pub fn env() -> SharedEnv {
    Arc::new(StandingClocks)
}

/// Memory, which nothing disturbs.
pub struct Memory(Arc<MemEngine>);

impl Memory {
    /// Without tables.
    pub fn new() -> Memory {
        Memory(Arc::new(MemEngine::new()))
    }
}

impl Ground for Memory {
    fn open(&mut self) -> Arc<dyn Engine> {
        self.0.clone()
    }

    fn disturb(&mut self, _table: TableId, _numbers: &mut Numbers) {}
}
