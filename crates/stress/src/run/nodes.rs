//! The nodes of a run: those that the user named, and the others of their data centre, found as drivers find them: the
//! first one named lists them. What is listed and does not answer is left out, and said. Knows no tokens.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use basalt_model::env::SharedEnv;
use bytes::Bytes;

use super::Settings;
use crate::client::{Error, Options, Session, Table};

/// What a node says of itself.
const OWN: &str = "SELECT host_id, data_center FROM system.local";

/// What it says of the others.
const PEERS_V2: &str = "SELECT peer, host_id, data_center, native_address, native_port FROM system.peers_v2";

/// The same where all nodes have one port: Cassandra before 4.0, and ScyllaDB.
const PEERS: &str = "SELECT peer, host_id, data_center, rpc_address FROM system.peers";

/// Which schema a node has.
const SCHEMA: &str = "SELECT schema_version FROM system.local";

/// How long each step of connecting to a node that is listed may take: the list may name what is not there any more.
const LISTED_PATIENCE: Duration = Duration::from_secs(5);

/// How long nodes usually take at most to have the same schema, nanoseconds.
pub const AGREEMENT_NANOS: u64 = 10_000_000_000;

/// From one look at their schemas to the next.
const AGREEMENT_STEP: Duration = Duration::from_millis(100);

/// The nodes of a run.
pub struct Nodes {
    /// Where they are; the named ones first.
    pub addresses: Vec<SocketAddr>,
    /// A session with each, in their order; none where one node is named and no other wanted.
    pub sessions: Vec<Session>,
    /// What a reader of the report must know of them.
    pub notes: Vec<String>,
}

/// A node as another lists it.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    host_id: Bytes,
    data_center: Bytes,
    address: SocketAddr,
}

impl Nodes {
    /// Connects to those named, and finds the others unless only those named are wanted. Waits for several to have the same
    /// schema, up to `agreement_nanos`, so that a table that was just made is on all of them.
    ///
    /// # Errors
    /// When a node that was named cannot be reached.
    pub fn find(settings: &Settings, agreement_nanos: u64) -> Result<Nodes, Error> {
        let addresses = settings.targets.clone();
        let mut nodes = Nodes { addresses, sessions: Vec::new(), notes: Vec::new() };
        if settings.only_targets && nodes.addresses.len() < 2 {
            return Ok(nodes);
        }
        for address in &nodes.addresses {
            nodes.sessions.push(Session::connect(*address, &settings.client)?);
        }
        if !settings.only_targets {
            nodes.add_listed(&settings.client);
        }
        nodes.agree(&settings.env, agreement_nanos);
        Ok(nodes)
    }

    fn add_listed(&mut self, options: &Options) {
        let (Some(first), Some(session)) = (self.addresses.first().copied(), self.sessions.first_mut())
        else {
            return;
        };
        let peers = session.rows(OWN).and_then(|own| {
            let peers = session.rows(PEERS_V2).or_else(|_| session.rows(PEERS))?;
            Ok((own, peers))
        });
        let (own, peers) = match peers {
            Ok(told) => told,
            Err(error) => {
                self.notes.push(format!("{first} does not tell which other nodes there are: {error}"));
                return;
            }
        };
        let data_center = cell(&own, 0, 1).cloned();
        // A node may be listed under another address than the one it was named by.
        let known: Vec<Bytes> = self.sessions.iter_mut().filter_map(host_id).collect();
        let patience = options.patience.min(LISTED_PATIENCE);
        let options = Options { patience, ..options.clone() };
        for row in 0..peers.len() {
            let Some(listed) = listed(&peers, row, first.port()) else {
                self.notes
                    .push(format!("{first} lists a node without saying where or in which data centre it is"));
                continue;
            };
            let is_known = known.contains(&listed.host_id) || self.addresses.contains(&listed.address);
            if is_known || Some(&listed.data_center) != data_center.as_ref() {
                continue;
            }
            match Session::connect(listed.address, &options) {
                Ok(session) => {
                    self.addresses.push(listed.address);
                    self.sessions.push(session);
                }
                Err(error) => {
                    let address = listed.address;
                    self.notes.push(format!("{address}, which {first} lists, is left out: {error}"));
                }
            }
        }
    }

    /// Waits until all have the same schema, up to this long.
    fn agree(&mut self, env: &SharedEnv, limit_nanos: u64) {
        let began = env.monotonic_nanos();
        while !self.has_one_schema() {
            if env.monotonic_nanos().saturating_sub(began) >= limit_nanos {
                let seconds = limit_nanos / 1_000_000_000;
                self.notes.push(format!("the nodes do not have the same schema, even after {seconds} s"));
                return;
            }
            std::thread::sleep(AGREEMENT_STEP);
        }
    }

