//! Positions inside a partition: a row's [`Clustering`], a [`Bound`] between rows, a [`Slice`].
//!
//! Values are the serialized bytes of their column's type. Their order needs the table
//! (types and directions) and lives in [`crate::schema::Table::compare_clusterings`].

use bytes::Bytes;
use smallvec::SmallVec;

/// The values of a row's clustering columns, in table order. A value is absent only in old
/// compact tables; an empty value is present and empty. The static row and rows of tables
/// without clustering columns have no values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Clustering(pub SmallVec<[Option<Bytes>; 2]>);

impl Clustering {
    /// The clustering of a table without clustering columns.
    pub fn empty() -> Clustering {
        Clustering::default()
    }

    /// From present values.
    pub fn from_values(values: impl IntoIterator<Item = Bytes>) -> Clustering {
        Clustering(values.into_iter().map(Some).collect())
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No component.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// On which side of its prefix a bound lies, and what it is (`ClusteringPrefix.Kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundKind {
    /// Start, before all rows with the prefix.
    InclusiveStart,
    /// Start, after all rows with the prefix.
    ExclusiveStart,
    /// End, after all rows with the prefix.
    InclusiveEnd,
    /// End, before all rows with the prefix.
    ExclusiveEnd,
}

impl BoundKind {
    /// Whether the bound lies after all rows that have its prefix.
    pub fn is_after_prefix(self) -> bool {
        matches!(self, BoundKind::ExclusiveStart | BoundKind::InclusiveEnd)
    }

    /// Whether it starts a slice.
    pub fn is_start(self) -> bool {
        matches!(self, BoundKind::InclusiveStart | BoundKind::ExclusiveStart)
    }
}

/// A position between rows: before or after everything that begins with `prefix`. An empty
/// prefix is the start or end of the partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// Start or end, inclusive or exclusive.
    pub kind: BoundKind,
    /// The first values of a clustering; possibly fewer than the table has columns.
    pub prefix: Clustering,
}

impl Bound {
    /// The start of the partition's rows.
    pub fn bottom() -> Bound {
        Bound { kind: BoundKind::InclusiveStart, prefix: Clustering::empty() }
    }

    /// The end of the partition's rows.
    pub fn top() -> Bound {
        Bound { kind: BoundKind::InclusiveEnd, prefix: Clustering::empty() }
    }
}

/// The rows between two bounds, in clustering order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Where it starts; `kind.is_start()`.
    pub start: Bound,
    /// Where it ends; not `kind.is_start()`.
    pub end: Bound,
}

impl Slice {
    /// The whole partition.
    pub fn all() -> Slice {
        Slice { start: Bound::bottom(), end: Bound::top() }
    }

    /// Exactly the rows that begin with `prefix`.
    pub fn of_prefix(prefix: Clustering) -> Slice {
        Slice {
            start: Bound { kind: BoundKind::InclusiveStart, prefix: prefix.clone() },
            end: Bound { kind: BoundKind::InclusiveEnd, prefix },
        }
    }
}
