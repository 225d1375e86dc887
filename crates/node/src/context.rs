//! What all connections of a node share. Knows how a node is put together, not what any part does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_model::env::SharedEnv;
use basalt_query::QueryProcessor;
use basalt_query::result::ResultMetadata;
use basalt_wire::ProtocolVersion;
use basalt_wire::response::result::{ColumnSpec, EncodedColumns};
use bytes::BytesMut;
use foldhash::fast::RandomState;

use crate::auth::Authenticator;
use crate::clients::Clients;
use crate::config::settings::TransportSettings;
use crate::limits::NodeLimits;
use crate::metrics::Recorder;

/// What all connections of a node share.
pub struct Context {
    /// Time, randomness, threads.
    pub env: SharedEnv,
    /// Runs statements.
    pub processor: Arc<QueryProcessor>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// What clients may take.
    pub limits: Arc<NodeLimits>,
    /// Limits and habits of the transport.
    pub transport: TransportSettings,
    /// Who may enter.
    pub authenticator: Arc<dyn Authenticator>,
    /// Statements slower than this are logged, nanoseconds.
    pub slow_query_nanos: Option<u64>,
    /// Where this node is for clients: traces say so.
    pub address: std::net::SocketAddr,
    /// Names connections in the texts of the protocol.
    pub next_connection: AtomicU64,
}

/// Encoded columns by where their metadata is, and protocol version. Each entry keeps its metadata, so that nothing else
/// can come to be there.
type KnownColumns = HashMap<(usize, u8), (Arc<ResultMetadata>, Rc<EncodedColumns>), RandomState>;

/// What all connections of one reactor share: never touched by another thread, except to read times.
pub struct Local {
    /// The node.
    pub node: Arc<Context>,
    /// Times of this reactor's requests.
    pub recorder: Arc<Recorder>,
    columns: RefCell<KnownColumns>,
    /// A buffer for the answers of whichever connection writes next: it has grown before.
    spare: RefCell<BytesMut>,
}

/// A reactor keeps no larger buffer than this for answers.
const SPARE_BYTES_MAX: usize = 1 << 20;

/// Encoded result columns kept by one reactor; beyond that they are all forgotten.
const COLUMNS_KEPT: usize = 1_024;

impl Local {
    /// A reactor's own things.
    pub fn new(node: Arc<Context>, recorder: Arc<Recorder>) -> Local {
        Local { node, recorder, columns: RefCell::default(), spare: RefCell::default() }
    }

    /// A number for a new connection.
    pub fn connection_number(&self) -> u32 {
        let number = self.node.next_connection.fetch_add(1, Ordering::Relaxed);
        u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0)
    }

    /// An empty buffer, with room if one was kept.
    pub fn take_spare(&self) -> BytesMut {
        self.spare.take()
    }

    /// Keeps a buffer of which all is written.
    pub fn keep_spare(&self, mut buffer: BytesMut) {
        buffer.clear();
        // What it has room for shows only when it is asked for some.
        if buffer.try_reclaim(SPARE_BYTES_MAX + 1) {
            return;
        }
        *self.spare.borrow_mut() = buffer;
    }

    /// The encoded columns of a prepared statement's result: the same for every execution.
    pub fn columns(&self, metadata: &Arc<ResultMetadata>, version: ProtocolVersion) -> Rc<EncodedColumns> {
        let key = (Arc::as_ptr(metadata).addr(), version.number());
        let mut columns = self.columns.borrow_mut();
        if let Some((_, known)) = columns.get(&key) {
            return Rc::clone(known);
        }
        if columns.len() >= COLUMNS_KEPT {
            columns.clear();
        }
        let encoded = Rc::new(encode(metadata, version));
        columns.insert(key, (Arc::clone(metadata), Rc::clone(&encoded)));
        encoded
    }
}

/// Columns as they travel.
pub fn encode(metadata: &ResultMetadata, version: ProtocolVersion) -> EncodedColumns {
    EncodedColumns::new(&wire_columns(&metadata.columns), version)
}

/// Columns in the words of the wire.
pub fn wire_columns(columns: &[basalt_query::result::ColumnSpec]) -> Vec<ColumnSpec> {
    let of_column = |column: &basalt_query::result::ColumnSpec| ColumnSpec {
        keyspace: Arc::clone(&column.keyspace),
        table: Arc::clone(&column.table),
        name: Arc::clone(&column.name),
        data_type: column.data_type.clone(),
    };
    columns.iter().map(of_column).collect()
}
