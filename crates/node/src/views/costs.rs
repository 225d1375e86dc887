//! What reads and writes of each table cost: `local_read_latency` and the like, `rows_per_read`, `tombstones_per_read`
//! (`db/virtual/TableMetricTables`).

use basalt_model::{Schema, TableId};
use basalt_query::system_tables::{ViewRow, ViewValue};

use crate::table_metrics::{Counted, Snapshot, TableMetrics, Timed, Times};

/// The rows of a table of this kind, one for each stored table; of other tables none.
pub fn rows(view: &str, metrics: &TableMetrics, schema: &Schema) -> Vec<ViewRow> {
    let timed = match view {
        "local_read_latency" => Some(Timed::LocalRead),
        "local_scan_latency" => Some(Timed::LocalScan),
        "local_write_latency" => Some(Timed::LocalWrite),
        "coordinator_read_latency" => Some(Timed::CoordinatorRead),
        "coordinator_scan_latency" => Some(Timed::CoordinatorScan),
        "coordinator_write_latency" => Some(Timed::CoordinatorWrite),
        _ => None,
    };
    let counted = match view {
        "tombstones_per_read" => Some(Counted::Tombstones),
        "rows_per_read" => Some(Counted::Rows),
        _ => None,
    };
    let of_table = |id: TableId| match (timed, counted) {
        (Some(timed), _) => Some(times(&metrics.times(id, timed))),
        (None, Some(counted)) => Some(counts(&metrics.counts(id, counted))),
        (None, None) => None,
    };
    let row = |table: &std::sync::Arc<basalt_model::Table>| {
        let mut row: ViewRow =
            vec![("keyspace_name", (*table.keyspace).into()), ("table_name", (*table.name).into())];
        row.extend(of_table(table.id)?);
        Some(row)
    };
    schema.tables_by_id.values().filter(|table| !table.is_virtual).filter_map(row).collect()
}

/// To three digits behind the point, as Cassandra shows them.
fn rounded(value: f64) -> ViewValue {
    ViewValue::Double((value * 1_000.0).round() / 1_000.0)
}

fn count(snapshot: &Snapshot) -> ViewValue {
    ViewValue::BigInt(i64::try_from(snapshot.count).unwrap_or(i64::MAX))
}

fn times(times: &Times) -> ViewRow {
    let snapshot = &times.snapshot;
    let millis = |value| if snapshot.count == 0 { rounded(0.0) } else { rounded(Times::millis(value)) };
    vec![
        ("count", count(snapshot)),
        ("p50th_ms", millis(snapshot.quantile(0.5))),
        ("p99th_ms", millis(snapshot.quantile(0.99))),
        ("max_ms", millis(snapshot.max())),
        ("per_second", rounded(times.per_second)),
    ]
}

fn counts(snapshot: &Snapshot) -> ViewRow {
    vec![
        ("count", count(snapshot)),
        ("p50th", rounded(snapshot.quantile(0.5) as f64)),
        ("p99th", rounded(snapshot.quantile(0.99) as f64)),
        ("max", rounded(snapshot.max() as f64)),
    ]
}
