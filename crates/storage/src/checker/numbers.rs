//! Random changes: few partitions, clusterings and times, so that everything meets everything.

use std::sync::Arc;

use basalt_model::mutation::RangeTombstone;
use basalt_model::{
    Bound, BoundKind, Cell, Clustering, ColumnId, DecoratedKey, Deletion, Liveness, PartitionUpdate, Row,
    Slice, Table,
};
use bytes::Bytes;

use super::{EPOCH_S, M, S, V, W};

/// Numbers that look random and are the same in every run (splitmix64).
pub struct Numbers {
    state: u64,
    /// Which write times and local times there are.
    pub times: Times,
}

/// How times are chosen.
#[derive(Clone, Copy, Debug)]
pub enum Times {
    /// Any, so that ties are usual; local times have nothing to do with write times.
    Any,
    /// Write times are seconds behind [`EPOCH_S`], local times follow from them.
    Real {
        /// Data is at least as young. Deletions may be older.
        oldest_data: i64,
        /// Nothing is younger.
        newest: i64,
    },
}

impl Numbers {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Numbers {
        Numbers { state: seed, times: Times::Any }
    }

    /// The next, from 0 up to `bound`, which is not among them.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    /// True so often.
    pub fn chance(&mut self, in_ten: u64) -> bool {
        self.below(10) < in_ten
    }

    fn int(&mut self) -> Bytes {
        Bytes::copy_from_slice(&(self.below(4) as i32 - 1).to_be_bytes())
    }

    fn text(&mut self) -> Bytes {
        Bytes::from_static([&b""[..], b"a", b"a\0", b"b"][self.below(4) as usize])
    }

    fn timestamp(&mut self) -> i64 {
        match self.times {
            Times::Any => self.below(12) as i64,
            Times::Real { oldest_data, newest } => {
                oldest_data + self.below((newest - oldest_data).max(0) as u64 + 1) as i64
            }
        }
    }

    fn deletion(&mut self) -> Deletion {
        match self.times {
            Times::Any => Deletion { timestamp: self.timestamp(), local_time_s: 990 + self.below(5) as i64 },
            Times::Real { newest, .. } => {
                let timestamp = self.below(newest as u64 + 1) as i64;
                Deletion { timestamp, local_time_s: EPOCH_S + timestamp }
            }
        }
    }

    /// When a cell of this write time was written or deleted, by the clock of who did it.
    fn local_time(&mut self, timestamp: i64) -> i64 {
        match self.times {
            Times::Any => 980 + self.below(20) as i64,
            Times::Real { .. } => EPOCH_S + timestamp,
        }
    }

    /// A partition.
    pub fn key(&mut self) -> DecoratedKey {
        DecoratedKey::new(Bytes::from(vec![self.below(3) as u8; 1 + self.below(2) as usize]))
    }

    /// A position in a partition.
    pub fn clustering(&mut self) -> Clustering {
        Clustering::from_values([self.int(), self.text()])
    }

    fn bound(&mut self, is_start: bool) -> Bound {
        let mut values = vec![self.int(), self.text()];
        values.truncate(self.below(3) as usize);
        let kind = match (is_start, self.chance(5)) {
            (true, true) => BoundKind::InclusiveStart,
            (true, false) => BoundKind::ExclusiveStart,
            (false, true) => BoundKind::InclusiveEnd,
            (false, false) => BoundKind::ExclusiveEnd,
        };
        Bound { kind, prefix: Clustering::from_values(values) }
    }

    /// Some positions.
    pub fn slice(&mut self) -> Slice {
        Slice { start: self.bound(true), end: self.bound(false) }
    }

    fn cell(&mut self, column: ColumnId, path: Option<Bytes>) -> Cell {
        let timestamp = self.timestamp();
        let value = if column == V || column == S { self.text() } else { self.int() };
        match self.below(6) {
            0 => Cell::tombstone(column, path, timestamp, self.local_time(timestamp)),
            1 => {
                let now_s = self.local_time(timestamp);
                Cell::expiring(column, path, timestamp, 10 + self.below(3) as i32, now_s, value)
            }
            _ => Cell::live(column, path, timestamp, value),
        }
    }

    fn row(&mut self) -> Row {
        let mut row = Row::new(self.clustering());
        if self.chance(5) {
            row.liveness = Liveness::at(self.timestamp());
            if self.chance(3) {
                row.liveness.ttl_s = 10;
                row.liveness.expires_at_s = self.local_time(row.liveness.timestamp) + 10;
            }
        }
        if self.chance(2) {
            row.deletion = self.deletion();
        }
        if self.chance(2) {
            row.complex_deletions.push((M, self.deletion()));
        }
        if self.chance(4) {
            row.cells.push(self.cell(V, None));
        }
        for path in [&b"x"[..], b"y"] {
            if self.chance(3) {
                row.cells.push(self.cell(M, Some(Bytes::from_static(path))));
            }
        }
        if self.chance(4) {
            row.cells.push(self.cell(W, None));
        }
        row
    }

    /// A change of one partition. Without range tombstones a partition's rows can be looked up.
    pub fn update(&mut self, table: &Arc<Table>, has_ranges: bool) -> PartitionUpdate {
        let key = self.key();
        let mut update = PartitionUpdate::new(table.clone(), key);
        match self.below(10) {
            0 => update.deletion = self.deletion(),
            1 | 2 if has_ranges => {
                for _ in 0..1 + self.below(2) {
                    let tombstone = RangeTombstone { slice: self.slice(), deletion: self.deletion() };
                    update.range_tombstones.push(tombstone);
                }
            }
            3 => {
                let mut row = Row::new(Clustering::empty());
                row.cells.push(self.cell(S, None));
                update.static_row = Some(row);
            }
            _ => {
                let rows =
                    (0..1 + self.below(2)).map(|_| self.row()).map(|row| (row.clustering.clone(), row));
                let rows: Vec<(Clustering, Row)> = rows.collect();
                for (clustering, mut row) in rows {
                    row.cells.retain(|cell| table.column_by_id(cell.column).is_some());
                    row.complex_deletions.retain(|(id, _)| table.column_by_id(*id).is_some());
                    if update.rows.iter().all(|other: &Row| other.clustering != clustering) {
                        update.rows.push(row);
                    }
                }
                update.rows.sort_by(|a, b| table.compare_clusterings(&a.clustering, &b.clustering));
            }
        }
        update
    }
}
