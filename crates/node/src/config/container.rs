//! The environment variables of the official container image, as the keys its entry point writes with
//! them. Knows the names; `bin/basalt` reads the environment.

use super::{Config, ConfigError};

/// Variables, and the key that each sets.
const VARIABLES: [(&str, &str); 8] = [
    ("CASSANDRA_BROADCAST_ADDRESS", "broadcast_address"),
    ("CASSANDRA_BROADCAST_RPC_ADDRESS", "broadcast_rpc_address"),
    ("CASSANDRA_CLUSTER_NAME", "cluster_name"),
    ("CASSANDRA_ENDPOINT_SNITCH", "endpoint_snitch"),
    ("CASSANDRA_LISTEN_ADDRESS", "listen_address"),
    ("CASSANDRA_NUM_TOKENS", "num_tokens"),
    ("CASSANDRA_RPC_ADDRESS", "rpc_address"),
    ("CASSANDRA_START_RPC", "start_native_transport"),
];

/// What `cassandra-rackdc.properties` would say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `CASSANDRA_DC`.
    pub datacenter: Option<String>,
    /// `CASSANDRA_RACK`.
    pub rack: Option<String>,
}

/// Whether the official image's entry point looks at that variable.
pub fn is_ours(name: &str) -> bool {
    ["CASSANDRA_SEEDS", "CASSANDRA_DC", "CASSANDRA_RACK"].contains(&name)
        || VARIABLES.iter().any(|(variable, _)| *variable == name)
}

/// Applies the variables over a configuration, as the entry point does: empty ones count as not
/// given, `auto` as `CASSANDRA_LISTEN_ADDRESS` is this container's address, and what is not given for
/// broadcasting is the listen address. `own_address` is the container's.
///
/// # Errors
/// When a key does not take the value.
pub fn apply(
    config: &mut Config,
    variables: &[(String, String)],
    own_address: &str,
) -> Result<Place, ConfigError> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    };
    for (variable, key) in VARIABLES {
        let Some(value) = get(variable) else { continue };
        let value = if value == "auto" && variable.ends_with("_ADDRESS") { own_address } else { value };
        config.set_text(key, value).map_err(|error| ConfigError(format!("{variable}: {error}")))?;
    }
    // The image listens for clients everywhere and announces what it listens on for peers.
    let wildcard = config.text("rpc_address").is_some_and(|address| address == "0.0.0.0" || address == "::");
    if wildcard && !config.is_given("broadcast_rpc_address") && get("CASSANDRA_RPC_ADDRESS").is_some() {
        let announced = config.text("broadcast_address").or_else(|| config.text("listen_address"));
        config.set_text("broadcast_rpc_address", announced.as_deref().unwrap_or(own_address))?;
    }
    Ok(Place {
        datacenter: get("CASSANDRA_DC").map(str::to_owned),
        rack: get("CASSANDRA_RACK").map(str::to_owned),
    })
}
