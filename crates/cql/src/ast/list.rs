//! LIST of roles, users and permissions.

use super::{Ident, Permissions, Resource};

/// `LIST ROLES [OF role] [NORECURSIVE]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRoles {
    /// `OF`
    pub of: Option<Ident>,
    /// False with `NORECURSIVE`.
    pub recursive: bool,
}

/// `LIST USERS`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListUsers;

/// `LIST permissions [ON resource] [OF role] [NORECURSIVE]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPermissions {
    /// Which.
    pub permissions: Permissions,
    /// `ON`
    pub resource: Option<Resource>,
    /// `OF`
    pub of: Option<Ident>,
    /// False with `NORECURSIVE`.
    pub recursive: bool,
}
