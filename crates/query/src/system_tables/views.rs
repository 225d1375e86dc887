//! What `system_views` shows of a running node, as the node hands it over. Knows no table.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A row of `system_views.settings`.
#[derive(Clone, Debug)]
pub struct SettingView {
    /// The key as in `cassandra.yaml`.
    pub name: String,
    /// Its value as text, if it has one.
    pub value: Option<String>,
}

/// A row of `system_views.clients`: one connection.
#[derive(Clone, Debug)]
pub struct ClientView {
    /// The client's end.
    pub address: SocketAddr,
    /// `connected`, `ready`, ...: `ConnectionStage` in lower case.
    pub connection_stage: String,
    /// STARTUP's options.
    pub client_options: BTreeMap<String, String>,
    /// STARTUP's `DRIVER_NAME`.
    pub driver_name: Option<String>,
    /// STARTUP's `DRIVER_VERSION`.
    pub driver_version: Option<String>,
    /// Native protocol version.
    pub protocol_version: i32,
    /// Requests so far.
    pub request_count: i64,
    /// USE.
    pub keyspace: Option<String>,
    /// Role; `anonymous` without authentication.
    pub username: Option<String>,
}

/// A row of `system_views.thread_pools`.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // Named as the table's columns are.
pub struct ThreadPoolView {
    pub name: String,
    pub active_tasks: i32,
    pub active_tasks_limit: i32,
    pub pending_tasks: i32,
    pub completed_tasks: i64,
    pub blocked_tasks: i64,
    pub blocked_tasks_all_time: i64,
}

/// What the node tells. Whatever it does not override has no rows.
pub trait NodeViews: Send + Sync {
    /// `settings`.
    fn settings(&self) -> Vec<SettingView> {
        Vec::new()
    }

    /// `clients`.
    fn clients(&self) -> Vec<ClientView> {
        Vec::new()
    }

    /// `thread_pools`.
    fn thread_pools(&self) -> Vec<ThreadPoolView> {
        Vec::new()
    }
}
