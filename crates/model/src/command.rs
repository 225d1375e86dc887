//! Reads as replicas are asked for them: what, from where, filtered how, how much; and what comes back.
//!
//! A command is data: restrictions of a CQL statement already turned into keys, bounds and
//! expressions. Executing it is the storage crate's matter.

use std::sync::Arc;

use bytes::Bytes;

use crate::clustering::{Clustering, Slice};
use crate::key::DecoratedKey;
use crate::packed::{Layout, PackedRows};
use crate::row::Row;
use crate::schema::{ColumnId, Table};
use crate::token::Token;
use crate::types::DataType;

/// A read of one partition or of a range of partitions (`db/ReadCommand`).
#[derive(Clone, Debug)]
pub struct ReadCommand {
    /// The table, as it was when the statement was planned.
    pub table: Arc<Table>,
    /// The moment expiry is judged at, seconds since 1970.
    pub now_s: i64,
    /// The columns whose cells come back.
    pub columns: ColumnFilter,
    /// Conditions a row must meet beyond its place (`ALLOW FILTERING`).
    pub row_filter: RowFilter,
    /// Where to stop.
    pub limits: DataLimits,
    /// Which partitions and rows.
    pub target: ReadTarget,
    /// Rows may come packed like this; whoever asks takes them as they are otherwise, too. Not with a row filter.
    pub layout: Option<Arc<Layout>>,
}

/// Which static and regular columns are fetched (`db/filter/ColumnFilter`). Key columns always are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFilter {
    /// Every column.
    All,
    /// Some. Rows still exist by their liveness or by cells that do not come back, unless these are superfluous.
    Some(Arc<SelectedColumns>),
    /// These alone, ascending by id: rows exist by their liveness or by cells of these (`ONLY_QUERIED_COLUMNS`, what
    /// writes that read ask for).
    Only(Vec<ColumnId>),
}

impl ColumnFilter {
    /// Whether the column's cells come back.
    pub fn includes(&self, column: ColumnId) -> bool {
        match self {
            ColumnFilter::All => true,
            ColumnFilter::Some(selected) => selected.fetched.binary_search(&column).is_ok(),
            ColumnFilter::Only(ids) => ids.binary_search(&column).is_ok(),
        }
    }

    /// These, ascending by id, which are asked for as well.
    pub fn some(fetched: Vec<ColumnId>) -> ColumnFilter {
        let queried = Some(fetched.clone());
        ColumnFilter::Some(Arc::new(SelectedColumns { fetched, queried, parts: Vec::new() }))
    }
}

/// The columns of a statement that does not ask for all (`ColumnFilter.SelectionColumnFilter`).
///
/// A cell that is not asked for and is older than its row's insertion lets no row exist, even when the insertion has
/// expired: it is not there (`BTreeRow.filter`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedColumns {
    /// Columns whose cells come back, ascending by id.
    pub fetched: Vec<ColumnId>,
    /// Columns that the statement asks for, ascending by id; `None`: all, as those do that name key columns alone.
    pub queried: Option<Vec<ColumnId>>,
    /// Of which of these only some elements are asked for, and which.
    pub parts: Vec<ColumnPart>,
}

impl SelectedColumns {
    /// Whether the column is asked for, if only in part.
    pub fn queries(&self, column: ColumnId) -> bool {
        self.queried.as_ref().is_none_or(|ids| ids.binary_search(&column).is_ok())
    }

    /// Whether only elements of the column are asked for.
    pub fn is_in_part(&self, column: ColumnId) -> bool {
        self.parts.iter().any(|part| part.column == column)
    }

    /// Whether a cell of a column that is asked for in part is asked for; `path_type` orders the paths.
    pub fn queries_path(&self, column: ColumnId, path_type: &DataType, path: &[u8]) -> bool {
        let mut parts = self.parts.iter().filter(|part| part.column == column);
        parts.any(|part| {
            part.from.as_ref().is_none_or(|from| path_type.compare(from, path).is_le())
                && part.to.as_ref().is_none_or(|to| path_type.compare(path, to).is_le())
        })
    }
}

/// An element or a slice of a multi-cell column (`db/filter/ColumnSubselection`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPart {
    /// The column.
    pub column: ColumnId,
    /// Its first path, included.
    pub from: Option<Bytes>,
    /// Its last path, included.
    pub to: Option<Bytes>,
}

/// Which partitions, and which rows of them.
#[derive(Clone, Debug)]
pub enum ReadTarget {
    /// One partition (`SinglePartitionReadCommand`).
    Partition {
        /// Its key.
        key: DecoratedKey,
        /// Rows of it.
        filter: ClusteringFilter,
    },
    /// A range of the ring (`PartitionRangeReadCommand`).
    Range {
        /// Partitions.
        range: KeyRange,
        /// Rows of each.
        filter: ClusteringFilter,
    },
}

impl ReadTarget {
    /// Which rows of each partition.
    pub fn filter(&self) -> &ClusteringFilter {
        match self {
            ReadTarget::Partition { filter, .. } | ReadTarget::Range { filter, .. } => filter,
        }
    }
}

/// Which rows of a partition (`db/filter/ClusteringIndexFilter`).
#[derive(Clone, Debug)]
pub struct ClusteringFilter {
    /// Rows by name or by slice.
    pub rows: RowSelection,
    /// Read from the largest clustering down.
    pub reversed: bool,
    /// Continue behind this clustering (in reading direction): where the last page stopped. In a
    /// range read it concerns only the first partition.
    pub resume_after: Option<Clustering>,
}

