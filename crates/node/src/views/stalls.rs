//! `system_views.write_stalls` (ours).

use basalt_query::system_tables::{ViewRow, ViewValue};
use basalt_storage::commit::{Cause, StallCounts, Stalls};

/// Every cause, whether anything waited for it or not.
pub fn rows(stalls: &Stalls) -> Vec<ViewRow> {
    Cause::ALL.into_iter().map(|cause| row(cause, stalls.of(cause))).collect()
}

fn row(cause: Cause, counts: StallCounts) -> ViewRow {
    let number = |count: u64| ViewValue::BigInt(i64::try_from(count).unwrap_or(i64::MAX));
    let millis = |nanos: u64| ViewValue::Double((nanos / 1_000) as f64 / 1_000.0);
    vec![
        ("cause", cause.name().into()),
        ("waited", number(counts.waited)),
        ("refused", number(counts.refused)),
        ("total_ms", millis(counts.nanos)),
        ("max_ms", millis(counts.longest_nanos)),
    ]
}
