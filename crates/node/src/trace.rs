//! Traces that clients ask for: a session's row in `system_traces.sessions`, with who asked what and
//! how long it took, and one event that says that the steps in between are not recorded.

use std::net::SocketAddr;

use basalt_model::{Consistency, SerialConsistency};
use basalt_query::request::{ClientState, QueryOptions, Value, Values};
use basalt_wire::Request;
use bytes::Bytes;
use uuid::Uuid;

use crate::context::Local;
use crate::requests::describe;

/// `trace_type_query_ttl`'s default: a day.
const INSERT_EVENT: &str = "INSERT INTO system_traces.events (session_id, event_id, activity, source, source_port, \
     source_elapsed, thread) VALUES (?, ?, 'Executed on this node (single steps are not recorded)', ?, ?, ?, 'reactor') \
     USING TTL 86400";

/// As above.
const INSERT: &str = "INSERT INTO system_traces.sessions (session_id, client, command, coordinator, coordinator_port, \
     duration, parameters, request, started_at) VALUES (?, ?, 'QUERY', ?, ?, ?, ?, ?, ?) USING TTL 86400";

/// Intervals of 100 ns between 1582-10-15 and 1970-01-01.
const GREGORIAN_OFFSET: u64 = 0x01b2_1dd2_1381_4000;

/// A time-based id (version 1) for that moment, with a random node and clock sequence.
fn time_uuid(wall_micros: i64, random: u64) -> Uuid {
    let ticks = u64::try_from(wall_micros).unwrap_or(0) * 10 + random % 10 + GREGORIAN_OFFSET;
    let time_low = (ticks & 0xffff_ffff) << 32;
    let time_mid = (ticks >> 32 & 0xffff) << 16;
    let time_high = ticks >> 48 & 0x0fff | 0x1000;
    // The multicast bit says that the node is not a card's address.
    let node = random & 0x3fff_ffff_ffff_ffff | 0x8000_0100_0000_0000;
    Uuid::from_u64_pair(time_low | time_mid | time_high, node)
}

fn map_of_texts(entries: &[(&str, &str)]) -> Bytes {
    let mut out = Vec::new();
    let number = |value: usize| u32::try_from(value).unwrap_or(0).to_be_bytes();
    out.extend_from_slice(&number(entries.len()));
    for text in entries.iter().flat_map(|(name, value)| [name, value]) {
        out.extend_from_slice(&number(text.len()));
        out.extend_from_slice(text.as_bytes());
    }
    out.into()
}

/// Records a session and gives its id; `None`, with a line in the log, when it cannot be stored.
pub async fn record(local: &Local, request: &Request, client: SocketAddr, micros: u64) -> Option<Uuid> {
    let title = match request {
        Request::Query(_) => "Execute CQL3 query",
        Request::Prepare(_) => "Preparing CQL3 query",
        Request::Execute(_) => "Execute CQL3 prepared query",
        Request::Batch(_) => "Execute batch of CQL3 queries",
        _ => return None,
    };
    let env = &local.node.env;
    let ended_micros = env.wall_micros();
    let id = time_uuid(ended_micros, env.random_u64());
    let address = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(v4) => Bytes::copy_from_slice(&v4.octets()),
        std::net::IpAddr::V6(v6) => Bytes::copy_from_slice(&v6.octets()),
    };
    let coordinator = local.node.address;
    let statement = describe(request);
    let started_ms = (ended_micros - i64::try_from(micros).unwrap_or(0)) / 1_000;
    let values = vec![
        Bytes::copy_from_slice(id.as_bytes()),
        address(client.ip()),
        address(coordinator.ip()),
        Bytes::copy_from_slice(&i32::from(coordinator.port()).to_be_bytes()),
        Bytes::copy_from_slice(&i32::try_from(micros).unwrap_or(i32::MAX).to_be_bytes()),
        map_of_texts(&[("query", &statement)]),
        Bytes::from_static(title.as_bytes()),
        Bytes::copy_from_slice(&started_ms.to_be_bytes()),
    ];
    let event = vec![
        values[0].clone(),
        Bytes::copy_from_slice(time_uuid(ended_micros, env.random_u64()).as_bytes()),
        values[2].clone(),
        values[3].clone(),
        values[4].clone(),
    ];
    for (text, values) in [(INSERT_EVENT, event), (INSERT, values)] {
        let (options, mut client) = (options(values), ClientState::default());
        if let Err(error) = local.node.processor.query(text, &options, &mut client).await {
            tracing::warn!(%error, "a trace could not be stored");
            return None;
        }
    }
    Some(id)
}

fn options(values: Vec<Bytes>) -> QueryOptions {
    QueryOptions {
        consistency: Consistency::One,
        serial_consistency: SerialConsistency::Serial,
        values: Values::Positional(values.into_iter().map(Value::Bytes).collect()),
        page_size: None,
        paging_state: None,
        default_timestamp: None,
        now_s: None,
        keyspace: None,
        protocol_version: 5,
    }
}
