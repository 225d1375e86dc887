//! Which keyspace a statement is about and whether it may be changed at all
//! (`ClientState.preventSystemKSSchemaModification`, `AlterSchemaStatement.execute`).

use basalt_cql::ast::{Ident, QualifiedName};
use basalt_model::CqlError;
use basalt_model::schema::KeyspaceKind;

use super::DdlContext;
use crate::system_tables::kind_of;

/// The longest keyspace name (`SchemaConstants.NAME_LENGTH`).
const KEYSPACE_NAME_MAX: usize = 48;

/// The longest table name (`SchemaConstants.TABLE_NAME_LENGTH`): a file name less id and dash.
const TABLE_NAME_MAX: usize = 222;

/// The keyspace a name is in.
///
/// # Errors
/// When neither the name nor the connection says.
pub fn keyspace_of<'a>(name: &'a QualifiedName, context: &DdlContext<'a>) -> Result<&'a str, CqlError> {
    match (&name.keyspace, context.keyspace) {
        (Some(keyspace), _) => Ok(keyspace.as_str()),
        (None, Some(keyspace)) => Ok(keyspace),
        (None, None) => Err(CqlError::invalid(
            "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
        )),
    }
}

/// A name as messages show it: `keyspace.name`, unquoted.
pub fn shown(keyspace: &str, name: &Ident) -> String {
    format!("{keyspace}.{}", name.name)
}

/// Refuses changes inside system keyspaces. `verb` is the permission the statement needs and
/// `resource` what it needs it on, e.g. `<table ks.t>`.
///
/// # Errors
/// `Unauthorized`.
pub fn authorize(keyspace: &str, verb: &str, resource: impl FnOnce() -> String) -> Result<(), CqlError> {
    match kind_of(keyspace) {
        KeyspaceKind::User => Ok(()),
        KeyspaceKind::LocalSystem | KeyspaceKind::Virtual => {
            Err(CqlError::Unauthorized(format!("{keyspace} keyspace is not user-modifiable.").into()))
        }
        KeyspaceKind::DistributedSystem => {
            Err(CqlError::Unauthorized(format!("Cannot {verb} {}", resource()).into()))
        }
    }
}

/// Refuses local system keyspaces and names no keyspace may have.
///
/// # Errors
/// `Invalid`.
pub fn check_keyspace(keyspace: &str) -> Result<(), CqlError> {
    if matches!(kind_of(keyspace), KeyspaceKind::LocalSystem | KeyspaceKind::Virtual) {
        return Err(CqlError::invalid(format!("System keyspace '{keyspace}' is not user-modifiable")));
    }
    if !is_word(keyspace) {
        return Err(CqlError::invalid(format!(
            "Keyspace name must not be empty and must contain alphanumeric or underscore characters only (got \"{keyspace}\")"
        )));
    }
    if keyspace.len() > KEYSPACE_NAME_MAX {
        return Err(CqlError::invalid(format!(
            "Keyspace name must not be more than {KEYSPACE_NAME_MAX} characters long (got {} characters for \"{keyspace}\")",
            keyspace.len()
        )));
    }
    Ok(())
}

/// `TableMetadata.validateTableName`.
///
/// # Errors
/// `Config`, prefixed with the table, as Cassandra's.
pub fn check_table(keyspace: &str, table: &str) -> Result<(), CqlError> {
    if !is_word(table) {
        return Err(CqlError::config(format!(
            "{keyspace}.{table}: Table name must not be empty or not contain non-alphanumeric-underscore characters (got \"{table}\")"
        )));
    }
    if table.len() > TABLE_NAME_MAX {
        return Err(CqlError::config(format!(
            "{keyspace}.{table}: Table name must not be more than {TABLE_NAME_MAX} characters long (got {} characters for \"{table}\")",
            table.len()
        )));
    }
    Ok(())
}

/// `\w+`, in ASCII.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
