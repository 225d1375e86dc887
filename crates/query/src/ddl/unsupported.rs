//! Statements that are known and not built yet: each says so by name.

use basalt_cql::ast::Statement;
use basalt_model::CqlError;

/// The answer to a statement that is neither over data nor a supported schema change.
pub fn refuse(statement: &Statement) -> CqlError {
    let what = match statement {
        Statement::CreateIndex(_) | Statement::DropIndex(_) => "Secondary indexes: CREATE and DROP INDEX",
        Statement::CreateView(_) | Statement::AlterView(_) | Statement::DropView(_) => {
            "Materialized views: CREATE, ALTER and DROP MATERIALIZED VIEW"
        }
        Statement::CreateFunction(_) | Statement::DropFunction(_) => {
            "User-defined functions: CREATE and DROP FUNCTION"
        }
        Statement::CreateAggregate(_) | Statement::DropAggregate(_) => {
            "User-defined aggregates: CREATE and DROP AGGREGATE"
        }
        Statement::CreateTrigger(_) | Statement::DropTrigger(_) => "Triggers: CREATE and DROP TRIGGER",
        Statement::CreateRole(_)
        | Statement::AlterRole(_)
        | Statement::DropRole(_)
        | Statement::ListRoles(_) => "Roles: CREATE, ALTER, DROP and LIST ROLE",
        Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::DropUser(_)
        | Statement::ListUsers(_) => "Users: CREATE, ALTER, DROP and LIST USER",
        Statement::AddIdentity(_) | Statement::DropIdentity(_) => "Identities: ADD and DROP IDENTITY",
        Statement::GrantPermissions(_)
        | Statement::RevokePermissions(_)
        | Statement::GrantRole(_)
        | Statement::RevokeRole(_)
        | Statement::ListPermissions(_) => "Permissions: GRANT, REVOKE and LIST",
        _ => "This statement",
    };
    CqlError::Invalid(
        format!("{what} are not supported yet").replace("This statement are", "This statement is").into(),
    )
}
