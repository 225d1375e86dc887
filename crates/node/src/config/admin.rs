//! Where `nodetool` reaches the node: our keys `admin_address`, `admin_port` and `admin_allow_remote`.

use std::net::SocketAddr;

use super::addresses::resolve;
use super::settings::port;
use super::{Config, ConfigError};

/// Where the node listens for `nodetool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdminSettings {
    /// The address.
    pub listen: SocketAddr,
    /// Somebody asked for this port: the node does not start without it.
    pub is_given: bool,
}

/// Nobody is asked for a password, so another address than loopback takes a second word. `admin_port: -1` switches the
/// listener off.
pub(super) fn admin(config: &Config) -> Result<Option<AdminSettings>, ConfigError> {
    if config.number("admin_port") == Some(-1) {
        return Ok(None);
    }
    let text = config.text("admin_address").unwrap_or_default();
    let address =
        resolve(&text).ok_or_else(|| ConfigError(format!("Unknown host in admin_address {text}")))?;
    if !address.is_loopback() && !config.flag("admin_allow_remote") {
        return Err(ConfigError(format!(
            "admin_address: whoever reaches {address} may do everything to this node, because nobody is asked for a \
             password; set admin_allow_remote: true if that is what you want"
        )));
    }
    let is_given = config.is_given("admin_port") || config.is_given("admin_address");
    Ok(Some(AdminSettings { listen: SocketAddr::new(address, port(config, "admin_port")?), is_given }))
}
