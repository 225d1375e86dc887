//! The node's numbers as Prometheus reads them: one page of text, made of what is counted anyway. A request pays nothing for it.
//!
//! What pages cost is bounded, however many ask and however many tables there are: a page is shown again for [`REST`] times as long
//! as it took to make, and shows at most [`TABLES_MAX`] tables. Knows no socket.

mod process;
mod tables;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use basalt_model::env::SharedEnv;
use basalt_query::SchemaStore;
use basalt_storage::commit::{Cause, Committer, StallCounts};
use basalt_storage::engine::Engine;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::clients::{Clients, Stage};
use crate::metrics::{Recorders, Summary, summarize};
use crate::pool::Pool;
use crate::table_metrics::TableMetrics;
use text::{Kind, Page};

/// What the text is, for HTTP.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Tables shown, the first by name of those that something happened to.
const TABLES_MAX: usize = 1_000;

/// Making pages takes one part in so many of a processor's time at most.
const REST: u64 = 20;

/// What pages are made of.
pub struct Exposition {
    /// Time.
    pub env: SharedEnv,
    /// Where data is.
    pub engine: Arc<dyn Engine>,
    /// Which tables there are.
    pub schema: Arc<SchemaStore>,
    /// What reads and writes of each table cost.
    pub tables: Arc<TableMetrics>,
    /// Where writes wait.
    pub committer: Arc<Committer>,
    /// Work that waits for the disk.
    pub pool: Arc<Pool>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// Times of each reactor's requests.
    pub requests: Recorders,
    /// The last page, and until when it is shown.
    pub last: Mutex<Option<(u64, Bytes)>>,
}

impl Exposition {
    /// The page of now, or that of a moment ago.
    pub fn page(&self) -> Bytes {
        let mut last = self.last.lock();
        let now = self.env.monotonic_nanos();
        if let Some((until, page)) = &*last
            && now < *until
        {
            return page.clone();
        }
        let page = Bytes::from(self.make(now));
        let made = self.env.monotonic_nanos();
        *last = Some((made.saturating_add(made.saturating_sub(now).saturating_mul(REST)), page.clone()));
        page
    }

    fn make(&self, began_nanos: u64) -> String {
        let mut page = Page::default();
        page.family("basalt_build_info", Kind::Gauge, "Which version this is.")
            .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        process::write(&mut page);
        self.clients(&mut page);
        requests(&mut page, &summarize(&self.requests));
        self.engine(&mut page);
        self.stalls(&mut page);
        self.pool(&mut page);
        let schema = self.schema.current();
        let debts = self.engine.debts().unwrap_or_else(|error| {
            tracing::warn!(%error, "pending compactions cannot be shown");
            HashMap::new()
        });
        tables::write(&mut page, &self.tables, &schema, &debts, TABLES_MAX);
        let nanos = self.env.monotonic_nanos().saturating_sub(began_nanos);
        page.family("basalt_scrape_seconds", Kind::Gauge, "What this page took to make.")
            .sample(&[], seconds(nanos));
        page.into_text()
    }

    fn clients(&self, page: &mut Page) {
        let counts = self.clients.by_stage();
        let mut family = page.family("basalt_connections", Kind::Gauge, "Clients' connections, by stage.");
        for (stage, count) in Stage::ALL.into_iter().zip(counts) {
            family.sample(&[("stage", stage.name())], count as f64);
        }
        page.counter("basalt_connections_total", "Connections since the start.", self.clients.since_start());
    }

    fn engine(&self, page: &mut Page) {
        let engine = self.engine.metrics();
        let gauges = [
            ("basalt_cache_capacity_bytes", "What the cache may hold.", engine.cache_capacity_bytes),
            ("basalt_cache_bytes", "What it holds, memtables included.", engine.cache_bytes),
            ("basalt_memtable_bytes", "Memtables.", engine.memtable_bytes),
            ("basalt_disk_bytes", "Files of live data.", engine.disk_bytes),
            (
                "basalt_compaction_pending_bytes",
                "What compaction has to rewrite until all is in shape, estimated.",
                engine.compaction_pending_bytes,
            ),
            ("basalt_compactions_running", "Compactions that run.", engine.compactions_running),
            ("basalt_flushes_running", "Flushes that run.", engine.flushes_running),
            ("basalt_tables", "Tables.", engine.tables),
        ];
        for (name, help, value) in gauges {
            page.gauge(name, help, value as f64);
        }
        let help =
            "How far writes are slowed for what waits to be flushed and compacted: 0 not at all, 1 fully.";
        page.gauge("basalt_write_brake_ratio", help, engine.brake as f64 / 1e3);
        let help = "Flushes and compactions that failed.";
        page.counter("basalt_background_errors_total", help, engine.background_errors);
    }

    fn stalls(&self, page: &mut Page) {
        let stalls = self.committer.stalls();
        let mut family = |name, help, of: fn(StallCounts) -> f64| {
            let mut family = page.family(name, Kind::Counter, help);
            for cause in Cause::ALL {
                family.sample(&[("cause", cause.name())], of(stalls.of(cause)));
            }
        };
        family("basalt_write_stalls_total", "Writes that waited, by cause.", |counts| counts.waited as f64);
        family("basalt_write_stall_seconds_total", "How long they waited, all together.", |counts| {
            seconds(counts.nanos)
        });
        family("basalt_writes_refused_total", "Writes that were refused, by cause.", |counts| {
            counts.refused as f64
        });
    }

    fn pool(&self, page: &mut Page) {
        let pool = self.pool.stats();
        page.gauge(
            "basalt_disk_tasks_active",
            "Reads and writes that wait for the disk.",
            pool.active as f64,
        );
        page.gauge("basalt_disk_tasks_pending", "Those that wait for a thread to do so.", pool.queued as f64);
        page.counter("basalt_disk_tasks_total", "Those that are done.", pool.completed);
        page.counter("basalt_disk_tasks_refused_total", "Those for which there was no room.", pool.refused);
    }
}

/// By kind of request: from the arrival of its bytes to the last byte of its answer, and from its beginning to its result.
fn requests(page: &mut Page, summaries: &[Summary]) {
    let labelled = || summaries.iter().map(|summary| (summary.kind.name(), summary));
    let mut errors =
        page.family("basalt_request_errors_total", Kind::Counter, "Requests answered with an error.");
    for (kind, summary) in labelled() {
        errors.sample(&[("kind", kind)], summary.errors as f64);
    }
    let help = "From the arrival of a request's bytes to the last byte of its answer written.";
    let mut response = page.family("basalt_request_response_seconds", Kind::Histogram, help);
    for (kind, summary) in labelled() {
        response.histogram(&[("kind", kind)], &summary.response_us);
    }
    let help = "From a request's beginning to its result.";
    let mut service = page.family("basalt_request_service_seconds", Kind::Histogram, help);
    for (kind, summary) in labelled() {
        service.histogram(&[("kind", kind)], &summary.service_us);
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
