//! Tables of `system_views` that have a form of their own: settings, clients, thread pools, and
//! the one node that gossip knows.

use std::net::IpAddr;

use super::VirtualContext;
use crate::system_tables::facts::RELEASE_VERSION;
use crate::system_tables::views::{ViewRow, ViewValue};

pub fn settings(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let row = |name: String, value: Option<String>| {
        let mut row: ViewRow = vec![("name", name.into())];
        row.extend(value.map(|value| ("value", ViewValue::from(value))));
        row
    };
    context.views.settings().into_iter().map(|setting| row(setting.name, setting.value)).collect()
}

pub fn clients(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let mut rows = Vec::new();
    for client in context.views.clients() {
        let mut row: ViewRow = vec![
            ("address", ViewValue::Inet(client.address.ip())),
            ("port", ViewValue::Int(i32::from(client.address.port()))),
            ("client_options", ViewValue::TextMap(client.client_options)),
            ("connection_stage", client.connection_stage.into()),
            // Names are not looked up: a resolver that hangs would hang the read.
            ("hostname", client.address.ip().to_string().into()),
            ("protocol_version", ViewValue::Int(client.protocol_version)),
            ("request_count", ViewValue::BigInt(client.request_count)),
            ("ssl_enabled", ViewValue::Boolean(false)),
        ];
        let optional = [
            ("driver_name", client.driver_name),
            ("driver_version", client.driver_version),
            ("keyspace_name", client.keyspace),
            ("username", client.username),
        ];
        row.extend(optional.into_iter().filter_map(|(name, value)| Some((name, ViewValue::from(value?)))));
        rows.push(row);
    }
    rows
}

pub fn thread_pools(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let mut rows = Vec::new();
    for pool in context.views.thread_pools() {
        rows.push(vec![
            ("name", pool.name.into()),
            ("active_tasks", ViewValue::Int(pool.active_tasks)),
            ("active_tasks_limit", ViewValue::Int(pool.active_tasks_limit)),
            ("blocked_tasks", ViewValue::BigInt(pool.blocked_tasks)),
            ("blocked_tasks_all_time", ViewValue::BigInt(pool.blocked_tasks_all_time)),
            ("completed_tasks", ViewValue::BigInt(pool.completed_tasks)),
            ("pending_tasks", ViewValue::Int(pool.pending_tasks)),
        ]);
    }
    rows
}

/// `address:port`, IPv6 in brackets (`InetAddressAndPort`).
fn with_port(address: IpAddr, port: u16) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}

/// A ring of one does not gossip: only what is true of it is there, without version numbers.
pub fn gossip_info(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let facts = context.facts;
    let status = context.identity.tokens.first().map(|token| format!("NORMAL,{token}"));
    let mut row: ViewRow = vec![
        ("address", ViewValue::Inet(facts.broadcast_address)),
        ("port", ViewValue::Int(i32::from(facts.broadcast_port))),
        ("hostname", facts.broadcast_address.to_string().into()),
        ("dc", facts.data_center.clone().into()),
        ("rack", facts.rack.clone().into()),
        ("host_id", context.identity.host_id.to_string().into()),
        ("release_version", RELEASE_VERSION.into()),
        ("schema", context.schema.version.to_string().into()),
        ("rpc_address", facts.rpc_address.to_string().into()),
        ("rpc_ready", "true".into()),
        ("native_address_and_port", with_port(facts.rpc_address, facts.rpc_port).into()),
        ("internal_address_and_port", with_port(facts.listen_address, facts.listen_port).into()),
    ];
    row.extend(status.map(|status| ("status_with_port", ViewValue::from(status))));
    vec![row]
}

/// Every stored table, with what its files take, in mebibytes rounded up (`TableMetricTables.StorageTableMetric`).
pub fn disk_usage(context: &VirtualContext<'_>) -> Vec<ViewRow> {
    let row = |table: &std::sync::Arc<basalt_model::Table>| {
        let bytes = context.views.disk_bytes(table.id)?;
        let mebibytes = i64::try_from(bytes.div_ceil(1 << 20)).unwrap_or(i64::MAX);
        Some(vec![
            ("keyspace_name", (*table.keyspace).into()),
            ("table_name", (*table.name).into()),
            ("mebibytes", ViewValue::BigInt(mebibytes)),
        ])
    };
    context.schema.tables_by_id.values().filter(|table| !table.is_virtual).filter_map(row).collect()
}
