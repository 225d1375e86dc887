//! `system.local` and `system.basalt`: what drivers and operators learn of this node. Host id and
//! tokens are drawn once and kept; the rest is written at every start.

use std::sync::Arc;

use basalt_model::env::Env;
use basalt_model::{
    Cell, Clustering, CqlError, DecoratedKey, Deletion, Liveness, Mutation, PartitionUpdate, Row, Table,
};
use bytes::Bytes;
use uuid::Uuid;

use super::facts::{CQL_VERSION, NATIVE_PROTOCOL_VERSION, NodeFacts, PARTITIONER, RELEASE_VERSION};
use crate::schema::encode;

/// What is drawn once in a node's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeIdentity {
    /// `host_id`.
    pub host_id: Uuid,
    /// Its tokens, ascending.
    pub tokens: Vec<i64>,
}

impl NodeIdentity {
    /// A new identity with `num_tokens` random tokens.
    pub fn draw(env: &dyn Env, num_tokens: u16) -> NodeIdentity {
        let bits = (u128::from(env.random_u64()) << 64) | u128::from(env.random_u64());
        let host_id = uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid();
        let mut tokens = std::collections::BTreeSet::new();
        while tokens.len() < usize::from(num_tokens.max(1)) {
            // The smallest token is a bound, never a node's.
            let token = env.random_u64() as i64;
            if token != i64::MIN {
                tokens.insert(token);
            }
        }
        NodeIdentity { host_id, tokens: tokens.into_iter().collect() }
    }
}

/// What a stored `system.local` says that must go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLocal {
    /// Host id and tokens.
    pub identity: NodeIdentity,
    /// `cluster_name`.
    pub cluster_name: Option<String>,
    /// `data_center`.
    pub data_center: Option<String>,
    /// `rack`.
    pub rack: Option<String>,
}

impl StoredLocal {
    /// Reads the row; `None` when it is not whole.
    pub fn read(table: &Table, row: &Row) -> Option<StoredLocal> {
        let value = |name: &str| Some(row.cell(table.column(name)?.id)?.value.clone());
        let text = |name: &str| value(name).and_then(|value| encode::read_text(&value));
        let tokens = row.cells_of(table.column("tokens")?.id).iter();
        let tokens: Option<Vec<i64>> =
            tokens.map(|cell| std::str::from_utf8(cell.path.as_ref()?).ok()?.parse().ok()).collect();
        let mut tokens = tokens?;
        tokens.sort_unstable();
        let host_id = encode::read_uuid(&value("host_id")?)?;
        Some(StoredLocal {
            identity: NodeIdentity { host_id, tokens },
            cluster_name: text("cluster_name"),
            data_center: text("data_center"),
            rack: text("rack"),
        })
    }

    /// A data directory belongs to one cluster, datacenter and rack.
    ///
    /// # Errors
    /// With Cassandra's text.
    pub fn check(&self, facts: &NodeFacts) -> Result<(), CqlError> {
        let differs = |stored: &Option<String>, now: &str| {
            stored.as_deref().filter(|stored| *stored != now).map(str::to_owned)
        };
        if let Some(stored) = differs(&self.cluster_name, &facts.cluster_name) {
            return Err(CqlError::config(format!(
                "Saved cluster name {stored} != configured name {}",
                facts.cluster_name
            )));
        }
        if let Some(stored) = differs(&self.data_center, &facts.data_center) {
            return Err(CqlError::config(format!(
                "Cannot start node if snitch's data center ({}) differs from previous data center ({stored}).",
                facts.data_center
            )));
        }
        if let Some(stored) = differs(&self.rack, &facts.rack) {
            return Err(CqlError::config(format!(
                "Cannot start node if snitch's rack ({}) differs from previous rack ({stored}).",
                facts.rack
            )));
        }
        Ok(())
    }
}

/// Cells of one row, all written at the same time.
struct LocalRow<'a> {
    table: &'a Arc<Table>,
    timestamp: i64,
    row: Row,
}

impl LocalRow<'_> {
    fn new(table: &Arc<Table>, timestamp: i64) -> LocalRow<'_> {
        let row = Row { liveness: Liveness::at(timestamp), ..Row::new(Clustering::empty()) };
        LocalRow { table, timestamp, row }
    }

    fn set(&mut self, name: &str, value: Bytes) {
        if let Some(column) = self.table.column(name) {
            self.row.cells.push(Cell::live(column.id, None, self.timestamp, value));
        }
    }

    /// A `set<text>` written whole: what was there before is deleted.
    fn set_texts(&mut self, name: &str, texts: &[String], now_s: i64) {
        let Some(column) = self.table.column(name) else { return };
        let before = Deletion { timestamp: self.timestamp - 1, local_time_s: now_s };
        self.row.complex_deletions.push((column.id, before));
        for text in texts {
            self.row.cells.push(Cell::live(
                column.id,
                Some(encode::text(text)),
                self.timestamp,
                Bytes::new(),
            ));
        }
    }

    fn finish(mut self, key: &str) -> Mutation {
        self.row.cells.sort_by(|a, b| (a.column, &a.path).cmp(&(b.column, &b.path)));
        let key = DecoratedKey::new(encode::text(key));
        let mut update = PartitionUpdate::new(self.table.clone(), key.clone());
        update.rows.push(self.row);
        Mutation { keyspace: "system".into(), key, updates: vec![update] }
    }
}

/// Writes all of `system.local` except `schema_version`.
pub fn write(
    table: &Arc<Table>,
    facts: &NodeFacts,
    identity: &NodeIdentity,
    timestamp: i64,
    now_s: i64,
) -> Mutation {
    let mut row = LocalRow::new(table, timestamp);
    row.set("bootstrapped", encode::text("COMPLETED"));
    row.set("broadcast_address", encode::inet(facts.broadcast_address));
    row.set("broadcast_port", encode::int(i32::from(facts.broadcast_port)));
    row.set("cluster_name", encode::text(&facts.cluster_name));
    row.set("cql_version", encode::text(CQL_VERSION));
    row.set("data_center", encode::text(&facts.data_center));
    row.set("gossip_generation", encode::int(i32::try_from(now_s).unwrap_or(i32::MAX)));
    row.set("host_id", encode::uuid(identity.host_id));
    row.set("listen_address", encode::inet(facts.listen_address));
    row.set("listen_port", encode::int(i32::from(facts.listen_port)));
    row.set("native_protocol_version", encode::text(NATIVE_PROTOCOL_VERSION));
    row.set("partitioner", encode::text(PARTITIONER));
    row.set("rack", encode::text(&facts.rack));
    row.set("release_version", encode::text(RELEASE_VERSION));
    row.set("rpc_address", encode::inet(facts.rpc_address));
    row.set("rpc_port", encode::int(i32::from(facts.rpc_port)));
    let mut tokens: Vec<String> = identity.tokens.iter().map(i64::to_string).collect();
    tokens.sort_unstable();
    row.set_texts("tokens", &tokens, now_s);
    row.finish("local")
}

/// Writes `schema_version`.
pub fn write_schema_version(table: &Arc<Table>, version: Uuid, timestamp: i64) -> Mutation {
    let mut row = LocalRow::new(table, timestamp);
    row.set("schema_version", encode::uuid(version));
    row.finish("local")
}

/// Writes `system.basalt`.
pub fn write_basalt(table: &Arc<Table>, facts: &NodeFacts, timestamp: i64) -> Mutation {
    let mut row = LocalRow::new(table, timestamp);
    row.set("name", encode::text("Basalt"));
    row.set("version", encode::text(&facts.basalt_version));
    row.finish("local")
}
