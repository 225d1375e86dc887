//! Statements over data as plans: everything that follows from the text and the schema is resolved
//! once, a request only brings values. One file a statement kind, with the name it has in `cql`.

pub(crate) mod attributes;
pub(crate) mod batch;
pub(crate) mod collect;
mod compact;
pub(crate) mod conditional;
pub(crate) mod delete;
mod document;
pub(crate) mod insert;
pub(crate) mod modify;
mod oversize;
mod read_text;
pub(crate) mod select;
pub(crate) mod size;
pub(crate) mod truncate;
pub(crate) mod update;
pub(crate) mod use_;

use std::sync::Arc;

use basalt_coordinator::{Coordinator, Replication};
use basalt_model::command::ReadPage;
use basalt_model::schema::KeyspaceKind;
use basalt_model::{Consistency, CqlError, ReadCommand, Schema, Table, quote};
use parking_lot::Mutex;

use crate::access::SchemaAccess;
use crate::bind::Binding;
use crate::error::{CqlResult, bail, invalid};
use crate::processor::QueryProcessor;
use crate::request::{QueryOptions, Value};
use crate::system_tables::kind_of;

/// What a plan runs with.
pub(crate) struct Execution<'a> {
    /// The processor.
    pub(crate) processor: &'a QueryProcessor,
    /// The request's options; their values are not looked at.
    pub(crate) options: &'a QueryOptions,
    /// Values in marker order.
    pub(crate) values: &'a [Value],
    /// The request's now, seconds.
    pub(crate) now_s: i64,
    /// Client warnings so far.
    pub(crate) warnings: &'a mut Vec<String>,
}

impl<'a> Execution<'a> {
    /// For evaluating terms.
    pub(crate) fn binding(&self) -> Binding<'a> {
        Binding { values: self.values, env: &*self.processor.env, timeuuids: &self.processor.timeuuids }
    }

    /// The same request with other values: a statement of a batch.
    pub(crate) fn with_values<'b>(&'b mut self, values: &'b [Value]) -> Execution<'b> {
        let Execution { processor, options, now_s, .. } = *self;
        Execution { processor, options, values, now_s, warnings: self.warnings }
    }

    /// The write time of statements that bring none.
    pub(crate) fn timestamp(&self) -> i64 {
        match self.options.default_timestamp {
            Some(timestamp) => timestamp,
            None => self.processor.clock.next(&*self.processor.env),
        }
    }
}

/// Where reads go.
pub(crate) struct Reader<'a> {
    pub(crate) schema: &'a dyn SchemaAccess,
    pub(crate) coordinator: &'a Coordinator,
    pub(crate) replication: &'a Replication,
    pub(crate) consistency: Consistency,
    /// Client warnings of the reads so far.
    pub(crate) warnings: Mutex<Vec<String>>,
}

impl Reader<'_> {
    /// One page of live data, from storage or computed.
    pub(crate) fn read(&self, command: ReadCommand) -> impl Future<Output = CqlResult<ReadPage>> {
        // Asked before the first poll: the future needs no room for the command.
        let asked = match command.table.is_virtual {
            true => Err(self.schema.read_virtual(&command)),
            false => Ok(self.coordinator.read(self.replication, command, self.consistency)),
        };
        async move {
            let page = match asked {
                Err(computed) => return computed,
                Ok(reply) => reply.await?,
            };
            if let Some(report) = &page.tombstones {
                self.warnings.lock().push(read_text::tombstone_warning(report));
            }
            Ok(page)
        }
    }

    /// Refuses an impossible level.
    pub(crate) fn check(&self, table: &Table, targets: usize, is_range: bool) -> CqlResult<()> {
        if self.consistency == Consistency::Any {
            return invalid("ANY ConsistencyLevel is only supported for writes");
        }
        if table.is_virtual {
            return Ok(());
        }
        if self.consistency.is_serial() && !is_range && targets > 1 {
            return invalid(
                "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time",
            );
        }
        self.coordinator.check_read(self.replication, self.consistency, !is_range)
    }
}

/// The keyspace a name is in: its own, or the request's.
pub(crate) fn keyspace_of<'a>(
    name: &'a basalt_cql::ast::QualifiedName,
    keyspace: Option<&'a str>,
) -> CqlResult<&'a str> {
    match (&name.keyspace, keyspace) {
        (Some(keyspace), _) => Ok(&keyspace.name),
        (None, Some(keyspace)) => Ok(keyspace),
        (None, None) => invalid(
            "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
        ),
    }
}

/// The table a statement names, and how its keyspace is replicated.
pub(crate) fn find_table(
    schema: &Schema,
    name: &basalt_cql::ast::QualifiedName,
    keyspace: Option<&str>,
) -> CqlResult<(Arc<Table>, Arc<Replication>)> {
    let keyspace_name = keyspace_of(name, keyspace)?;
    if name.name.name.is_empty() {
        return invalid("non-empty table is required");
    }
    let Some(keyspace) = schema.keyspace(keyspace_name) else {
        bail!("keyspace {keyspace_name} does not exist");
    };
    let Some(table) = keyspace.tables.get(name.name.name.as_str()) else {
        bail!("table {} does not exist", name.name.name);
    };
    Ok((table.clone(), Arc::new(Replication::from_map(&keyspace.replication))))
}

/// Refuses writes to what the node itself lives by: `system` and `system_schema` change through
/// schema statements and the node's own doings alone. Cassandra lets every superuser, which without
/// authentication is everybody, write there; a node rarely starts again after that.
pub(crate) fn refuse_own_tables(table: &Table) -> CqlResult<()> {
    if kind_of(&table.keyspace) == KeyspaceKind::LocalSystem {
        let keyspace = &table.keyspace;
        return Err(CqlError::Unauthorized(format!("{keyspace} keyspace is not user-modifiable.").into()));
    }
    Ok(())
}

/// Writes to tables that are computed are refused.
pub(crate) fn refuse_virtual(table: &Table) -> CqlResult<()> {
    if table.is_virtual {
        return Err(CqlError::invalid(format!(
            "Modification is not supported by table {}.{}",
            quote::identifier(&table.keyspace),
            quote::identifier(&table.name)
        )));
    }
    Ok(())
}
