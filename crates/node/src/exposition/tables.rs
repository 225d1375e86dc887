//! Each table's times, rows and tombstones of reads, and what compaction owes it: what `system_views` shows of them, by the same
//! names. A table that nothing happened to is left out, and so is what several tables share, which would count several times.

use std::collections::HashMap;
use std::sync::Arc;

use basalt_model::{Schema, Table, TableId};
use basalt_storage::engine::Debt;

use super::text::{Family, Kind, Label, Page};
use crate::table_metrics::{Counted, Snapshot, TableMetrics, Timed, Times};

/// What is timed at one place.
struct At {
    name: &'static str,
    help: &'static str,
    read: Timed,
    scan: Timed,
    write: Timed,
}

const TIMED: [At; 2] = [
    At {
        name: "basalt_coordinator_latency_seconds",
        help: "What the coordinator waited for, errors and time-outs included. Quantiles are of the last minutes.",
        read: Timed::CoordinatorRead,
        scan: Timed::CoordinatorScan,
        write: Timed::CoordinatorWrite,
    },
    At {
        name: "basalt_local_latency_seconds",
        help: "The work of this node's own data, of what succeeded. Quantiles are of the last minutes.",
        read: Timed::LocalRead,
        scan: Timed::LocalScan,
        write: Timed::LocalWrite,
    },
];

/// What is counted for each read.
const COUNTED: [(&str, &str, Counted); 2] = [
    ("basalt_rows_per_read", "Rows that reads met. Quantiles are of the last minutes.", Counted::Rows),
    (
        "basalt_tombstones_per_read",
        "Tombstones that reads met. Quantiles are of the last minutes.",
        Counted::Tombstones,
    ),
];

/// What a table's files wait for.
struct Owed {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    of: fn(&Debt) -> u64,
}

const OWED: [Owed; 5] = [
    Owed {
        name: "basalt_table_compaction_pending_bytes",
        kind: Kind::Gauge,
        help: "What compaction has to rewrite until the table is in shape, estimated.",
        of: |debt| debt.pending_bytes,
    },
    Owed {
        name: "basalt_table_level0_files",
        kind: Kind::Gauge,
        help: "Files as flushes made them.",
        of: |debt| debt.level0_files,
    },
    Owed {
        name: "basalt_table_memtables_waiting",
        kind: Kind::Gauge,
        help: "Full memtables that wait for their flush.",
        of: |debt| debt.memtables,
    },
    Owed {
        name: "basalt_table_write_delays_total",
        kind: Kind::Counter,
        help: "How often the engine slowed writes because of this table.",
        of: |debt| debt.delays,
    },
    Owed {
        name: "basalt_table_write_stops_total",
        kind: Kind::Counter,
        help: "How often the engine stopped writes because of this table.",
        of: |debt| debt.stops,
    },
];

/// Quantiles shown. The last one is the largest value of the last minutes.
const QUANTILES: [(&str, f64); 4] = [("0.5", 0.5), ("0.99", 0.99), ("0.999", 0.999), ("1", 1.0)];

/// Writes what is known of the first `tables_max` tables by name, and how many more there are.
pub fn write(
    page: &mut Page,
    metrics: &TableMetrics,
    schema: &Schema,
    debts: &HashMap<TableId, Debt>,
    tables_max: usize,
) {
    let mut tables: Vec<&Arc<Table>> =
        schema.tables_by_id.values().filter(|table| !table.is_virtual && metrics.knows(table.id)).collect();
    tables.sort_unstable_by(|one, other| (&one.keyspace, &one.name).cmp(&(&other.keyspace, &other.name)));
    let left_out = tables.len().saturating_sub(tables_max);
    tables.truncate(tables_max);
    for at in TIMED {
        let mut family = page.family(at.name, Kind::Summary, at.help);
        for table in &tables {
            for (operation, timed) in [("read", at.read), ("scan", at.scan), ("write", at.write)] {
                let labels =
                    [("keyspace", &*table.keyspace), ("table", &*table.name), ("operation", operation)];
                let times = metrics.times(table.id, timed);
                summary(&mut family, &labels, &times.snapshot, |value| Times::millis(value) / 1e3);
            }
        }
    }
    for (name, help, counted) in COUNTED {
        let mut family = page.family(name, Kind::Summary, help);
        for table in &tables {
            let labels = [("keyspace", &*table.keyspace), ("table", &*table.name)];
            summary(&mut family, &labels, &metrics.counts(table.id, counted), |value| value as f64);
        }
    }
    for owed in &OWED {
        let mut family = page.family(owed.name, owed.kind, owed.help);
        for table in &tables {
            if let Some(debt) = debts.get(&table.id).filter(|debt| !debt.is_shared) {
                let labels = [("keyspace", &*table.keyspace), ("table", &*table.name)];
                family.sample(&labels, (owed.of)(debt) as f64);
            }
        }
    }
    page.gauge("basalt_tables_not_shown", "Tables that this page has no room for.", left_out as f64);
}

fn summary(family: &mut Family<'_>, labels: &[Label<'_>], snapshot: &Snapshot, value: impl Fn(u64) -> f64) {
    if snapshot.count == 0 {
        return;
    }
    for (name, part) in QUANTILES {
        family.quantile(labels, name, value(snapshot.quantile(part)));
    }
    family.count(labels, snapshot.count);
}

#[cfg(test)]
mod tests;
