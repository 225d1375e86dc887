//! Roles, users, permissions and identities, as a Cassandra without authentication answers them: nobody is logged in, so
//! all of them are refused, some for a better reason. Knows no role.

use basalt_cql::ast::{Access, Password, Resource, RoleOptions, Statement};
use basalt_model::CqlError;

use super::DdlContext;

/// The answer to such a statement; `None` for others.
pub(super) fn refuse(statement: &Statement, context: &DdlContext<'_>) -> Option<CqlError> {
    let refused = match statement {
        Statement::CreateRole(create) => create_role(&create.role.name, &create.options, context),
        Statement::CreateUser(create) => {
            let options = RoleOptions {
                password: create.password.clone(),
                superuser: Some(create.superuser),
                ..RoleOptions::default()
            };
            create_role(&create.user.name, &options, context)
        }
        Statement::AlterRole(alter) => alter_role(&alter.options, context),
        Statement::AlterUser(alter) => {
            let options = RoleOptions {
                password: alter.password.clone(),
                superuser: alter.superuser,
                ..RoleOptions::default()
            };
            alter_role(&options, context)
        }
        Statement::GrantPermissions(grant) => check_resource(&grant.resource),
        Statement::RevokePermissions(revoke) => check_resource(&revoke.resource),
        Statement::ListPermissions(list) => list.resource.as_ref().map_or(Ok(()), check_resource),
        Statement::DropRole(_)
        | Statement::ListRoles(_)
        | Statement::DropUser(_)
        | Statement::ListUsers(_)
        | Statement::AddIdentity(_)
        | Statement::DropIdentity(_)
        | Statement::GrantRole(_)
        | Statement::RevokeRole(_) => Ok(()),
        _ => return None,
    };
    Some(refused.err().unwrap_or_else(|| {
        unauthorized("You have to be logged in and not anonymous to perform this request")
    }))
}

fn unauthorized(text: &str) -> CqlError {
    CqlError::Unauthorized(text.into())
}

fn create_role(name: &str, options: &RoleOptions, context: &DdlContext<'_>) -> Result<(), CqlError> {
    if options.superuser == Some(true) {
        return Err(unauthorized("Only superusers can create a role with superuser status"));
    }
    check_options(options)?;
    if name.is_empty() {
        return Err(CqlError::invalid("Role name can't be an empty string"));
    }
    check_access(options, context)
}

fn alter_role(options: &RoleOptions, context: &DdlContext<'_>) -> Result<(), CqlError> {
    if options.superuser.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter superuser status"));
    }
    if options.datacenters.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter access to datacenters."));
    }
    if options.cidrs.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter access from CIDR groups."));
    }
    check_options(options)?;
    if options.password.is_none() && options.custom.is_none() && options.login.is_none() {
        return Err(CqlError::invalid("ALTER [ROLE|USER] can't be empty"));
    }
    check_access(options, context)
}

/// Without passwords to log in with there are none to set (`CassandraRoleManager.supportedOptions`).
fn check_options(options: &RoleOptions) -> Result<(), CqlError> {
    let unsupported = match (&options.password, &options.custom) {
        (Some(Password::Plain(_)), _) => "PASSWORD",
        (Some(Password::Hashed(_)), _) => "HASHED_PASSWORD",
        (None, Some(_)) => "OPTIONS",
        (None, None) => return Ok(()),
    };
    Err(CqlError::invalid(format!(
        "org.apache.cassandra.auth.CassandraRoleManager doesn't support {unsupported}"
    )))
}

fn check_access(options: &RoleOptions, context: &DdlContext<'_>) -> Result<(), CqlError> {
    if let Some(Access::Only(wanted)) = &options.datacenters
        && !wanted.iter().all(|name| context.datacenters.iter().any(|(known, _)| known == name))
    {
        return Err(CqlError::invalid(format!(
            "Invalid value(s) for DATACENTERS '{}',All values must be valid datacenters",
            set(wanted)
        )));
    }
    match &options.cidrs {
        Some(Access::Only(wanted)) => Err(CqlError::invalid(format!(
            "Invalid CIDR group(s): {}. Available CIDR Groups are: []",
            set(wanted)
        ))),
        _ => Ok(()),
    }
}

/// As Java shows a set.
fn set(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    format!("[{}]", names.join(", "))
}

fn check_resource(resource: &Resource) -> Result<(), CqlError> {
    match resource {
        Resource::Function(name, _) if name.keyspace.is_none() => {
            Err(CqlError::invalid("In this context function name must be explictly qualified by a keyspace"))
        }
        _ => Ok(()),
    }
}
