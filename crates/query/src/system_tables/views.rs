//! What `system_views` shows of a running node, as the node hands it over. Knows the values a
//! column may have, no table's form.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use basalt_model::{Schema, TableId};
use bytes::Bytes;
use uuid::Uuid;

use crate::schema::encode;

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

/// A value of a virtual table's row.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // Each variant is the CQL type of the same name.
pub enum ViewValue {
    Text(String),
    Boolean(bool),
    Int(i32),
    BigInt(i64),
    Float(f32),
    Double(f64),
    /// Milliseconds since 1970.
    Timestamp(i64),
    Uuid(Uuid),
    Inet(IpAddr),
    /// `frozen<map<text, text>>`.
    TextMap(BTreeMap<String, String>),
    /// `frozen<list<text>>`, or `frozen<set<text>>` of sorted texts.
    Texts(Vec<String>),
    /// `blob`.
    Blob(Vec<u8>),
}

impl ViewValue {
    /// The serialized value.
    pub fn bytes(&self) -> Bytes {
        match self {
            ViewValue::Text(value) => encode::text(value),
            ViewValue::Boolean(value) => encode::boolean(*value),
            ViewValue::Int(value) => encode::int(*value),
            ViewValue::BigInt(value) | ViewValue::Timestamp(value) => encode::bigint(*value),
            ViewValue::Float(value) => Bytes::copy_from_slice(&value.to_be_bytes()),
            ViewValue::Double(value) => encode::double(*value),
            ViewValue::Uuid(value) => encode::uuid(*value),
            ViewValue::Inet(value) => encode::inet(*value),
            ViewValue::TextMap(value) => encode::text_map(value),
            ViewValue::Texts(value) => encode::text_list(value.iter().map(String::as_str)),
            ViewValue::Blob(value) => Bytes::copy_from_slice(value),
        }
    }
}

impl From<&str> for ViewValue {
    fn from(value: &str) -> ViewValue {
        ViewValue::Text(value.to_owned())
    }
}

impl From<String> for ViewValue {
    fn from(value: String) -> ViewValue {
        ViewValue::Text(value)
    }
}

/// A row of a virtual table: column names and values; columns that are null are left out. All key
/// columns must be there, and values must be of their columns' types.
pub type ViewRow = Vec<(&'static str, ViewValue)>;

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

    /// Bytes of a table's files (`disk_usage`).
    fn disk_bytes(&self, _table: TableId) -> Option<u64> {
        None
    }

    /// Rows of any other table of `system_views`, e.g. `local_read_latency`,
    /// `cql_metrics`, `caches`, `sstable_tasks`; `schema` is the schema now.
    fn rows(&self, _table: &str, _schema: &Schema) -> Vec<ViewRow> {
        Vec::new()
    }
}
