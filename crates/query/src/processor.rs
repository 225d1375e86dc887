//! The door of the crate: text or a prepared id in, an outcome out (`cql3/QueryProcessor`).
//!
//! Simple and prepared statements take one path: parse, prepare, bind, execute. Knows neither
//! connections nor messages.

use std::sync::Arc;

use basalt_coordinator::Coordinator;
use basalt_model::CqlError;
use basalt_model::env::SharedEnv;

use crate::access::SchemaAccess;
use crate::request::{BatchEntry, BatchKind, ClientState, QueryOptions, Value};
use crate::result::{Outcome, PreparedStatement};
use crate::settings::QuerySettings;

/// Runs statements. One per node, shared by all its threads.
pub struct QueryProcessor {
    pub(crate) env: SharedEnv,
    pub(crate) schema: Arc<dyn SchemaAccess>,
    pub(crate) coordinator: Coordinator,
    pub(crate) settings: QuerySettings,
}

impl QueryProcessor {
    /// A processor over a schema and a coordinator.
    pub fn new(
        env: SharedEnv,
        schema: Arc<dyn SchemaAccess>,
        coordinator: Coordinator,
        settings: QuerySettings,
    ) -> QueryProcessor {
        QueryProcessor { env, schema, coordinator, settings }
    }

    /// Runs one statement given as text (QUERY). USE changes `client.keyspace`.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn query(
        &self,
        _text: &str,
        _options: &QueryOptions,
        _client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        Err(CqlError::unsupported("QUERY"))
    }

    /// Prepares a statement (PREPARE). `keyspace` is the request's own (v5); else the
    /// connection's counts. The answer of a statement that is prepared already is the same.
    ///
    /// # Errors
    /// What the client is told.
    pub fn prepare(
        &self,
        _text: &str,
        _keyspace: Option<&str>,
        _client: &ClientState,
    ) -> Result<Arc<PreparedStatement>, CqlError> {
        Err(CqlError::unsupported("PREPARE"))
    }

    /// Runs a prepared statement (EXECUTE). Rows carry the statement's present result metadata,
    /// whose `id` a v5 connection compares with the client's.
    ///
    /// # Errors
    /// What the client is told; [`CqlError::Unprepared`] when the id is unknown.
    pub async fn execute(
        &self,
        id: &[u8; 16],
        _options: &QueryOptions,
        _client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        Err(CqlError::Unprepared(*id))
    }

    /// Runs a BATCH message. `options.values` is not looked at: each entry has its own, by
    /// position.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn batch(
        &self,
        _kind: BatchKind,
        _entries: &[(BatchEntry, Vec<Value>)],
        _options: &QueryOptions,
        _client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        Err(CqlError::unsupported("BATCH"))
    }

    /// The schema now.
    pub fn schema(&self) -> Arc<basalt_model::Schema> {
        self.schema.current()
    }
}