    fn has_one_schema(&mut self) -> bool {
        // Who does not say has none that another could differ from.
        let mut versions = self.sessions.iter_mut().filter_map(|session| {
            let told = session.rows(SCHEMA).ok()?;
            cell(&told, 0, 0).cloned()
        });
        let first = versions.next();
        versions.all(|version| Some(version) == first)
    }
}

fn host_id(session: &mut Session) -> Option<Bytes> {
    let own = session.rows(OWN).ok()?;
    cell(&own, 0, 0).cloned()
}

/// A value; `None` when it is null, or not there.
fn cell(table: &Table, row: usize, column: usize) -> Option<&Bytes> {
    table.get(row)?.get(column)?.as_ref()
}

/// A row of [`PEERS_V2`], or of [`PEERS`], which has no port. A node whose address for clients is missing, or is every
/// address, is where other nodes reach it, and has the port of the one that lists it when it has none of its own.
fn listed(peers: &Table, row: usize, port: u16) -> Option<Listed> {
    let address = |column| address(cell(peers, row, column)?);
    let native = address(3).filter(|address| !address.is_unspecified());
    let own_port = cell(peers, row, 4).and_then(|bytes| {
        let port = i32::from_be_bytes(bytes.as_ref().try_into().ok()?);
        u16::try_from(port).ok().filter(|port| *port > 0)
    });
    Some(Listed {
        host_id: cell(peers, row, 1)?.clone(),
        data_center: cell(peers, row, 2)?.clone(),
        address: SocketAddr::new(native.or_else(|| address(0))?, own_port.unwrap_or(port)),
    })
}

/// An `inet`.
fn address(bytes: &Bytes) -> Option<IpAddr> {
    match bytes.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(bytes.as_ref()).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(bytes.as_ref()).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    //! Rows of peers as nodes write them. Whole rings are in the tests of runs.
    use super::*;

    /// `peer`, host id, data centre, address for clients, port.
    fn row(peer: &[u8], native: Option<&[u8]>, port: Option<i32>) -> Vec<Option<Bytes>> {
        let bytes = |bytes: &[u8]| Some(Bytes::copy_from_slice(bytes));
        let port = port.map(|port| Bytes::copy_from_slice(&port.to_be_bytes()));
        vec![bytes(peer), bytes(&[7; 16]), bytes(b"dc1"), native.and_then(bytes), port]
    }

    fn at(row: Vec<Option<Bytes>>) -> Option<String> {
        listed(&vec![row], 0, 9042).map(|listed| listed.address.to_string())
    }

    #[test]
    fn a_node_is_where_its_row_says() {
        let peer = [10, 0, 0, 1];
        let native: &[u8] = &[192, 168, 0, 1];
        let cases = [
            (Some(native), Some(9043), "192.168.0.1:9043"),
            (Some(&[0, 0, 0, 0][..]), Some(9043), "10.0.0.1:9043"),
            (Some(&[0; 16][..]), Some(9043), "10.0.0.1:9043"),
            (None, Some(9043), "10.0.0.1:9043"),
            (Some(native), None, "192.168.0.1:9042"),
            (Some(native), Some(0), "192.168.0.1:9042"),
            (Some(native), Some(-1), "192.168.0.1:9042"),
            (Some(native), Some(70_000), "192.168.0.1:9042"),
        ];
        for (native, port, expected) in cases {
            assert_eq!(at(row(&peer, native, port)).as_deref(), Some(expected), "{native:?} {port:?}");
        }
        let local = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(at(row(&local, None, None)).as_deref(), Some("[::1]:9042"));
        let mut without_port = row(&peer, Some(native), None);
        without_port.truncate(4);
        assert_eq!(at(without_port).as_deref(), Some("192.168.0.1:9042"));
    }

    #[test]
    fn a_row_that_says_too_little_is_no_node() {
        let whole = row(&[10, 0, 0, 1], None, None);
        for missing in [0, 1, 2] {
            let mut row = whole.clone();
            row[missing] = None;
            assert_eq!(at(row), None, "{missing}");
        }
        assert_eq!(at(row(&[10, 0, 0], None, None)), None);
        assert_eq!(at(Vec::new()), None);
        assert_eq!(listed(&Vec::new(), 0, 9042), None);
    }
}
