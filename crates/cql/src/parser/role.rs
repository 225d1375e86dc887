//! CREATE, ALTER and DROP of ROLE and USER.

use super::{Parser, Result};
use crate::ast::{
    Access, AlterRole, AlterUser, CreateRole, CreateUser, DropRole, DropUser, Password, RoleOptions,
};
use crate::lexer::{Keyword, Kind};

/// What has been said about passwords so far.
#[derive(Default)]
struct Passwords {
    plain: Option<String>,
    hashed: Option<String>,
}

impl Parser<'_> {
    pub(super) fn create_role(&mut self) -> Result<CreateRole> {
        self.expect_keys(&[Keyword::Create, Keyword::Role])?;
        let if_not_exists = self.if_not_exists()?;
        Ok(CreateRole { role: self.role_name()?, if_not_exists, options: self.role_options()? })
    }

    pub(super) fn alter_role(&mut self) -> Result<AlterRole> {
        self.expect_keys(&[Keyword::Alter, Keyword::Role])?;
        let if_exists = self.if_exists()?;
        Ok(AlterRole { role: self.role_name()?, if_exists, options: self.role_options()? })
    }

    pub(super) fn drop_role(&mut self) -> Result<DropRole> {
        self.expect_keys(&[Keyword::Drop, Keyword::Role])?;
        let if_exists = self.if_exists()?;
        Ok(DropRole { role: self.role_name()?, if_exists })
    }

    pub(super) fn create_user(&mut self) -> Result<CreateUser> {
        self.expect_keys(&[Keyword::Create, Keyword::User])?;
        let if_not_exists = self.if_not_exists()?;
        let user = self.user_name()?;
        let password = self.user_password()?;
        let superuser = self.user_superuser()?.unwrap_or(false);
        Ok(CreateUser { user, if_not_exists, password, superuser })
    }

    pub(super) fn alter_user(&mut self) -> Result<AlterUser> {
        self.expect_keys(&[Keyword::Alter, Keyword::User])?;
        let if_exists = self.if_exists()?;
        let user = self.user_name()?;
        let password = self.user_password()?;
        Ok(AlterUser { user, if_exists, password, superuser: self.user_superuser()? })
    }

    pub(super) fn drop_user(&mut self) -> Result<DropUser> {
        self.expect_keys(&[Keyword::Drop, Keyword::User])?;
        let if_exists = self.if_exists()?;
        Ok(DropUser { user: self.user_name()?, if_exists })
    }

    /// `WITH [HASHED] PASSWORD '...'`, if it is there.
    fn user_password(&mut self) -> Result<Option<Password>> {
        if !self.eat_key(Keyword::With)? {
            return Ok(None);
        }
        match self.kind() {
            Kind::Key(Keyword::Password) => {
                self.advance()?;
                Ok(Some(Password::Plain(self.string()?)))
            }
            Kind::Key(Keyword::Hashed) => {
                self.expect_keys(&[Keyword::Hashed, Keyword::Password])?;
                Ok(Some(Password::Hashed(self.string()?)))
            }
            _ => Err(self.no_viable()),
        }
    }

    /// `SUPERUSER` or `NOSUPERUSER`, if it is there.
    fn user_superuser(&mut self) -> Result<Option<bool>> {
        if self.eat_key(Keyword::Superuser)? {
            return Ok(Some(true));
        }
        Ok(if self.eat_key(Keyword::Nosuperuser)? { Some(false) } else { None })
    }

    fn role_options(&mut self) -> Result<RoleOptions> {
        let mut options = RoleOptions::default();
        if !self.eat_key(Keyword::With)? {
            return Ok(options);
        }
        let mut passwords = Passwords::default();
        self.and_separated(|parser| parser.role_option(&mut options, &mut passwords))?;
        options.password = match (passwords.plain, passwords.hashed) {
            (Some(_), Some(_)) => {
                return Err(self.refused("Options 'password' and 'hashed password' are mutually exclusive"));
            }
            (Some(plain), None) => Some(Password::Plain(plain)),
            (None, Some(hashed)) => Some(Password::Hashed(hashed)),
            (None, None) => None,
        };
        Ok(options)
    }

    fn role_option(&mut self, options: &mut RoleOptions, passwords: &mut Passwords) -> Result<()> {
        match self.kind() {
            Kind::Key(Keyword::Password) => {
                self.advance()?;
                self.expect(Kind::Equal)?;
                let password = self.string()?;
                self.set_once(&mut passwords.plain, password, "PASSWORD")
            }
            Kind::Key(Keyword::Hashed) => {
                self.expect_keys(&[Keyword::Hashed, Keyword::Password])?;
                self.expect(Kind::Equal)?;
                let password = self.string()?;
                self.set_once(&mut passwords.hashed, password, "HASHED_PASSWORD")
            }
            Kind::Key(Keyword::Options) => {
                self.advance()?;
                self.expect(Kind::Equal)?;
                let custom = self.literal_map()?;
                self.set_once(&mut options.custom, custom, "OPTIONS")
            }
            Kind::Key(Keyword::Superuser) => {
                let value = self.role_flag()?;
                self.set_once(&mut options.superuser, value, "SUPERUSER")
            }
            Kind::Key(Keyword::Login) => {
                let value = self.role_flag()?;
                self.set_once(&mut options.login, value, "LOGIN")
            }
            Kind::Key(Keyword::Access) => self.role_access(options),
            _ => Err(self.no_viable()),
        }
    }

    fn set_once<T>(&self, option: &mut Option<T>, value: T, name: &str) -> Result<()> {
        match option.replace(value) {
            None => Ok(()),
            Some(_) => Err(self.refused(format!("Multiple definition for property '{name}'"))),
        }
    }

    /// `name = true`
    fn role_flag(&mut self) -> Result<bool> {
        self.advance()?;
        self.expect(Kind::Equal)?;
        Ok(self.expect(Kind::Boolean)?.text.eq_ignore_ascii_case("true"))
    }

    /// `ACCESS TO ...` or `ACCESS FROM ...`
    fn role_access(&mut self, options: &mut RoleOptions) -> Result<()> {
        let choices = match self.peek(1)? {
            Kind::Key(Keyword::To) => (Keyword::Datacenters, "DCs have already been set"),
            Kind::Key(Keyword::From) => (Keyword::Cidrs, "CIDRs have already been set"),
            _ => return Err(self.no_viable_ahead(1)),
        };
        let (noun, repeated) = choices;
        if !matches!(self.peek(2)?, Kind::Key(word) if word == noun || word == Keyword::All) {
            return Err(self.no_viable_ahead(2));
        }
        self.advance()?;
        self.advance()?;
        let access = if self.eat_key(Keyword::All)? {
            self.expect_key(noun)?;
            Access::All
        } else {
            self.expect_key(noun)?;
            self.expect(Kind::LeftBrace)?;
            let names = self.comma_separated(Self::string)?;
            self.expect(Kind::RightBrace)?;
            Access::Only(names)
        };
        let option = if noun == Keyword::Datacenters { &mut options.datacenters } else { &mut options.cidrs };
        match (option.take(), access) {
            (None, access) => *option = Some(access),
            (Some(Access::Only(mut names)), Access::Only(more)) => {
                names.extend(more);
                *option = Some(Access::Only(names));
            }
            (Some(_), _) => return Err(self.failed(&format!("IllegalArgumentException {repeated}"))),
        }
        Ok(())
    }
}
