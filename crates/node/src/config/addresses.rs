//! Where a node listens and what it tells others to connect to (`DatabaseDescriptor.applyAddressConfig`).

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};

use super::{Config, ConfigError};

/// The addresses of a node.
pub(super) struct Addresses {
    /// `rpc_address`.
    pub rpc: IpAddr,
    /// `broadcast_rpc_address`.
    pub broadcast_rpc: IpAddr,
    /// `listen_address`.
    pub listen: IpAddr,
    /// `broadcast_address`.
    pub broadcast: IpAddr,
}

/// As Cassandra finds them, except that nothing given means loopback, never a
/// network interface.
pub(super) fn addresses(config: &Config) -> Result<Addresses, ConfigError> {
    for (address, interface) in [("listen_address", "listen_interface"), ("rpc_address", "rpc_interface")] {
        if config.text(interface).is_some() {
            let both = config.text(address).is_some();
            let text = if both {
                format!("Set {address} OR {interface}, not both")
            } else {
                format!("{interface} is not supported yet: set {address}")
            };
            return Err(ConfigError(text));
        }
    }
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let given = |name: &str| config.text(name).filter(|text| !text.is_empty());
    let of = |name: &str, unknown: &str| match given(name) {
        None => Ok(None),
        Some(text) => resolve(&text).map(Some).ok_or_else(|| ConfigError(unknown.replace("{}", &text))),
    };
    let not_wildcard = |name: &str, address: Option<IpAddr>| match address {
        Some(address) if address.is_unspecified() => Err(ConfigError(format!(
            "{name} cannot be a wildcard address ({})!",
            given(name).unwrap_or_default()
        ))),
        other => Ok(other),
    };
    let listen = not_wildcard("listen_address", of("listen_address", "Unknown listen_address '{}'")?)?;
    let broadcast =
        not_wildcard("broadcast_address", of("broadcast_address", "Unknown broadcast_address '{}'")?)?;
    let rpc = of("rpc_address", "Unknown host in rpc_address {}")?.unwrap_or(loopback);
    let broadcast_rpc = not_wildcard(
        "broadcast_rpc_address",
        of("broadcast_rpc_address", "Unknown broadcast_rpc_address '{}'")?,
    )?;
    if rpc.is_unspecified() && broadcast_rpc.is_none() {
        let text = given("rpc_address").unwrap_or_default();
        return Err(ConfigError(format!(
            "If rpc_address is set to a wildcard address ({text}), then you must set broadcast_rpc_address to a value other than {text}"
        )));
    }
    let listen = listen.unwrap_or(if rpc.is_loopback() { rpc } else { loopback });
    Ok(Addresses {
        rpc,
        broadcast_rpc: broadcast_rpc.unwrap_or(rpc),
        listen,
        broadcast: broadcast.unwrap_or(listen),
    })
}

pub(super) fn resolve(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    (text, 0).to_socket_addrs().ok()?.map(|address| address.ip()).next()
}
