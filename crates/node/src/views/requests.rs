//! `system_views.request_latency` (ours).

use std::sync::Arc;

use basalt_query::system_tables::{ViewRow, ViewValue};
use hdrhistogram::Histogram;

use crate::metrics::{Recorder, summarize};

/// Every kind of request by both clocks, whether there was one or not.
pub fn rows(recorders: &[Arc<Recorder>]) -> Vec<ViewRow> {
    let both = |summary: crate::metrics::Summary| {
        let kind = summary.kind.name();
        [row(kind, "response", &summary.response_us), row(kind, "service", &summary.service_us)]
    };
    summarize(recorders).into_iter().flat_map(both).collect()
}

fn row(kind: &str, clock: &str, micros: &Histogram<u64>) -> ViewRow {
    let millis = |micros: u64| ViewValue::Double(micros as f64 / 1e3);
    vec![
        ("kind", kind.into()),
        ("clock", clock.into()),
        ("count", ViewValue::BigInt(i64::try_from(micros.len()).unwrap_or(i64::MAX))),
        ("p50th_ms", millis(micros.value_at_quantile(0.5))),
        ("p99th_ms", millis(micros.value_at_quantile(0.99))),
        ("p999th_ms", millis(micros.value_at_quantile(0.999))),
        ("max_ms", millis(micros.max())),
    ]
}
