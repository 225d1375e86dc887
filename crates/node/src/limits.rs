//! What clients may take of the node: connections, bytes of requests in flight, requests a second.
//! Knows numbers and addresses; not what a request is (`transport/ClientResourceLimits`,
//! `ConnectionLimitHandler`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::config::settings::TransportSettings;

/// Requests that one connection may have in flight; more wait in the socket. Stream ids alone would
/// allow 32,768.
pub const CONNECTION_IN_FLIGHT_REQUESTS: usize = 4_096;

/// Bytes of answers waiting to be written that stop a connection from beginning more requests.
pub const CONNECTION_OUTPUT_BYTES: usize = 1 << 20;

/// Bytes read from a socket at once: at least.
pub const READ_BYTES_MIN: usize = 4 << 10;

/// Bytes read from a socket at once: at most.
pub const READ_BYTES_MAX: usize = 64 << 10;

/// Bytes a client may send before it is let in; one message of the handshake has a few hundred.
pub const HANDSHAKE_INPUT_BYTES: usize = 64 << 10;

/// How long a client may take from connecting to READY (a limit of our own: Cassandra has none).
pub const HANDSHAKE_TIMEOUT_MS: u64 = 30_000;

/// Events waiting for a connection that does not read; one more closes it, and the driver
/// reads the schema anew when it is back.
pub const EVENTS_QUEUED_MAX: usize = 1_024;

/// An amount that is taken and given back, up to a limit.
#[derive(Debug)]
struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl Budget {
    fn new(limit: u64) -> Budget {
        Budget { limit, used: AtomicU64::new(0) }
    }

    fn take(&self, amount: u64) -> bool {
        let fits = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn give(&self, amount: u64) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }

    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// Limits of the whole node.
#[derive(Debug)]
pub struct NodeLimits {
    connections: Budget,
    connections_per_ip_max: u64,
    in_flight: Budget,
    in_flight_per_ip: u64,
    in_flight_per_connection: u64,
    addresses: Mutex<HashMap<IpAddr, Arc<AddressLimits>>>,
    rate: Option<RateLimiter>,
    /// Told when bytes are given back and someone waits for them.
    freed: Notify,
    waiting: AtomicU64,
    /// Connections turned away.
    pub refused: AtomicU64,
}

/// Limits of one client address.
#[derive(Debug)]
struct AddressLimits {
    connections: AtomicU64,
    in_flight: Budget,
}

/// Why a connection is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `native_transport_max_concurrent_connections`.
    TooMany,
    /// `native_transport_max_concurrent_connections_per_ip`.
    TooManyFromAddress,
}

impl NodeLimits {
    /// Limits as configured.
    pub fn new(settings: &TransportSettings) -> NodeLimits {
        NodeLimits {
            connections: Budget::new(settings.connections_max.unwrap_or(u64::MAX)),
            connections_per_ip_max: settings.connections_per_ip_max.unwrap_or(u64::MAX),
            in_flight: Budget::new(settings.in_flight_bytes),
            in_flight_per_ip: settings.in_flight_per_ip_bytes,
            in_flight_per_connection: settings.in_flight_per_connection_bytes,
            addresses: Mutex::default(),
            rate: settings.requests_per_second.map(RateLimiter::new),
            freed: Notify::new(),
            waiting: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Wakes those that wait for room: called by each tick of a reactor, for rates free up by time alone.
    pub fn tick(&self) {
        if self.waiting.load(Ordering::Acquire) > 0 {
            self.freed.notify_waiters();
        }
    }

    /// Open connections.
    pub fn connections(&self) -> u64 {
        self.connections.used()
    }

    /// Admits a connection from that address.
    ///
    /// # Errors
    /// Which limit it is over.
    pub fn admit(self: &Arc<Self>, address: IpAddr) -> Result<ConnectionLimits, Refused> {
        let refuse = |why| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            Err(why)
        };
        if !self.connections.take(1) {
            return refuse(Refused::TooMany);
        }
        let mut addresses = self.addresses.lock();
        let of_address = addresses.entry(address).or_insert_with(|| {
            Arc::new(AddressLimits {
                connections: AtomicU64::new(0),
                in_flight: Budget::new(self.in_flight_per_ip),
            })
        });
        if of_address.connections.load(Ordering::Relaxed) >= self.connections_per_ip_max {
            drop(addresses);
            self.connections.give(1);
            return refuse(Refused::TooManyFromAddress);
        }
        of_address.connections.fetch_add(1, Ordering::Relaxed);
        Ok(ConnectionLimits {
            node: Arc::clone(self),
            address,
            of_address: Arc::clone(of_address),
            used: 0,
            shared: 0,
        })
    }

    fn leave(&self, address: IpAddr) {
        self.connections.give(1);
        let mut addresses = self.addresses.lock();
        let Some(of_address) = addresses.get(&address) else { return };
        if of_address.connections.fetch_sub(1, Ordering::Relaxed) == 1 {
            addresses.remove(&address);
        }
    }
}

/// Why a request may not begin now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// Bytes in flight; the text is Cassandra's.
    Bytes(String),
    /// Requests a second; the text is Cassandra's.
    Rate(String),
}

