//! What a partition shows, worked out from all updates it ever got. Nothing is ever forgotten here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use basalt_model::{Cell, Clustering, ColumnId, Deletion, Liveness, PartitionUpdate, Row, Slice, Table};
use bytes::Bytes;

/// Which of two cells stays, spelled out as the rules are told.
fn stays<'a>(a: &'a Cell, b: &'a Cell) -> &'a Cell {
    if a.timestamp != b.timestamp {
        return if a.timestamp > b.timestamp { a } else { b };
    }
    let ends = |c: &Cell| c.local_deletion_time_s != i64::MAX;
    if ends(a) != ends(b) {
        return if ends(a) { a } else { b };
    }
    if a.is_tombstone() != b.is_tombstone() {
        return if a.is_tombstone() { a } else { b };
    }
    if a.local_deletion_time_s != b.local_deletion_time_s {
        return if a.local_deletion_time_s > b.local_deletion_time_s { a } else { b };
    }
    if a.ttl_s != b.ttl_s {
        return if a.ttl_s < b.ttl_s { a } else { b };
    }
    if a.value >= b.value { a } else { b }
}

/// Whether a slice holds a clustering.
pub fn covers(table: &Table, slice: &Slice, clustering: &Clustering) -> bool {
    table.compare_bound(&slice.start, clustering) == Ordering::Less
        && table.compare_bound(&slice.end, clustering) == Ordering::Greater
}

/// The live static row and rows of a partition at `now_s`, in order.
pub fn expected_rows(table: &Table, updates: &[&PartitionUpdate], now_s: i64) -> (Option<Row>, Vec<Row>) {
    let mut clusterings: Vec<&Clustering> =
        updates.iter().flat_map(|u| &u.rows).map(|r| &r.clustering).collect();
    clusterings.sort_by(|a, b| table.compare_clusterings(a, b));
    clusterings.dedup();
    let strongest =
        |deletions: Vec<Deletion>| deletions.into_iter().map(|d| d.timestamp).max().unwrap_or(i64::MIN);
    let of_partition = strongest(updates.iter().map(|u| u.deletion).collect());

    let live = |clustering: &Clustering, versions: Vec<&Row>, covering: i64| {
        let deletion = covering.max(strongest(versions.iter().map(|v| v.deletion).collect()));
        let mut row = Row::new(clustering.clone());
        let mut cells: BTreeMap<(ColumnId, Option<Bytes>), &Cell> = BTreeMap::new();
        for version in &versions {
            let (new, old) = (version.liveness, row.liveness);
            let rank = |l: Liveness| (l.timestamp, l.is_expiring(), l.expires_at_s, -l.ttl_s);
            if rank(new) > rank(old) {
                row.liveness = new;
            }
            for cell in &version.cells {
                let place = (cell.column, cell.path.clone());
                let winner = cells.get(&place).map_or(cell, |other| stays(other, cell));
                cells.insert(place, winner);
            }
        }
        if row.liveness.timestamp <= deletion || !row.liveness.is_live(now_s) {
            row.liveness = Liveness::NONE;
        }
        for ((column, _), cell) in cells {
            let complex = versions.iter().flat_map(|v| &v.complex_deletions).filter(|(id, _)| *id == column);
            let deletion = deletion.max(strongest(complex.map(|(_, d)| *d).collect()));
            if cell.timestamp > deletion && cell.is_live(now_s) {
                row.cells.push(cell.clone());
            }
        }
        row.is_live(now_s).then_some(row)
    };

    let rows = clusterings
        .into_iter()
        .filter_map(|clustering| {
            let tombstones = updates.iter().flat_map(|u| &u.range_tombstones);
            let covering = tombstones.filter(|t| covers(table, &t.slice, clustering)).map(|t| t.deletion);
            let covering = of_partition.max(strongest(covering.collect()));
            let versions = updates.iter().flat_map(|u| &u.rows).filter(|r| r.clustering == *clustering);
            live(clustering, versions.collect(), covering)
        })
        .collect();
    let statics = updates.iter().filter_map(|u| u.static_row.as_ref()).collect();
    (live(&Clustering::empty(), statics, of_partition), rows)
}
