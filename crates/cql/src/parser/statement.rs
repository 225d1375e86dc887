//! Which statement a text is: by its first words.

use super::grant::permission;
use super::{Parser, Result};
use crate::ast::Statement;
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Result<Statement> {
        let Kind::Key(keyword) = self.kind() else {
            return Err(self.no_viable());
        };
        Ok(match keyword {
            Keyword::Select => Statement::Select(self.select()?),
            Keyword::Insert => Statement::Insert(self.insert()?),
            Keyword::Update => Statement::Update(self.update()?),
            Keyword::Delete => Statement::Delete(self.delete()?),
            Keyword::Begin => Statement::Batch(self.batch()?),
            Keyword::Use => Statement::Use(self.use_()?),
            Keyword::Truncate => Statement::Truncate(self.truncate()?),
            Keyword::Create => self.create()?,
            Keyword::Alter => self.alter()?,
            Keyword::Drop => self.drop()?,
            Keyword::Grant => self.grant()?,
            Keyword::Revoke => self.revoke()?,
            Keyword::List => self.list()?,
            Keyword::Describe | Keyword::Desc => Statement::Describe(self.describe()?),
            Keyword::Add => Statement::AddIdentity(self.add_identity()?),
            _ => return Err(self.no_viable()),
        })
    }

    fn create(&mut self) -> Result<Statement> {
        let Kind::Key(keyword) = self.peek(1)? else {
            return Err(self.no_viable_ahead(1));
        };
        Ok(match keyword {
            Keyword::Keyspace => Statement::CreateKeyspace(self.create_keyspace()?),
            Keyword::Table => Statement::CreateTable(self.create_table()?),
            Keyword::Custom | Keyword::Index => Statement::CreateIndex(self.create_index()?),
            Keyword::Type => Statement::CreateType(self.create_type()?),
            Keyword::Materialized => Statement::CreateView(self.create_view()?),
            Keyword::Function => Statement::CreateFunction(self.create_function()?),
            Keyword::Aggregate => Statement::CreateAggregate(self.create_aggregate()?),
            Keyword::Trigger => Statement::CreateTrigger(self.create_trigger()?),
            Keyword::Role => Statement::CreateRole(self.create_role()?),
            Keyword::User => Statement::CreateUser(self.create_user()?),
            Keyword::Or => match (self.peek(2)?, self.peek(3)) {
                (Kind::Key(Keyword::Replace), Ok(Kind::Key(Keyword::Function))) => {
                    Statement::CreateFunction(self.create_function()?)
                }
                (Kind::Key(Keyword::Replace), Ok(Kind::Key(Keyword::Aggregate))) => {
                    Statement::CreateAggregate(self.create_aggregate()?)
                }
                (Kind::Key(Keyword::Replace), _) => return Err(self.no_viable_ahead(3)),
                _ => return Err(self.no_viable_ahead(2)),
            },
            _ => return Err(self.no_viable_ahead(1)),
        })
    }

    fn alter(&mut self) -> Result<Statement> {
        let Kind::Key(keyword) = self.peek(1)? else {
            return Err(self.no_viable_ahead(1));
        };
        Ok(match keyword {
            Keyword::Keyspace => Statement::AlterKeyspace(self.alter_keyspace()?),
            Keyword::Table => Statement::AlterTable(self.alter_table()?),
            Keyword::Type => Statement::AlterType(self.alter_type()?),
            Keyword::Materialized => Statement::AlterView(self.alter_view()?),
            Keyword::Role => Statement::AlterRole(self.alter_role()?),
            Keyword::User => Statement::AlterUser(self.alter_user()?),
            _ => return Err(self.no_viable_ahead(1)),
        })
    }

    fn drop(&mut self) -> Result<Statement> {
        let Kind::Key(keyword) = self.peek(1)? else {
            return Err(self.no_viable_ahead(1));
        };
        Ok(match keyword {
            Keyword::Keyspace => Statement::DropKeyspace(self.drop_keyspace()?),
            Keyword::Table => Statement::DropTable(self.drop_table()?),
            Keyword::Index => Statement::DropIndex(self.drop_index()?),
            Keyword::Type => Statement::DropType(self.drop_type()?),
            Keyword::Materialized => Statement::DropView(self.drop_view()?),
            Keyword::Function => Statement::DropFunction(self.drop_function()?),
            Keyword::Aggregate => Statement::DropAggregate(self.drop_aggregate()?),
            Keyword::Trigger => Statement::DropTrigger(self.drop_trigger()?),
            Keyword::Role => Statement::DropRole(self.drop_role()?),
            Keyword::User => Statement::DropUser(self.drop_user()?),
            Keyword::Identity => Statement::DropIdentity(self.drop_identity()?),
            _ => return Err(self.no_viable_ahead(1)),
        })
    }

    fn list(&mut self) -> Result<Statement> {
        match self.peek(1)? {
            Kind::Key(Keyword::Roles) => Ok(Statement::ListRoles(self.list_roles()?)),
            Kind::Key(Keyword::Users) => Ok(Statement::ListUsers(self.list_users()?)),
            kind if kind == Kind::Key(Keyword::All) || permission(kind).is_some() => {
                Ok(Statement::ListPermissions(self.list_permissions()?))
            }
            _ => Err(self.no_viable_ahead(1)),
        }
    }
}
