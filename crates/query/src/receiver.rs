//! What a term is for: the column, argument or option that receives its value
//! (`ColumnSpecification` in preparation), and the bind markers collected while preparing.

use std::sync::Arc;

use basalt_cql::ast::Marker;
use basalt_model::schema::{ClusteringOrder, ColumnKind};
use basalt_model::{DataType, Table};

use crate::result::ColumnSpec;

/// The place a value goes to.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The table's keyspace.
    pub keyspace: Arc<str>,
    /// The table.
    pub table: Arc<str>,
    /// Name shown in messages and marker metadata.
    pub name: Arc<str>,
    /// Type of the value.
    pub data_type: DataType,
    /// Index in `Table::columns`, if the place is a column as a whole.
    pub column: Option<usize>,
    /// Whether it is a column in descending order, whose type is a `ReversedType`: Cassandra does not see collections,
    /// user types and vectors through it everywhere.
    pub is_reversed: bool,
}

impl Receiver {
    /// A column of `table` as a whole.
    pub fn column(table: &Table, index: usize) -> Receiver {
        let column = &table.columns[index];
        Receiver {
            keyspace: table.keyspace.clone(),
            table: table.name.clone(),
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            column: Some(index),
            is_reversed: column.order == ClusteringOrder::Desc,
        }
    }

    /// A place in `table` that is not a column: `[limit]`, `partition key token`.
    pub fn named(table: &Table, name: &str, data_type: DataType) -> Receiver {
        Receiver::of(table.keyspace.clone(), table.name.clone(), name.into(), &data_type)
    }

    /// A place of a name for values of a type, which may be one in descending order.
    pub(crate) fn of(keyspace: Arc<str>, table: Arc<str>, name: Arc<str>, data_type: &DataType) -> Receiver {
        let is_reversed = data_type.is_reversed();
        let data_type = data_type.unwrap_reversed().clone();
        Receiver { keyspace, table, name, data_type, column: None, is_reversed }
    }

    /// Its type with its order, which functions are told.
    pub(crate) fn ordered_type(&self) -> DataType {
        match self.is_reversed {
            true => DataType::Reversed(Arc::new(self.data_type.clone())),
            false => self.data_type.clone(),
        }
    }

    /// A part of this place, with its own name and type.
    pub fn part(&self, name: String, data_type: &DataType) -> Receiver {
        Receiver::of(self.keyspace.clone(), self.table.clone(), name.into(), data_type)
    }

    /// The elements of a list, set or vector; the values of a map.
    pub fn value_of(&self, element: &DataType) -> Receiver {
        self.part(format!("value({})", self.name), element)
    }

    /// The keys of a map.
    pub fn key_of(&self, key: &DataType) -> Receiver {
        self.part(format!("key({})", self.name), key)
    }

    /// The index of a list.
    pub fn index_of(&self) -> Receiver {
        self.part(format!("idx({})", self.name), &DataType::Int)
    }

    /// The right side of `IN ?`.
    pub fn in_list(&self) -> Receiver {
        let list = DataType::List { element: Arc::new(self.data_type.clone()), frozen: false };
        self.part(format!("in({})", self.name), &list)
    }
}

/// The markers of a statement, filled in as its terms are prepared (`VariableSpecifications`).
#[derive(Debug)]
pub struct Markers {
    names: Vec<Option<Arc<str>>>,
    specs: Vec<Option<ColumnSpec>>,
    /// Position in the partition key, for markers that give a whole key column.
    key_positions: Vec<Option<u16>>,
    is_empty: bool,
}

impl Markers {
    /// For a statement with these markers, in the order of the text.
    pub fn new(names: Vec<Option<Arc<str>>>) -> Markers {
        let count = names.len();
        Markers { names, specs: vec![None; count], key_positions: vec![None; count], is_empty: true }
    }

    /// Whether no term has brought one yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// Says what a marker is for. `table` is the receiver's.
    pub fn add(&mut self, marker: &Marker, receiver: &Receiver, table: Option<&Table>) {
        self.is_empty = false;
        let index = usize::from(marker.index);
        let given = self.names.get(index).cloned().flatten();
        let spec = ColumnSpec {
            keyspace: receiver.keyspace.clone(),
            table: receiver.table.clone(),
            name: given.unwrap_or_else(|| receiver.name.clone()),
            data_type: receiver.data_type.clone(),
        };
        let column = receiver.column.and_then(|column| table?.columns.get(column));
        let position = column.filter(|c| c.kind == ColumnKind::PartitionKey).map(|c| c.position);
        if let Some(slot) = self.specs.get_mut(index) {
            *slot = Some(spec);
        }
        if let Some(slot) = self.key_positions.get_mut(index) {
            *slot = position.or(*slot);
        }
    }

    /// For each partition key column the marker that gives it; empty unless all are given.
    pub fn partition_key_indices(&self, key_columns: usize) -> Vec<u16> {
        let mut indices = vec![None; key_columns];
        for (marker, position) in self.key_positions.iter().enumerate() {
            let slot = position.and_then(|position| indices.get_mut(usize::from(position)));
            if let Some(slot) = slot {
                *slot = u16::try_from(marker).ok();
            }
        }
        indices.into_iter().collect::<Option<Vec<u16>>>().unwrap_or_default()
    }

    /// The markers' columns, once everything is prepared.
    pub fn into_specs(self) -> Vec<ColumnSpec> {
        let blank = |name: Option<Arc<str>>| ColumnSpec {
            keyspace: "".into(),
            table: "".into(),
            name: name.unwrap_or_default(),
            data_type: DataType::Blob,
        };
        self.specs
            .into_iter()
            .zip(self.names)
            .map(|(spec, name)| spec.unwrap_or_else(|| blank(name)))
            .collect()
    }
}
