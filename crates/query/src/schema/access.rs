//! The schema's keeper as statements over data see it ([`crate::access::SchemaAccess`]): DDL,
//! DESCRIBE and virtual tables behind one door.

use std::sync::Arc;

use basalt_cql::ast::{Describe, Statement};
use basalt_model::command::ReadPage;
use basalt_model::{CqlError, DecoratedKey, ReadCommand, Schema};

use super::{SchemaError, SchemaStore};
use crate::access::{LocalFuture, SchemaAccess};
use crate::ddl;
use crate::describe::{self, DescribeContext};
use crate::request::{ClientState, QueryOptions};
use crate::result::{Outcome, StatementResult};
use crate::system_tables::virtual_tables::{self, VirtualContext};

impl SchemaStore {
    fn describe(
        &self,
        statement: &Describe,
        keyspace: Option<&str>,
        options: &QueryOptions,
    ) -> Result<Outcome, CqlError> {
        let schema = SchemaStore::current(self);
        let tokens = &self.identity().tokens;
        let context = DescribeContext { schema: &schema, keyspace, facts: self.facts(), tokens };
        let rows = describe::describe(statement, options, &context)?;
        Ok(Outcome { result: StatementResult::Rows(rows), warnings: Vec::new() })
    }
}

impl SchemaAccess for SchemaStore {
    fn current(&self) -> Arc<Schema> {
        SchemaStore::current(self)
    }

    fn run<'a>(
        &'a self,
        statement: &'a Statement,
        keyspace: Option<&'a str>,
        options: &'a QueryOptions,
        _client: &'a ClientState,
    ) -> LocalFuture<'a, Result<Outcome, CqlError>> {
        Box::pin(async move {
            if let Statement::Describe(statement) = statement {
                return self.describe(statement, keyspace, options);
            }
            self.change(keyspace, |context| ddl::plan(statement, context)).await
        })
    }

    fn read_virtual(&self, command: &ReadCommand) -> Result<ReadPage, CqlError> {
        let schema = SchemaStore::current(self);
        let context = VirtualContext {
            schema: &schema,
            facts: self.facts(),
            identity: self.identity(),
            views: self.parts.views.as_ref(),
            timestamp: self.parts.env.wall_micros(),
        };
        let (rows, command) = virtual_tables::prepare(command.clone(), &context);
        let mut page = self.parts.scratch.read(rows, command).map_err(SchemaError::from)?;
        for partition in &mut page.partitions {
            partition.key = DecoratedKey::new(partition.key.key.clone());
        }
        Ok(page)
    }
}
