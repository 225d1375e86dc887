//! Roles, users, identities and permissions.

use std::fmt::{Display, Formatter, Result};

use super::term::literal_map;
use super::{by, comma, when};
use crate::ast::{
    Access, AddIdentity, AlterRole, AlterUser, CreateRole, CreateUser, DropIdentity, DropRole, DropUser,
    GrantPermissions, GrantRole, Ident, ListPermissions, ListRoles, ListUsers, Password, Permission,
    Permissions, Resource, RevokePermissions, RevokeRole, RoleOptions,
};
use crate::quote;

const IF_EXISTS: &str = "IF EXISTS ";
const IF_NOT_EXISTS: &str = "IF NOT EXISTS ";

/// The words about datacenters or CIDR groups.
fn access(names: &Access, direction: &'static str, noun: &'static str) -> String {
    match names {
        Access::All => format!("ACCESS {direction} ALL {noun}"),
        Access::Only(names) => {
            let names: Vec<_> = names.iter().map(|name| quote::string(name)).collect();
            format!("ACCESS {direction} {noun} {{{}}}", names.join(", "))
        }
    }
}

impl Display for RoleOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut options = Vec::new();
        match &self.password {
            Some(Password::Plain(password)) => {
                options.push(format!("PASSWORD = {}", quote::string(password)))
            }
            Some(Password::Hashed(hash)) => {
                options.push(format!("HASHED PASSWORD = {}", quote::string(hash)))
            }
            None => {}
        }
        if let Some(custom) = &self.custom {
            options.push(format!("OPTIONS = {}", literal_map(custom)));
        }
        if let Some(superuser) = self.superuser {
            options.push(format!("SUPERUSER = {superuser}"));
        }
        if let Some(login) = self.login {
            options.push(format!("LOGIN = {login}"));
        }
        if let Some(datacenters) = &self.datacenters {
            options.push(access(datacenters, "TO", "DATACENTERS"));
        }
        if let Some(cidrs) = &self.cidrs {
            options.push(access(cidrs, "FROM", "CIDRS"));
        }
        if options.is_empty() { Ok(()) } else { write!(f, " WITH {}", options.join(" AND ")) }
    }
}

impl Display for CreateRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(
            f,
            "CREATE ROLE {}{}{}",
            when(self.if_not_exists, IF_NOT_EXISTS),
            role(&self.role),
            self.options
        )
    }
}

impl Display for AlterRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER ROLE {}{}{}", when(self.if_exists, IF_EXISTS), role(&self.role), self.options)
    }
}

impl Display for DropRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP ROLE {}{}", when(self.if_exists, IF_EXISTS), role(&self.role))
    }
}

/// A role's name: a string where it is no plain name, as it may be empty then.
fn role(name: &Ident) -> impl Display + '_ {
    by(
        move |f| {
            if quote::is_plain(&name.name) { name.fmt(f) } else { f.write_str(&quote::string(&name.name)) }
        },
    )
}

/// A user's name, always as a string: as a plain name it may be no keyword.
fn user(name: &Ident) -> String {
    quote::string(&name.name)
}

/// ` WITH PASSWORD '...'`, if there is one.
fn user_password(password: &Option<Password>) -> impl Display + '_ {
    by(move |f| match password {
        Some(Password::Plain(password)) => write!(f, " WITH PASSWORD {}", quote::string(password)),
        Some(Password::Hashed(hash)) => write!(f, " WITH HASHED PASSWORD {}", quote::string(hash)),
        None => Ok(()),
    })
}

impl Display for CreateUser {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE USER {}{}", when(self.if_not_exists, IF_NOT_EXISTS), user(&self.user))?;
        write!(f, "{}{}", user_password(&self.password), when(self.superuser, " SUPERUSER"))
    }
}

impl Display for AlterUser {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER USER {}{}", when(self.if_exists, IF_EXISTS), user(&self.user))?;
        let superuser = match self.superuser {
            Some(true) => " SUPERUSER",
            Some(false) => " NOSUPERUSER",
            None => "",
        };
        write!(f, "{}{superuser}", user_password(&self.password))
    }
}

impl Display for DropUser {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP USER {}{}", when(self.if_exists, IF_EXISTS), user(&self.user))
    }
}

impl Display for AddIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (identity, role) = (quote::string(&self.identity), quote::string(&self.role));
        write!(f, "ADD IDENTITY {}{identity} TO ROLE {role}", when(self.if_not_exists, IF_NOT_EXISTS))
    }
}

impl Display for DropIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP IDENTITY {}{}", when(self.if_exists, IF_EXISTS), quote::string(&self.identity))
    }
}

impl Display for Permission {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for Permissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Permissions::All => f.write_str("ALL PERMISSIONS"),
            Permissions::List(permissions) => comma(permissions).fmt(f),
        }
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Resource::AllKeyspaces => f.write_str("ALL KEYSPACES"),
            Resource::Keyspace(keyspace) => write!(f, "KEYSPACE {keyspace}"),
            Resource::Table(table) => write!(f, "TABLE {table}"),
            Resource::AllTablesIn(keyspace) => write!(f, "ALL TABLES IN KEYSPACE {keyspace}"),
            Resource::AllRoles => f.write_str("ALL ROLES"),
            Resource::Role(name) => write!(f, "ROLE {}", role(name)),
            Resource::AllFunctions => f.write_str("ALL FUNCTIONS"),
            Resource::AllFunctionsIn(keyspace) => write!(f, "ALL FUNCTIONS IN KEYSPACE {keyspace}"),
            Resource::Function(function, types) => write!(f, "FUNCTION {function}({})", comma(types)),
            Resource::AllMBeans => f.write_str("ALL MBEANS"),
            Resource::MBean(name) => write!(f, "MBEAN {}", quote::string(name)),
            Resource::MBeans(pattern) => write!(f, "MBEANS {}", quote::string(pattern)),
        }
    }
}

impl Display for GrantPermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "GRANT {} ON {} TO {}", self.permissions, self.resource, role(&self.role))
    }
}

impl Display for RevokePermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "REVOKE {} ON {} FROM {}", self.permissions, self.resource, role(&self.role))
    }
}

impl Display for GrantRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "GRANT {} TO {}", role(&self.role), role(&self.grantee))
    }
}

impl Display for RevokeRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "REVOKE {} FROM {}", role(&self.role), role(&self.revokee))
    }
}

/// ` OF role`, if there is one, and ` NORECURSIVE`.
fn scope(of: &Option<Ident>, recursive: bool) -> impl Display + '_ {
    by(move |f| {
        if let Some(name) = of {
            write!(f, " OF {}", role(name))?;
        }
        f.write_str(when(!recursive, " NORECURSIVE"))
    })
}

impl Display for ListRoles {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "LIST ROLES{}", scope(&self.of, self.recursive))
    }
}

impl Display for ListUsers {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("LIST USERS")
    }
}

impl Display for ListPermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "LIST {}", self.permissions)?;
        if let Some(resource) = &self.resource {
            write!(f, " ON {resource}")?;
        }
        scope(&self.of, self.recursive).fmt(f)
    }
}
