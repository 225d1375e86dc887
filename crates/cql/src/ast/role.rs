//! CREATE, ALTER and DROP of ROLE and USER.

use super::{Ident, Literal};

/// `CREATE ROLE [IF NOT EXISTS] role [WITH ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRole {
    /// The role.
    pub role: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `WITH`
    pub options: RoleOptions,
}

/// `ALTER ROLE [IF EXISTS] role [WITH ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterRole {
    /// The role.
    pub role: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// `WITH`
    pub options: RoleOptions,
}

/// `DROP ROLE [IF EXISTS] role`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRole {
    /// The role.
    pub role: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
}

/// `WITH ...` of a role; what is not written is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleOptions {
    /// `PASSWORD` or `HASHED PASSWORD`, never both.
    pub password: Option<Password>,
    /// `OPTIONS = {...}`, no key twice.
    pub custom: Option<Vec<(Literal, Literal)>>,
    /// `SUPERUSER = true`
    pub superuser: Option<bool>,
    /// `LOGIN = true`
    pub login: Option<bool>,
    /// `ACCESS TO ...`
    pub datacenters: Option<Access>,
    /// `ACCESS FROM ...`
    pub cidrs: Option<Access>,
}

/// A password as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Password {
    /// `PASSWORD`
    Plain(String),
    /// `HASHED PASSWORD`
    Hashed(String),
}

/// Datacenters or CIDR groups a role may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// `ALL DATACENTERS`, `ALL CIDRS`
    All,
    /// `{'a', 'b'}`, at least one.
    Only(Vec<String>),
}

/// `CREATE USER [IF NOT EXISTS] user [WITH PASSWORD '...'] [SUPERUSER | NOSUPERUSER]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateUser {
    /// The user; an unquoted name keeps its case.
    pub user: Ident,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `WITH [HASHED] PASSWORD`
    pub password: Option<Password>,
    /// `SUPERUSER`
    pub superuser: bool,
}

/// `ALTER USER [IF EXISTS] user [WITH PASSWORD '...'] [SUPERUSER | NOSUPERUSER]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterUser {
    /// The user; an unquoted name keeps its case.
    pub user: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// `WITH [HASHED] PASSWORD`
    pub password: Option<Password>,
    /// What is written.
    pub superuser: Option<bool>,
}

/// `DROP USER [IF EXISTS] user`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropUser {
    /// The user; an unquoted name keeps its case.
    pub user: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
}
