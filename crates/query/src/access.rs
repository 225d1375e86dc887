//! What statements over data need of the schema's keeper: the current picture, a way to run DDL and
//! DESCRIBE, and the rows of tables that are computed when read. Does not know how any of it is kept.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use basalt_cql::ast::Statement;
use basalt_model::command::ReadPage;
use basalt_model::{CqlError, ReadCommand, Schema};

use crate::request::{ClientState, QueryOptions};
use crate::result::Outcome;

/// A future of this thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The schema's keeper, as the query processor sees it.
pub trait SchemaAccess: Send + Sync {
    /// The schema now.
    fn current(&self) -> Arc<Schema>;

    /// Runs a statement that is not over data: CREATE, ALTER, DROP, DESCRIBE, LIST, GRANT and the
    /// like. Unqualified names are looked up in `keyspace`, the request's keyspace or else the
    /// connection's.
    fn run<'a>(
        &'a self,
        statement: &'a Statement,
        keyspace: Option<&'a str>,
        options: &'a QueryOptions,
        client: &'a ClientState,
    ) -> LocalFuture<'a, Result<Outcome, CqlError>>;

    /// The live rows of a virtual table for `command`: order, filters and limits applied as
    /// storage applies them.
    ///
    /// # Errors
    /// When the table cannot be computed.
    fn read_virtual(&self, command: &ReadCommand) -> Result<ReadPage, CqlError>;
}
