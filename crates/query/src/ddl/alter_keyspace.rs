//! ALTER KEYSPACE (`AlterKeyspaceStatement`).

use std::sync::Arc;

use basalt_cql::ast::AlterKeyspace;
use basalt_model::{CqlError, Keyspace};

use super::create_keyspace::{given_replication, refuse_local};
use super::properties::Properties;
use super::{DdlContext, DdlPlan, NewState, names, replication};
use crate::result::{Change, ChangeTarget};
use crate::system_tables::kind_of;
use basalt_model::schema::KeyspaceKind;

const INCREASED: &str =
    "When increasing replication factor you need to run a full (-full) repair to distribute the data.";

pub(super) fn plan(statement: &AlterKeyspace, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let name = statement.keyspace.as_str();
    if kind_of(name) != KeyspaceKind::DistributedSystem {
        // Replication of system_auth and the like may be altered.
        names::authorize(name, "ALTER", || format!("<keyspace {name}>"))?;
    }
    names::check_keyspace(name)?;
    let properties = Properties(&statement.properties);
    let given = given_replication(properties)?.filter(|map| !map.is_empty());
    let plan = |state| DdlPlan::new(name, Change::Updated, ChangeTarget::Keyspace, state);
    let Some(before) = context.schema.keyspace(name) else {
        if statement.if_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::invalid(format!("Keyspace '{name}' doesn't exist")));
    };
    let durable_writes = properties.boolean("durable_writes")?.unwrap_or(before.durable_writes);
    let replication = match &given {
        None => before.replication.clone(),
        Some(given) => replication::read(given, Some(&before.replication), context.datacenters)?,
    };
    refuse_local(&replication)?;
    let warnings = replication::validate(name, &replication, context.datacenters)?;
    let factor = replication::replicas_in_all;
    let warnings_if_changed = if factor(&before.replication) < factor(&replication) {
        vec![INCREASED.to_owned()]
    } else {
        Vec::new()
    };
    let after = Keyspace { durable_writes, replication, ..Keyspace::clone(before) };
    Ok(DdlPlan { warnings, warnings_if_changed, ..plan(NewState::Keyspace(Arc::new(after))) })
}
