//! GRANT and REVOKE of permissions and roles.

use super::name::is_name;
use super::{Parser, Result};
use crate::ast::{
    GrantPermissions, GrantRole, Permission, Permissions, Resource, RevokePermissions, RevokeRole, Statement,
};
use crate::lexer::{Keyword, Kind};

/// The permission a token names.
pub(super) fn permission(kind: Kind) -> Option<Permission> {
    let Kind::Key(keyword) = kind else {
        return None;
    };
    Some(match keyword {
        Keyword::Create => Permission::Create,
        Keyword::Alter => Permission::Alter,
        Keyword::Drop => Permission::Drop,
        Keyword::Select => Permission::Select,
        Keyword::Modify => Permission::Modify,
        Keyword::Authorize => Permission::Authorize,
        Keyword::Describe => Permission::Describe,
        Keyword::Execute => Permission::Execute,
        Keyword::Unmask => Permission::Unmask,
        Keyword::SelectMasked => Permission::SelectMasked,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn grant(&mut self) -> Result<Statement> {
        if self.names_permissions(Keyword::To)? {
            self.expect_key(Keyword::Grant)?;
            let (permissions, resource) = self.permissions_on()?;
            self.expect_key(Keyword::To)?;
            let role = self.role_name()?;
            self.check_applicable(&permissions, &resource)?;
            return Ok(Statement::GrantPermissions(GrantPermissions { permissions, resource, role }));
        }
        self.expect_key(Keyword::Grant)?;
        let role = self.role_name()?;
        self.expect_key(Keyword::To)?;
        Ok(Statement::GrantRole(GrantRole { role, grantee: self.role_name()? }))
    }

    pub(super) fn revoke(&mut self) -> Result<Statement> {
        if self.names_permissions(Keyword::From)? {
            self.expect_key(Keyword::Revoke)?;
            let (permissions, resource) = self.permissions_on()?;
            self.expect_key(Keyword::From)?;
            let role = self.role_name()?;
            self.check_applicable(&permissions, &resource)?;
            return Ok(Statement::RevokePermissions(RevokePermissions { permissions, resource, role }));
        }
        self.expect_key(Keyword::Revoke)?;
        let role = self.role_name()?;
        self.expect_key(Keyword::From)?;
        Ok(Statement::RevokeRole(RevokeRole { role, revokee: self.role_name()? }))
    }

    /// Whether permissions follow GRANT or REVOKE, not a role; some permissions are role names too.
    fn names_permissions(&mut self, preposition: Keyword) -> Result<bool> {
        let first = self.peek(1)?;
        let unreserved = matches!(first, Kind::Key(Keyword::All | Keyword::Unmask | Keyword::SelectMasked));
        if unreserved {
            return match self.peek(2)? {
                next if next == Kind::Key(preposition) => Ok(false),
                Kind::Key(Keyword::On) => Ok(true),
                Kind::Key(Keyword::Permissions) if first == Kind::Key(Keyword::All) => Ok(true),
                Kind::Comma | Kind::Key(Keyword::Permission) if first != Kind::Key(Keyword::All) => Ok(true),
                _ => Err(self.no_viable_ahead(2)),
            };
        }
        if permission(first).is_some() {
            return Ok(true);
        }
        let names_role = matches!(first, Kind::String | Kind::QuestionMark) || is_name(first);
        if names_role { Ok(false) } else { Err(self.no_viable_ahead(1)) }
    }

    fn permissions_on(&mut self) -> Result<(Permissions, Resource)> {
        let permissions = self.permissions()?;
        self.expect_key(Keyword::On)?;
        Ok((permissions, self.resource()?))
    }

    /// `ALL [PERMISSIONS]` or a list.
    pub(super) fn permissions(&mut self) -> Result<Permissions> {
        if self.eat_key(Keyword::All)? {
            self.eat_key(Keyword::Permissions)?;
            return Ok(Permissions::All);
        }
        Ok(Permissions::List(self.comma_separated(|parser| {
            let Some(permission) = permission(parser.kind()) else {
                return Err(parser.no_viable());
            };
            parser.advance()?;
            parser.eat_key(Keyword::Permission)?;
            Ok(permission)
        })?))
    }

    /// What permissions are about.
    pub(super) fn resource(&mut self) -> Result<Resource> {
        let named = is_name(self.kind()) || self.kind() == Kind::QuestionMark;
        if !named && !self.at_key(Keyword::Keyspace) && !self.at_key(Keyword::Table) {
            return Err(self.no_viable());
        }
        let next = self.peek(1)?;
        if let Kind::Key(
            Keyword::All | Keyword::Role | Keyword::Function | Keyword::Mbean | Keyword::Mbeans,
        ) = self.kind()
        {
            self.check_resource_word(next)?;
        }
        match (self.kind(), next) {
            (Kind::Key(Keyword::All), Kind::Key(Keyword::Keyspaces)) => {
                self.advance_over(2, Resource::AllKeyspaces)
            }
            (Kind::Key(Keyword::All), Kind::Key(Keyword::Roles)) => self.advance_over(2, Resource::AllRoles),
            (Kind::Key(Keyword::All), Kind::Key(Keyword::Mbeans)) => {
                self.advance_over(2, Resource::AllMBeans)
            }
            (Kind::Key(Keyword::All), Kind::Key(Keyword::Tables)) => {
                self.expect_keys(&[Keyword::All, Keyword::Tables, Keyword::In, Keyword::Keyspace])?;
                Ok(Resource::AllTablesIn(self.keyspace_name()?))
            }
            (Kind::Key(Keyword::All), Kind::Key(Keyword::Functions)) => {
                if self.peek(2)? != Kind::Key(Keyword::In) && !ends_table(self.peek(2)?) {
                    return Err(self.no_viable_ahead(2));
                }
                self.expect_keys(&[Keyword::All, Keyword::Functions])?;
                if !self.eat_key(Keyword::In)? {
                    return Ok(Resource::AllFunctions);
                }
                self.expect_key(Keyword::Keyspace)?;
                Ok(Resource::AllFunctionsIn(self.keyspace_name()?))
            }
            (Kind::Key(Keyword::Keyspace), _) => {
                self.advance()?;
                Ok(Resource::Keyspace(self.keyspace_name()?))
            }
            (Kind::Key(Keyword::Table), _) => {
                self.advance()?;
                Ok(Resource::Table(self.table_name()?))
            }
            (Kind::Key(Keyword::Role), next) if !ends_table(next) => {
                self.advance()?;
                Ok(Resource::Role(self.role_name()?))
            }
            (Kind::Key(Keyword::Function), next) if !ends_table(next) => {
                self.advance()?;
                Ok(Resource::Function(self.function_name()?, self.argument_types()?))
            }
            (Kind::Key(Keyword::Mbean), Kind::String) => {
                self.advance()?;
                Ok(Resource::MBean(self.mbean(false)?))
            }
            (Kind::Key(Keyword::Mbeans), Kind::String) => {
                self.advance()?;
                Ok(Resource::MBeans(self.mbean(true)?))
            }
            _ => Ok(Resource::Table(self.table_name()?)),
        }
    }

    /// Words that begin a resource may be tables' names too: what follows them tells.
    fn check_resource_word(&mut self, next: Kind) -> Result<()> {
        use Keyword::*;
        let fits = ends_table(next)
            || match self.kind() {
                Kind::Key(All) => matches!(next, Kind::Key(Keyspaces | Tables | Functions | Mbeans | Roles)),
                Kind::Key(Role) => is_name(next) || matches!(next, Kind::String | Kind::QuestionMark),
                Kind::Key(Function) => is_name(next) || matches!(next, Kind::QuestionMark | Kind::Key(Token)),
                _ => next == Kind::String,
            };
        if !fits {
            return Err(self.no_viable_ahead(1));
        }
        self.decided_by(1)
    }

    fn advance_over(&mut self, tokens: usize, resource: Resource) -> Result<Resource> {
        for _ in 0..tokens {
            self.advance()?;
        }
        Ok(resource)
    }

    /// The name of an MBean. Checks what Cassandra's parser says about it, not the whole syntax of object names.
    fn mbean(&mut self, pattern: bool) -> Result<String> {
        let name = self.string()?;
        if name.is_empty() {
            return Err(self.refused("Empty JMX object name supplied"));
        }
        if name == "*:*" {
            return Err(self.refused("Please use ALL MBEANS instead of wildcard pattern"));
        }
        let properties = name.split_once(':').map(|(_, properties)| properties);
        if !properties.is_some_and(|list| list == "*" || list.contains('=')) {
            return Err(self.refused(format!("{name} is not a valid JMX object name")));
        }
        if pattern && !name.contains(['*', '?']) {
            let message = format!("Plural form used, but non-pattern JMX object name specified ({name})");
            return Err(self.refused(message));
        }
        Ok(name)
    }

    /// At least one permission must apply to the resource.
    fn check_applicable(&self, permissions: &Permissions, resource: &Resource) -> Result<()> {
        use Permission::*;
        const DATA: &[Permission] = &[Create, Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked];
        const TABLE: &[Permission] = &[Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked];
        let (class, applicable): (&str, &[Permission]) = match resource {
            Resource::AllKeyspaces | Resource::Keyspace(_) | Resource::AllTablesIn(_) => {
                ("DataResource", DATA)
            }
            Resource::Table(_) => ("DataResource", TABLE),
            Resource::AllRoles => ("RoleResource", &[Create, Alter, Drop, Authorize, Describe]),
            Resource::Role(_) => ("RoleResource", &[Alter, Drop, Authorize, Describe]),
            Resource::AllFunctions | Resource::AllFunctionsIn(_) => {
                ("FunctionResource", &[Create, Alter, Drop, Authorize, Execute])
            }
            // Its keyspace is asked for first.
            Resource::Function(name, _) if name.keyspace.is_none() => return Ok(()),
            Resource::Function(..) => ("FunctionResource", &[Alter, Drop, Authorize, Execute]),
            Resource::AllMBeans | Resource::MBean(_) | Resource::MBeans(_) => {
                ("JMXResource", &[Authorize, Describe, Execute, Modify, Select])
            }
        };
        let applies = match permissions {
            Permissions::All => true,
            Permissions::List(list) => list.iter().any(|permission| applicable.contains(permission)),
        };
        if applies {
            return Ok(());
        }
        Err(self.refused(format!("Resource type {class} does not support any of the requested permissions")))
    }
}

/// Whether the token shows that the word before it is a table's name.
fn ends_table(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Dot
            | Kind::Eof
            | Kind::Semicolon
            | Kind::Key(Keyword::To | Keyword::From | Keyword::Of | Keyword::Norecursive)
    )
}