impl ClusteringFilter {
    /// All rows, forward.
    pub fn all() -> ClusteringFilter {
        ClusteringFilter {
            rows: RowSelection::Slices(vec![Slice::all()]),
            reversed: false,
            resume_after: None,
        }
    }
}

/// Rows by name or by slice; always in clustering order, whatever the reading direction.
#[derive(Clone, Debug)]
pub enum RowSelection {
    /// Exactly these rows, ascending, distinct. Empty: only the static row.
    Names(Vec<Clustering>),
    /// Rows in these slices, ascending, disjoint. Empty: only the static row.
    Slices(Vec<Slice>),
}

/// A bound between partitions (`db/PartitionPosition`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyBound {
    /// Nothing bounds this side.
    Unbounded,
    /// All keys of this token and beyond are in.
    Token {
        /// The token.
        token: Token,
        /// Whether keys with exactly this token are in.
        inclusive: bool,
    },
    /// From or to a key.
    Key {
        /// The key.
        key: DecoratedKey,
        /// Whether the key itself is in.
        inclusive: bool,
    },
}

/// A range of partitions in ring order; never wraps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Where it starts.
    pub start: KeyBound,
    /// Where it ends.
    pub end: KeyBound,
}

impl KeyRange {
    /// The whole ring.
    pub fn all() -> KeyRange {
        KeyRange { start: KeyBound::Unbounded, end: KeyBound::Unbounded }
    }
}

/// How much to return (`db/filter/DataLimits`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLimits {
    /// Live rows in all; a partition with only a static row counts as one.
    pub rows: u32,
    /// Live rows of each partition.
    pub rows_per_partition: u32,
    /// How many rows of the first partition earlier pages returned: they count against
    /// `rows_per_partition`, and its static row alone is not returned again.
    pub returned_of_first_partition: u32,
    /// One row a partition will do (`SELECT DISTINCT`): only keys and statics are read.
    pub distinct: bool,
    /// A partition of which none of the rows asked for is there comes for its static row all the same (writes that
    /// read, conditions).
    pub keeps_static: bool,
}

impl DataLimits {
    /// No limit.
    pub const NONE: DataLimits = DataLimits {
        rows: u32::MAX,
        rows_per_partition: u32::MAX,
        returned_of_first_partition: 0,
        distinct: false,
        keeps_static: false,
    };
}

/// Conditions all of which a row must meet (`db/filter/RowFilter`).
#[derive(Clone, Debug, Default)]
pub struct RowFilter(pub Vec<Expression>);

/// One condition on one column, key columns included.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Index of the column in `Table::columns`.
    pub column: usize,
    /// How it is compared.
    pub operator: Operator,
    /// With what: a serialized value of the column's type, or of its element or key type for
    /// `Contains` and `ContainsKey`.
    pub value: Bytes,
    /// `column[key] = value`: the serialized map key.
    pub map_key: Option<Bytes>,
    /// `column IN (...)`: the serialized values; `value` is empty then.
    pub values: Vec<Bytes>,
}

/// Comparison of a filter (`cql3/Operator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`.
    Eq,
    /// `!=`.
    Neq,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
    /// `IN`.
    In,
    /// `NOT IN`.
    NotIn,
    /// `CONTAINS`.
    Contains,
    /// `NOT CONTAINS`.
    NotContains,
    /// `CONTAINS KEY`.
    ContainsKey,
    /// `NOT CONTAINS KEY`.
    NotContainsKey,
}

/// What a read returned: live data only, limits applied, deletions and expired cells gone.
#[derive(Clone, Debug, Default)]
pub struct ReadPage {
    /// Partitions that have something to show, in order.
    pub partitions: Vec<PartitionRows>,
    /// Whether the read stopped at a limit (of rows or of bytes) rather than at the end of its target.
    pub stopped_early: bool,
    /// There if the read met more tombstones than `tombstone_warn_threshold`.
    pub tombstones: Option<Box<TombstoneReport>>,
}

/// What a read met that was costly for its tombstones.
#[derive(Clone, Debug)]
pub struct TombstoneReport {
    /// What was read.
    pub command: ReadCommand,
    /// Tombstones met.
    pub tombstones: u32,
    /// Live rows met, static ones too, before the row filter.
    pub live_rows: u32,
    /// The token of the last partition met.
    pub last_token: Option<Token>,
}

/// The live rows of one partition.
#[derive(Clone, Debug)]
pub struct PartitionRows {
    /// Its key.
    pub key: DecoratedKey,
    /// Its static row, if it shows anything.
    pub static_row: Option<Row>,
    /// Its rows, in reading direction.
    pub rows: Vec<Row>,
    /// Its rows instead, if they come packed.
    pub packed: Option<PackedRows>,
}

impl PartitionRows {
    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.packed.as_ref().map_or(self.rows.len(), |packed| packed.count as usize)
    }

    /// The clustering of the last row.
    pub fn last_clustering(&self) -> Option<&Clustering> {
        match &self.packed {
            Some(packed) => (packed.count > 0).then_some(&packed.last),
            None => self.rows.last().map(|row| &row.clustering),
        }
    }
}
