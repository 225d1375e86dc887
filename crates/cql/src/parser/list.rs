//! LIST of roles, users and permissions.

use super::{Parser, Result};
use crate::ast::{Ident, ListPermissions, ListRoles, ListUsers};
use crate::lexer::Keyword;

impl Parser<'_> {
    pub(super) fn list_roles(&mut self) -> Result<ListRoles> {
        self.expect_keys(&[Keyword::List, Keyword::Roles])?;
        Ok(ListRoles { of: self.of_role()?, recursive: !self.eat_key(Keyword::Norecursive)? })
    }

    pub(super) fn list_users(&mut self) -> Result<ListUsers> {
        self.expect_keys(&[Keyword::List, Keyword::Users])?;
        Ok(ListUsers)
    }

    pub(super) fn list_permissions(&mut self) -> Result<ListPermissions> {
        self.expect_key(Keyword::List)?;
        let permissions = self.permissions()?;
        let resource = if self.eat_key(Keyword::On)? { Some(self.resource()?) } else { None };
        let of = self.of_role()?;
        Ok(ListPermissions { permissions, resource, of, recursive: !self.eat_key(Keyword::Norecursive)? })
    }

    fn of_role(&mut self) -> Result<Option<Ident>> {
        if self.eat_key(Keyword::Of)? { self.role_name().map(Some) } else { Ok(None) }
    }
}
