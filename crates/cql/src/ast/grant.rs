//! GRANT and REVOKE of permissions and roles.

use super::{CqlType, FunctionName, Ident, QualifiedName};

/// `GRANT permissions ON resource TO role`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantPermissions {
    /// What is granted; at least one of them applies to the resource.
    pub permissions: Permissions,
    /// On what.
    pub resource: Resource,
    /// To whom.
    pub role: Ident,
}

/// `REVOKE permissions ON resource FROM role`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokePermissions {
    /// What is revoked; at least one of them applies to the resource.
    pub permissions: Permissions,
    /// On what.
    pub resource: Resource,
    /// From whom.
    pub role: Ident,
}

/// `GRANT role TO grantee`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRole {
    /// The role.
    pub role: Ident,
    /// To whom.
    pub grantee: Ident,
}

/// `REVOKE role FROM revokee`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeRole {
    /// The role.
    pub role: Ident,
    /// From whom.
    pub revokee: Ident,
}

/// `ALL [PERMISSIONS]` or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// All that apply to the resource.
    All,
    /// At least one, possibly repeated.
    List(Vec<Permission>),
}

/// A permission that can be named in CQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each variant is Cassandra's permission of the same name.
pub enum Permission {
    Create,
    Alter,
    Drop,
    Select,
    Modify,
    Authorize,
    Describe,
    Execute,
    Unmask,
    SelectMasked,
}

impl Permission {
    /// The name in CQL.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Create => "CREATE",
            Permission::Alter => "ALTER",
            Permission::Drop => "DROP",
            Permission::Select => "SELECT",
            Permission::Modify => "MODIFY",
            Permission::Authorize => "AUTHORIZE",
            Permission::Describe => "DESCRIBE",
            Permission::Execute => "EXECUTE",
            Permission::Unmask => "UNMASK",
            Permission::SelectMasked => "SELECT_MASKED",
        }
    }
}

/// What permissions are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `ALL KEYSPACES`
    AllKeyspaces,
    /// `KEYSPACE k`
    Keyspace(Ident),
    /// `[TABLE] t`
    Table(QualifiedName),
    /// `ALL TABLES IN KEYSPACE k`
    AllTablesIn(Ident),
    /// `ALL ROLES`
    AllRoles,
    /// `ROLE r`
    Role(Ident),
    /// `ALL FUNCTIONS`
    AllFunctions,
    /// `ALL FUNCTIONS IN KEYSPACE k`
    AllFunctionsIn(Ident),
    /// `FUNCTION f(types)`
    Function(FunctionName, Vec<CqlType>),
    /// `ALL MBEANS`
    AllMBeans,
    /// `MBEAN 'name'`
    MBean(String),
    /// `MBEANS 'pattern'`
    MBeans(String),
}