impl Over {
    /// What the client is told.
    pub fn text(&self) -> &str {
        match self {
            Over::Bytes(text) | Over::Rate(text) => text,
        }
    }

    /// What a client is told that had to wait (`Dispatcher.processRequest`).
    pub fn warning(&self, limits: &ConnectionLimits) -> String {
        match self {
            Over::Bytes(_) => format!(
                "Request breached limit(s) on bytes in flight (Endpoint: {}, Global: {}) and triggered backpressure.",
                limits.of_address.in_flight.limit, limits.node.in_flight.limit
            ),
            Over::Rate(_) => format!(
                "Request breached global limit of {} requests/second and triggered backpressure.",
                limits.node.rate.as_ref().map_or(0, |rate| rate.per_second)
            ),
        }
    }
}

/// One connection's part in the limits; leaving it gives everything back.
#[derive(Debug)]
pub struct ConnectionLimits {
    node: Arc<NodeLimits>,
    address: IpAddr,
    of_address: Arc<AddressLimits>,
    /// Bytes in flight on this connection.
    used: u64,
    /// How many of them are beyond its own allowance.
    shared: u64,
}

impl ConnectionLimits {
    /// Takes the bytes of a request.
    ///
    /// # Errors
    /// Over a limit: nothing was taken.
    pub fn begin(&mut self, bytes: u64, now_nanos: u64) -> Result<(), Over> {
        let beyond = (self.used + bytes).saturating_sub(self.node.in_flight_per_connection).min(bytes);
        let (address, all) = (&self.of_address.in_flight, &self.node.in_flight);
        if beyond > 0 {
            if !address.take(beyond) {
                return Err(self.over_bytes());
            }
            if !all.take(beyond) {
                address.give(beyond);
                return Err(self.over_bytes());
            }
        }
        if let Some(rate) = &self.node.rate
            && !rate.take(now_nanos)
        {
            if beyond > 0 {
                address.give(beyond);
                all.give(beyond);
            }
            return Err(Over::Rate(format!(
                "Request breached global limit of {} requests/second. Server is currently in an overloaded state and cannot accept more requests.",
                rate.per_second
            )));
        }
        self.used += bytes;
        self.shared += beyond;
        Ok(())
    }

    fn over_bytes(&self) -> Over {
        let (address, all) = (&self.of_address.in_flight, &self.node.in_flight);
        Over::Bytes(format!(
            "Request breached limit on bytes in flight. (Endpoint: {}/{} bytes, Global: {}/{} bytes.)Server is currently in an overloaded state and cannot accept more requests.",
            address.used(),
            address.limit,
            all.used(),
            all.limit
        ))
    }

    /// Gives back the bytes of a request that ended.
    pub fn end(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
        let give = self.shared.min(bytes);
        if give == 0 {
            return;
        }
        self.shared -= give;
        self.of_address.in_flight.give(give);
        self.node.in_flight.give(give);
        if self.node.waiting.load(Ordering::Acquire) > 0 {
            self.node.freed.notify_waiters();
        }
    }

    /// Waits until someone gave bytes back. Spurious wake-ups are possible: try again.
    pub async fn freed(node: Arc<NodeLimits>) {
        struct Waiting<'a>(&'a AtomicU64);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::AcqRel);
            }
        }
        node.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(&node.waiting);
        node.freed.notified().await;
    }

    /// The node's limits.
    pub fn node(&self) -> &Arc<NodeLimits> {
        &self.node
    }
}

impl Drop for ConnectionLimits {
    fn drop(&mut self) {
        self.end(self.used);
        self.node.leave(self.address);
    }
}

/// Requests a second over the whole node: a bucket that holds one second's worth.
#[derive(Debug)]
struct RateLimiter {
    per_second: u64,
    /// The moment up to which requests are paid for, nanoseconds.
    paid_until: AtomicU64,
}

impl RateLimiter {
    fn new(per_second: u64) -> RateLimiter {
        RateLimiter { per_second, paid_until: AtomicU64::new(0) }
    }

    fn take(&self, now_nanos: u64) -> bool {
        let (second, price) = (1_000_000_000, 1_000_000_000 / self.per_second);
        let pay = |paid: u64| {
            let next = paid.max(now_nanos.saturating_sub(second)) + price;
            (next <= now_nanos).then_some(next)
        };
        self.paid_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_ok()
    }
}

#[cfg(test)]
mod tests;
