//! One row read without a command, for tests of merging.

use basalt_model::{Clustering, DecoratedKey, Deletion, Row, Table};

use super::partition::PartitionWalk;
use super::projection::Projection;
use super::ranges::ranges;
use super::stored_row::{Dead, StoredRow};
pub use super::tombstones::TombstoneWalk;
use crate::engine::{CursorOptions, ReadTier, Reads};
use crate::keys::append_partition;
use basalt_model::command::{ClusteringFilter, RowSelection};

fn stored(
    reads: &dyn Reads,
    table: &Table,
    key: &DecoratedKey,
    clustering: &Clustering,
) -> Option<StoredRow> {
    let mut partition = Vec::new();
    append_partition(key, &mut partition);
    let options = CursorOptions { tier: ReadTier::All, lower: &partition, upper: None, fills_cache: true };
    let mut cursor = reads.cursor(table.id, options).unwrap();
    let is_at = cursor.seek(&partition).unwrap();
    let mut walk = PartitionWalk::new(table, &mut *cursor, partition, is_at, true);
    let rows = RowSelection::Names(vec![clustering.clone()]);
    let filter = ClusteringFilter { rows, ..ClusteringFilter::all() };
    let range = ranges(table, &filter, false).unwrap().remove(0);
    walk.start(&range, false).unwrap();
    let mut row = StoredRow::default();
    walk.next_row(&range, &mut row).unwrap().then_some(row)
}

/// A row as it is stored, under a covering deletion.
pub fn whole_row(
    reads: &dyn Reads,
    table: &Table,
    key: &DecoratedKey,
    clustering: &Clustering,
    covering: Deletion,
) -> Option<Row> {
    let projection = Projection::everything(table, table.regulars());
    stored(reads, table, key, clustering)?.whole(table.id, covering, &projection).unwrap()
}

/// A row as a client sees it.
pub fn live_row(
    reads: &dyn Reads,
    table: &Table,
    key: &DecoratedKey,
    clustering: &Clustering,
    now_s: i64,
) -> Option<Row> {
    let projection = Projection::everything(table, table.regulars());
    let row = stored(reads, table, key, clustering)?;
    row.live(table.id, Deletion::LIVE, now_s, &projection, &mut Dead::default()).unwrap()
}
