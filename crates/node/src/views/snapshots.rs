//! `system_views.snapshots` (`db/virtual/SnapshotsTable`).

use basalt_query::system_tables::{ViewRow, ViewValue};

use crate::snapshots::{Listed, Snapshots};

pub fn rows(snapshots: &Snapshots) -> Vec<ViewRow> {
    snapshots.known().into_iter().map(row).collect()
}

fn row(listed: Listed) -> ViewRow {
    let bytes = |bytes: u64| ViewValue::BigInt(i64::try_from(bytes).unwrap_or(i64::MAX));
    let mut row: ViewRow = vec![
        ("created_at", ViewValue::Timestamp(listed.created_ms())),
        ("ephemeral", ViewValue::Boolean(listed.manifest.ephemeral)),
        ("size_on_disk", bytes(listed.size_bytes)),
        ("true_size", bytes(listed.true_size_bytes)),
    ];
    row.extend(listed.expires_ms().map(|ms| ("expires_at", ViewValue::Timestamp(ms))));
    row.push(("name", listed.tag.into()));
    row.push(("keyspace_name", listed.manifest.keyspace.into()));
    row.push(("table_name", listed.manifest.table.into()));
    row
}
