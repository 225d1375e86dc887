//! What the node tells of itself in `system_views`. Knows no table's form.

mod compactions;
mod costs;
mod requests;
mod snapshots;
mod stalls;

use std::sync::Arc;

use basalt_model::{Schema, TableId};
use basalt_query::system_tables::{ClientView, NodeViews, SettingView, ThreadPoolView, ViewRow};
use basalt_storage::commit::Committer;
use basalt_storage::engine::Engine;

use crate::clients::Clients;
use crate::config::Config;
use crate::metrics::Recorders;
use crate::pool::Pool;
use crate::snapshots::Snapshots;
use crate::table_metrics::TableMetrics;

/// The node's view of itself.
pub struct Views {
    /// What is configured.
    pub config: Config,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// Work that waits for the disk.
    pub pool: Arc<Pool>,
    /// Where data is.
    pub engine: Arc<dyn Engine>,
    /// What is kept.
    pub snapshots: Arc<Snapshots>,
    /// Where writes wait.
    pub committer: Arc<Committer>,
    /// What reads and writes of each table cost.
    pub metrics: Arc<TableMetrics>,
    /// Times of each reactor's requests.
    pub recorders: Recorders,
    /// When the node started, microseconds since 1970.
    pub started_micros: i64,
}

impl NodeViews for Views {
    fn settings(&self) -> Vec<SettingView> {
        self.config.shown().into_iter().map(|(name, value)| SettingView { name, value }).collect()
    }

    fn clients(&self) -> Vec<ClientView> {
        self.clients.views()
    }

    fn thread_pools(&self) -> Vec<ThreadPoolView> {
        let stats = self.pool.stats();
        let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        let total = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        vec![ThreadPoolView {
            name: "ReadStage".to_owned(),
            active_tasks: count(stats.active),
            active_tasks_limit: count(stats.threads_max),
            pending_tasks: count(stats.queued),
            completed_tasks: total(stats.completed),
            blocked_tasks: 0,
            blocked_tasks_all_time: total(stats.refused),
        }]
    }

    fn disk_bytes(&self, table: TableId) -> Option<u64> {
        Some(self.engine.stats(table).ok()?.disk_bytes)
    }

    fn rows(&self, table: &str, schema: &Schema) -> Vec<ViewRow> {
        match table {
            "pending_compactions" => compactions::pending(&*self.engine, schema),
            "sstable_tasks" => compactions::tasks(&*self.engine, schema, self.started_micros),
            "write_stalls" => stalls::rows(self.committer.stalls()),
            "request_latency" => requests::rows(&self.recorders),
            "snapshots" => snapshots::rows(&self.snapshots),
            _ => costs::rows(table, &self.metrics, schema),
        }
    }
}
