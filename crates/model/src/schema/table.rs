//! A table and its columns.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::mask::ColumnMask;
use super::options::TableOptions;
use crate::clustering::{Bound, Clustering};
use crate::types::DataType;

/// A table's id, for life (`schema/TableId`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub Uuid);

/// A column's id: belongs to (table, column name, kind) for life, so that stored bytes are never
/// read as another column's. Kept in the catalogue, not in `system_schema`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(pub u32);

/// What a column is for (`ColumnMetadata.Kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnKind {
    /// Part of the partition key.
    PartitionKey,
    /// Part of the clustering.
    Clustering,
    /// One value a partition.
    Static,
    /// One value a row.
    Regular,
}

/// The direction of a clustering column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ClusteringOrder {
    /// Smallest first.
    #[default]
    Asc,
    /// Largest first: the type is reversed (`ReversedType`).
    Desc,
}

/// A column (`schema/ColumnMetadata`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, as written after case folding.
    pub name: Arc<str>,
    /// The type of its values; a descending clustering column has the plain type here.
    pub data_type: DataType,
    /// What it is for.
    pub kind: ColumnKind,
    /// Its place among the key columns of its kind; 0 for static and regular ones.
    pub position: u16,
    /// Its direction, if a clustering column.
    pub order: ClusteringOrder,
    /// How stored cells name it.
    pub id: ColumnId,
    /// What stands in for its values.
    pub mask: Option<Arc<ColumnMask>>,
}

/// A column that was dropped (`schema/DroppedColumn`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedColumn {
    /// The column as it was, its type frozen of UDTs (`expandUserTypes`).
    pub column: Column,
    /// Cells up to this write time are gone, microseconds.
    pub dropped_time: i64,
}

/// How a table made `WITH COMPACT STORAGE` keeps its rows (`TableMetadata.CompactTableMetadata`): as
/// cells without a row of their own around them, so that a row is there while one of its cells is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compact {
    /// Without clustering columns: the columns of the definition are static; a clustering column
    /// and a regular one that nothing is written to are hidden behind them.
    Static,
    /// One clustering column, one cell a row.
    Simple,
    /// Several clustering columns, one cell a row; of the values of a row's clustering the last
    /// may be absent.
    Compound,
}

impl Compact {
    /// What the flags of `system_schema.tables` say; `None` for ordinary tables.
    pub fn of(flags: &[String]) -> Option<Compact> {
        let has = |name: &str| flags.iter().any(|flag| flag == name);
        match (has("dense"), has("compound")) {
            (false, true) => None,
            (false, false) => Some(Compact::Static),
            (true, false) => Some(Compact::Simple),
            (true, true) => Some(Compact::Compound),
        }
    }
}

/// A table (`schema/TableMetadata`).
#[derive(Clone, Debug)]
pub struct Table {
    /// Its id.
    pub id: TableId,
    /// Its keyspace.
    pub keyspace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Partition key columns in order, clustering columns in order, then static and regular
    /// columns each by name in byte order.
    pub columns: Vec<Column>,
    /// How many of `columns` are partition key.
    pub partition_key_count: usize,
    /// How many are clustering.
    pub clustering_count: usize,
    /// How many are static.
    pub static_count: usize,
    /// By name.
    pub dropped_columns: BTreeMap<Arc<str>, DroppedColumn>,
    /// `WITH` options.
    pub options: TableOptions,
    /// `flags` of `system_schema.tables`, e.g. `compound`.
    pub flags: Vec<String>,
    /// Made `WITH COMPACT STORAGE`; follows from `flags`.
    pub compact: Option<Compact>,
    /// Computed when read, by `system_views` and `system_virtual_schema`.
    pub is_virtual: bool,
}

impl Table {
    /// The partition key columns.
    pub fn partition_key(&self) -> &[Column] {
        &self.columns[..self.partition_key_count]
    }

    /// The clustering columns.
    pub fn clustering(&self) -> &[Column] {
        &self.columns[self.partition_key_count..][..self.clustering_count]
    }

    /// The static columns.
    pub fn statics(&self) -> &[Column] {
        &self.columns[self.partition_key_count + self.clustering_count..][..self.static_count]
    }

    /// The regular columns.
    pub fn regulars(&self) -> &[Column] {
        &self.columns[self.partition_key_count + self.clustering_count + self.static_count..]
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| &*column.name == name)
    }

    /// The column with that id.
    pub fn column_by_id(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Whether it has static columns.
    pub fn has_statics(&self) -> bool {
        self.static_count > 0
    }

    /// Whether it is a compact table without clustering columns (`isStaticCompactTable`).
    pub fn is_static_compact(&self) -> bool {
        self.compact == Some(Compact::Static)
    }

    /// The regular column of a compact table: there is exactly one (`compactValueColumn`).
    pub fn compact_value(&self) -> Option<&Column> {
        self.compact.and_then(|_| self.regulars().first())
    }

    /// Whether statements must not see the column (`isHiddenColumn`): storage needs it, the
    /// definition of a compact table did not name it.
    pub fn is_hidden(&self, column: &Column) -> bool {
        match self.compact {
            None => false,
            Some(Compact::Static) => matches!(column.kind, ColumnKind::Clustering | ColumnKind::Regular),
            Some(_) => column.kind == ColumnKind::Regular && column.data_type == DataType::Empty,
        }
    }

    /// Whether it is a counter table, though all its counters may have been dropped.
    pub fn is_counter(&self) -> bool {
        self.flags.iter().any(|flag| flag == "counter")
    }

    /// Orders two rows' clusterings (`db/ClusteringComparator`), directions applied.
    pub fn compare_clusterings(&self, left: &Clustering, right: &Clustering) -> Ordering {
        self.compare_prefixes(left, right).then_with(|| left.len().cmp(&right.len()))
    }

    /// Orders a bound against a clustering: never equal, a bound lies between rows.
    pub fn compare_bound(&self, bound: &Bound, clustering: &Clustering) -> Ordering {
        self.compare_prefixes(&bound.prefix, clustering).then(if bound.kind.is_after_prefix() {
            Ordering::Greater
        } else {
            Ordering::Less
        })
    }

    /// Orders two bounds.
    pub fn compare_bounds(&self, left: &Bound, right: &Bound) -> Ordering {
        let side = |bound: &Bound| if bound.kind.is_after_prefix() { 1i8 } else { -1 };
        let by_prefix = self.compare_prefixes(&left.prefix, &right.prefix);
        by_prefix.then_with(|| match left.prefix.len().cmp(&right.prefix.len()) {
            // The shorter prefix encloses the longer one: its side decides.
            Ordering::Less => side(left).cmp(&0),
            Ordering::Greater => 0.cmp(&side(right)),
            Ordering::Equal => side(left).cmp(&side(right)),
        })
    }

    /// Compares as many components as both have.
    fn compare_prefixes(&self, left: &Clustering, right: &Clustering) -> Ordering {
        for ((column, a), b) in self.clustering().iter().zip(&left.0).zip(&right.0) {
            let order = match (a, b) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(a), Some(b)) => match column.order {
                    ClusteringOrder::Asc => column.data_type.compare(a, b),
                    ClusteringOrder::Desc => column.data_type.compare(b, a),
                },
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}
