//! A row as Cassandra keeps it: liveness, deletion, and cells that carry everything merging needs.
//!
//! How two versions of a row merge is the storage crate's matter.

use bytes::Bytes;
use smallvec::SmallVec;

use crate::clustering::Clustering;
use crate::deletion::{Deletion, Liveness, NO_DELETION_TIME, NO_TTL};
use crate::schema::ColumnId;

/// One cell (`db/rows/Cell`): a value of a simple column, or one element of a multi-cell column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Which column.
    pub column: ColumnId,
    /// Which element of a multi-cell column: the set element or map key (serialized), the list
    /// cell's timeuuid (16 bytes), the field's index of a UDT (2 bytes, big-endian). `None` in
    /// simple columns.
    pub path: Option<Bytes>,
    /// Write time, microseconds.
    pub timestamp: i64,
    /// Seconds to live as the client said; [`NO_TTL`] for ever.
    pub ttl_s: i32,
    /// Expiring cell: when it expires. Tombstone: when this node learnt of it. Else
    /// [`NO_DELETION_TIME`]. Seconds since 1970.
    pub local_deletion_time_s: i64,
    /// The serialized value; empty in tombstones and set elements.
    pub value: Bytes,
}

impl Cell {
    /// A cell that lives for ever.
    pub fn live(column: ColumnId, path: Option<Bytes>, timestamp: i64, value: Bytes) -> Cell {
        Cell { column, path, timestamp, ttl_s: NO_TTL, local_deletion_time_s: NO_DELETION_TIME, value }
    }

    /// A cell that expires `ttl_s` after `now_s`.
    pub fn expiring(
        column: ColumnId,
        path: Option<Bytes>,
        timestamp: i64,
        ttl_s: i32,
        now_s: i64,
        value: Bytes,
    ) -> Cell {
        Cell { column, path, timestamp, ttl_s, local_deletion_time_s: now_s + i64::from(ttl_s), value }
    }

    /// A cell tombstone.
    pub fn tombstone(column: ColumnId, path: Option<Bytes>, timestamp: i64, now_s: i64) -> Cell {
        Cell { column, path, timestamp, ttl_s: NO_TTL, local_deletion_time_s: now_s, value: Bytes::new() }
    }

    /// Has a TTL (expired or not).
    pub fn is_expiring(&self) -> bool {
        self.ttl_s != NO_TTL
    }

    /// Deleted by a client (not merely expired).
    pub fn is_tombstone(&self) -> bool {
        self.ttl_s == NO_TTL && self.local_deletion_time_s != NO_DELETION_TIME
    }

    /// Visible at `now_s`, before any covering deletion is looked at.
    pub fn is_live(&self, now_s: i64) -> bool {
        self.local_deletion_time_s == NO_DELETION_TIME
            || (self.is_expiring() && now_s < self.local_deletion_time_s)
    }
}

/// One row of a partition, or its static row (`db/rows/Row`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where in the partition; empty for the static row.
    pub clustering: Clustering,
    /// Whether the row exists beside its cells.
    pub liveness: Liveness,
    /// The row's own deletion, kept beside cells newer than it.
    pub deletion: Deletion,
    /// Deletions of whole multi-cell columns (a collection overwritten), ascending by column.
    pub complex_deletions: SmallVec<[(ColumnId, Deletion); 1]>,
    /// Cells ascending by column, and by path order of the column's type within a column.
    pub cells: Vec<Cell>,
}

impl Row {
    /// A row with nothing in it.
    pub fn new(clustering: Clustering) -> Row {
        Row {
            clustering,
            liveness: Liveness::NONE,
            deletion: Deletion::LIVE,
            complex_deletions: SmallVec::new(),
            cells: Vec::new(),
        }
    }

    /// Nothing at all: no liveness, deletion or cell.
    pub fn is_empty(&self) -> bool {
        self.liveness.is_none()
            && self.deletion.is_live()
            && self.complex_deletions.is_empty()
            && self.cells.is_empty()
    }

    /// The cells of one column: one for a simple column, any number for a multi-cell one.
    pub fn cells_of(&self, column: ColumnId) -> &[Cell] {
        let start = self.cells.partition_point(|c| c.column < column);
        let end = self.cells.partition_point(|c| c.column <= column);
        self.cells.get(start..end).unwrap_or_default()
    }

    /// The cell of a simple column.
    pub fn cell(&self, column: ColumnId) -> Option<&Cell> {
        self.cells_of(column).first()
    }

    /// Whether the row shows at `now_s`: live by itself or through a live cell. Covering
    /// deletions must have been applied already.
    pub fn is_live(&self, now_s: i64) -> bool {
        self.liveness.is_live(now_s) || self.cells.iter().any(|c| c.is_live(now_s))
    }
}
