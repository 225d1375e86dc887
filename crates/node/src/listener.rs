//! The one listener: takes its port early and for itself alone, accepts when the node is ready, and
//! hands each connection to the reactor that serves the fewest. Knows no message.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::limits::{NodeLimits, Refused};
use crate::reactor::{Accepted, Reactor};

/// Connections the kernel may hold for us.
const BACKLOG: u32 = 1_024;

/// A port that is ours, not listening yet.
pub struct Bound {
    socket: TcpSocket,
    /// The address, with the port the system chose if it was to choose.
    pub address: SocketAddr,
}

/// Takes the address. No `SO_REUSEPORT`: another process on that port, a node of ours as well, is
/// an error.
///
/// # Errors
/// `AddrInUse`, among others.
pub fn bind(address: SocketAddr, is_keepalive: bool) -> io::Result<Bound> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Unix: a port whose connections linger after a restart is free; one that is listened on is not.
    socket.set_reuseaddr(true)?;
    // Accepted sockets inherit it.
    socket.set_keepalive(is_keepalive)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    Ok(Bound { socket, address })
}

impl Bound {
    /// Begins to listen.
    ///
    /// # Errors
    /// As the operating system says; another process may have been faster.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)
    }
}

/// Accepts until told to stop.
pub async fn accept(
    listener: TcpListener,
    limits: Arc<NodeLimits>,
    reactors: Arc<Vec<Reactor>>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = stopped(&mut stop) => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => hand_over(stream, address, &limits, &reactors),
                Err(error) => {
                    // No more file descriptors, mostly. What is not accepted waits in the kernel.
                    tracing::warn!(%error, "a connection could not be accepted");
                    let mut pause = tokio::time::interval(Duration::from_millis(100));
                    pause.tick().await;
                    pause.tick().await;
                }
            },
        }
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone says "stop", too.
    drop(stop.wait_for(|is_stopping| *is_stopping).await);
}

fn hand_over(stream: TcpStream, address: SocketAddr, limits: &Arc<NodeLimits>, reactors: &[Reactor]) {
    let limits = match limits.admit(address.ip()) {
        Ok(limits) => limits,
        Err(why) => {
            let key = match why {
                Refused::TooMany => "native_transport_max_concurrent_connections",
                Refused::TooManyFromAddress => "native_transport_max_concurrent_connections_per_ip",
            };
            tracing::warn!(client = %address, "Exceeded maximum native connection limit (see {key} in cassandra.yaml)");
            return;
        }
    };
    let stream = match prepare(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(client = %address, %error, "a connection ended before it began");
            return;
        }
    };
    let Some(reactor) = reactors.iter().min_by_key(|reactor| reactor.load()) else { return };
    if reactor.hand_over(Accepted { stream, address, limits }).is_err() {
        tracing::warn!(client = %address, "a connection was closed: its reactor is too far behind");
    }
}

fn prepare(stream: TcpStream) -> io::Result<std::net::TcpStream> {
    stream.set_nodelay(true)?;
    stream.into_std()
}
