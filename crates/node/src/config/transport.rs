//! Limits and habits of the native transport (`native_transport_*`). Knows no socket.

use super::sizing::Sizing;
use super::{Config, ConfigError};

/// Limits on clients (`ClientResourceLimits` and the `native_transport_*` keys). `None`: no limit.
#[derive(Clone, Debug)]
pub struct TransportSettings {
    /// Open connections in all.
    pub connections_max: Option<u64>,
    /// Open connections from one address.
    pub connections_per_ip_max: Option<u64>,
    /// Bytes of requests being worked on, in all.
    pub in_flight_bytes: u64,
    /// Bytes of requests being worked on, from one address.
    pub in_flight_per_ip_bytes: u64,
    /// Bytes of requests a connection may have worked on before it draws on the two limits above.
    pub in_flight_per_connection_bytes: u64,
    /// Whether requests over a limit are refused when STARTUP did not say; else they wait.
    pub throw_on_overload: bool,
    /// Requests a second, if limited.
    pub requests_per_second: Option<u64>,
    /// Longest envelope of v3 and v4 and of any handshake, bytes.
    pub frame_max_bytes: u32,
    /// Longest message of v5, bytes.
    pub message_max_bytes: u32,
    /// Broken messages in a row that close a connection.
    pub consecutive_message_errors: u32,
    /// Whether v3 and v4 are served.
    pub allow_older_protocols: bool,
    /// Connections silent for so long are closed, if any are.
    pub idle_timeout_ms: Option<u64>,
    /// Requests older than this when their turn comes are not begun.
    pub request_timeout_ms: u64,
    /// `rpc_keepalive`.
    pub keepalive: bool,
}

/// Reads them, filling in what was not given from the memory number.
pub(super) fn transport(
    config: &mut Config,
    sizing: Sizing,
    max_mutation: u64,
) -> Result<TransportSettings, ConfigError> {
    let all = config.bytes("native_transport_max_request_data_in_flight").unwrap_or(sizing.in_flight_bytes);
    let per_ip = config
        .bytes("native_transport_max_request_data_in_flight_per_ip")
        .unwrap_or(sizing.in_flight_per_ip_bytes);
    config.derive("native_transport_max_request_data_in_flight", format!("{all}B"));
    config.derive("native_transport_max_request_data_in_flight_per_ip", format!("{per_ip}B"));
    let frame = config.bytes("native_transport_max_frame_size").unwrap_or(16 << 20);
    let frame_max_bytes = match u32::try_from(frame) {
        Ok(bytes) if bytes > 0 && bytes < i32::MAX.unsigned_abs() => bytes,
        _ => {
            return Err(ConfigError(format!(
                "native_transport_max_frame_size must be positive value < {}B, but was {frame}B",
                i32::MAX
            )));
        }
    };
    let message = match config.bytes("native_transport_max_message_size") {
        None => max_mutation.min(all).min(per_ip),
        Some(bytes) if bytes > all => return Err(exceeds("native_transport_max_request_data_in_flight")),
        Some(bytes) if bytes > per_ip => {
            return Err(exceeds("native_transport_max_request_data_in_flight_per_ip"));
        }
        Some(bytes) => bytes,
    };
    config.derive("native_transport_max_message_size", format!("{message}B"));
    let limit = |name: &str| config.number(name).and_then(|number| u64::try_from(number).ok());
    Ok(TransportSettings {
        connections_max: limit("native_transport_max_concurrent_connections"),
        connections_per_ip_max: limit("native_transport_max_concurrent_connections_per_ip"),
        in_flight_bytes: all,
        in_flight_per_ip_bytes: per_ip,
        in_flight_per_connection_bytes: config
            .bytes("native_transport_receive_queue_capacity")
            .unwrap_or(1 << 20),
        throw_on_overload: config.flag("native_transport_throw_on_overload"),
        requests_per_second: config
            .flag("native_transport_rate_limiting_enabled")
            .then(|| limit("native_transport_max_requests_per_second").unwrap_or(1_000_000).max(1)),
        frame_max_bytes,
        message_max_bytes: u32::try_from(message).unwrap_or(u32::MAX),
        consecutive_message_errors: limit("consecutive_message_errors_threshold")
            .and_then(|number| u32::try_from(number).ok())
            .unwrap_or(1),
        allow_older_protocols: config.flag("native_transport_allow_older_protocols"),
        idle_timeout_ms: config.millis("native_transport_idle_timeout").filter(|millis| *millis > 0),
        request_timeout_ms: config.millis("native_transport_timeout").unwrap_or(12_000),
        keepalive: config.flag("rpc_keepalive"),
    })
}

fn exceeds(what: &str) -> ConfigError {
    ConfigError(format!("native_transport_max_message_size must not exceed {what}"))
}
