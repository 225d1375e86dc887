//! `system_views.pending_compactions` (ours) and `system_views.sstable_tasks` (`db/virtual/SSTableTasksTable`).

use basalt_model::Schema;
use basalt_query::system_tables::{ViewRow, ViewValue};
use basalt_storage::engine::{Debt, Engine, Task};
use uuid::Uuid;

/// 100-nanosecond ticks from 1582-10-15 to 1970-01-01, where times of UUIDs begin.
const EPOCH_TICKS: u64 = 0x01B2_1DD2_1381_4000;

fn number(value: u64) -> ViewValue {
    ViewValue::BigInt(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Every stored table, with what its files and memtables wait for.
pub fn pending(engine: &dyn Engine, schema: &Schema) -> Vec<ViewRow> {
    let debts = match engine.debts() {
        Ok(debts) => debts,
        Err(error) => {
            tracing::warn!(%error, "pending compactions cannot be shown");
            return Vec::new();
        }
    };
    let row = |table: &std::sync::Arc<basalt_model::Table>| {
        let debt = debts.get(&table.id).copied().unwrap_or_default();
        let Debt { pending_bytes, level0_files, memtables, delays, stops, .. } = debt;
        vec![
            ("keyspace_name", (*table.keyspace).into()),
            ("table_name", (*table.name).into()),
            ("pending_bytes", number(pending_bytes)),
            ("level0_files", number(level0_files)),
            ("memtables", number(memtables)),
            ("write_delays", number(delays)),
            ("write_stops", number(stops)),
        ]
    };
    schema.tables_by_id.values().filter(|table| !table.is_virtual).map(row).collect()
}

/// Compactions that run. How far they are is not known.
pub fn tasks(engine: &dyn Engine, schema: &Schema, started_micros: i64) -> Vec<ViewRow> {
    let tasks = match engine.tasks() {
        Ok(tasks) => tasks,
        Err(error) => {
            tracing::warn!(%error, "running compactions cannot be shown");
            return Vec::new();
        }
    };
    let directory = engine.files().map(|path| path.display().to_string());
    let row = |task: Task| {
        let table = task.table.and_then(|table| schema.tables_by_id.get(&table));
        let (keyspace, name) = table.map_or(("*", "*"), |table| (&*table.keyspace, &*table.name));
        let mut row: ViewRow = vec![
            ("keyspace_name", keyspace.into()),
            ("table_name", name.into()),
            ("task_id", ViewValue::Uuid(task_id(started_micros, task.job))),
            ("kind", "compaction".into()),
            ("sstables", ViewValue::Int(i32::try_from(task.files).unwrap_or(i32::MAX))),
            ("total", number(task.bytes)),
            ("unit", "bytes".into()),
        ];
        row.extend(directory.clone().map(|path| ("target_directory", ViewValue::from(path))));
        row
    };
    tasks.into_iter().map(row).collect()
}

/// A time-UUID of the node's start and the task's number: the same as long as the task runs, and no other task's.
fn task_id(started_micros: i64, job: u64) -> Uuid {
    let ticks = EPOCH_TICKS + u64::try_from(started_micros).unwrap_or(0).saturating_mul(10);
    let [low, mid, high] = [ticks, ticks >> 32, ticks >> 48];
    let high = (high as u16 & 0x0fff) | 0x1000;
    let node = (job & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    Uuid::from_fields(low as u32, mid as u16, high, &node.to_be_bytes())
}

#[cfg(test)]
mod tests {
    //! Ids are version 1 and tell tasks apart.
    use super::*;

    #[test]
    fn ids_are_of_the_start_and_the_task() {
        let (first, second) = (task_id(1_700_000_000_000_000, 1), task_id(1_700_000_000_000_000, 2));
        assert_ne!(first, second);
        assert_eq!(first.get_version_num(), 1);
        assert_eq!(first, task_id(1_700_000_000_000_000, 1));
        assert_eq!(first.get_timestamp().map(|time| time.to_unix().0), Some(1_700_000_000));
    }
}
