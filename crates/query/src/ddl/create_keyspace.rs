//! CREATE KEYSPACE (`CreateKeyspaceStatement`).

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_cql::ast::CreateKeyspace;
use basalt_model::schema::KeyspaceKind;
use basalt_model::{CqlError, Keyspace};

use super::properties::Properties;
use super::{DdlContext, DdlPlan, NewState, names, replication};
use crate::result::{Change, ChangeTarget};

/// Names of the properties of a keyspace.
pub(super) const KNOWN: [&str; 2] = ["durable_writes", "replication"];

/// The replication map as given.
///
/// # Errors
/// When names are unknown, or the map has no class.
pub(super) fn given_replication(
    properties: Properties<'_>,
) -> Result<Option<BTreeMap<String, String>>, CqlError> {
    properties.check_known(&KNOWN)?;
    let given = properties.map("replication")?;
    if given.as_ref().is_some_and(|map| !map.is_empty() && !map.contains_key("class")) {
        return Err(CqlError::config("Missing replication strategy class"));
    }
    Ok(given)
}

/// LocalStrategy is Cassandra's own.
///
/// # Errors
/// When it is asked for.
pub(super) fn refuse_local(replication: &replication::Replication) -> Result<(), CqlError> {
    if replication::strategy(replication) == "LocalStrategy" {
        return Err(CqlError::invalid(
            "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
        ));
    }
    Ok(())
}

pub(super) fn plan(statement: &CreateKeyspace, context: &DdlContext<'_>) -> Result<DdlPlan, CqlError> {
    let name = statement.keyspace.as_str();
    names::check_keyspace(name)?;
    let properties = Properties(&statement.properties);
    let given = given_replication(properties)?;
    let Some(given) = given else {
        return Err(CqlError::invalid("Missing mandatory option 'replication'"));
    };
    let plan = |state| DdlPlan::new(name, Change::Created, ChangeTarget::Keyspace, state);
    if context.schema.keyspace(name).is_some() {
        if statement.if_not_exists {
            return Ok(plan(NewState::Same));
        }
        return Err(CqlError::AlreadyExists { keyspace: name.into(), table: "".into() });
    }
    let durable_writes = properties.boolean("durable_writes")?.unwrap_or(true);
    let replication = replication::read(&given, None, context.datacenters)?;
    refuse_local(&replication)?;
    let warnings = replication::validate(name, &replication, context.datacenters)?;
    let keyspace = Keyspace {
        name: name.into(),
        kind: KeyspaceKind::User,
        durable_writes,
        replication,
        tables: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    Ok(DdlPlan { warnings, ..plan(NewState::Keyspace(Arc::new(keyspace))) })
}
