//! The schema's keeper as statements over data see it ([`crate::access::SchemaAccess`]): DDL,
//! DESCRIBE and virtual tables behind one door.

use std::sync::Arc;

use basalt_cql::ast::Statement;
use basalt_model::command::ReadPage;
use basalt_model::{CqlError, ReadCommand, Schema};

use super::SchemaStore;
use crate::access::{LocalFuture, SchemaAccess};
use crate::ddl;
use crate::request::{ClientState, QueryOptions};
use crate::result::Outcome;

impl SchemaAccess for SchemaStore {
    fn current(&self) -> Arc<Schema> {
        SchemaStore::current(self)
    }

    fn run<'a>(
        &'a self,
        statement: &'a Statement,
        keyspace: Option<&'a str>,
        _options: &'a QueryOptions,
        _client: &'a ClientState,
    ) -> LocalFuture<'a, Result<Outcome, CqlError>> {
        Box::pin(async move {
            self.change(keyspace, |context| ddl::plan(statement, context)).await
        })
    }

    fn read_virtual(&self, _command: &ReadCommand) -> Result<ReadPage, CqlError> {
        Err(CqlError::unsupported("reading this table"))
    }
}
